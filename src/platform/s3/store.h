// An S3-compatible object store behind the door, over HTTP.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "platform/clock.h"
#include "platform/http.h"
#include "platform/object_store.h"
#include "platform/s3/settings.h"

namespace mw::s3 {

/// How long a request may be tried again.
struct Patience {
  int tries = 9;                             ///< of one call
  Duration first = Duration::millis(200);    ///< the wait doubles from here; a random part of it is waited
  Duration longest = Duration::seconds(20);  ///< one wait at most, also where the server asks for more
  Duration stall = Duration::seconds(60);    ///< without a byte; then the request is given up and tried again
};

/// `http` and `clock` outlive it. `sleep` waits between two tries. 429, 500, 502, 503, 504, answers that end early and
/// none at all are tried again; a clock that is wrong is set right for the signatures, by the server's own.
std::unique_ptr<ObjectStore> make_store(const Settings& settings, const std::string& bucket, Http& http, Clock& clock,
                                        std::function<void(Duration)> sleep, const Patience& patience = {});

}  // namespace mw::s3
