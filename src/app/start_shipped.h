// What a run's store has to go on from.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/vault/manifest.h"
#include "api/shipping.h"
#include "base/result.h"
#include "base/time.h"
#include "platform/disk.h"

namespace mw {

/// What the store has to begin from.
struct Shipped {
  std::vector<vault::CheckpointManifest> whole;  ///< in the order in which a pull would choose them; none: it is empty
  std::vector<std::pair<int64_t, std::string>> passed_over;  ///< step, and a sentence: the others, highest step first
  std::vector<std::string> notes;                            ///< what is wrong with the pointer
  Time back;  ///< when its pointer was moved last, where later steps of before do not count any more
};

/// kNotFound: there are some, and none of them is whole; or there is none, and other runs' lie below the place.
Result<Shipped> shipped_in(Disk& disk, const StoreAddress& address);

/// What the store knows of the run that shipped it; "": not that.
std::string fact(const std::vector<std::pair<std::string, std::string>>& run, std::string_view name);

/// As if it had been received into `folder`.
PullAnswer as_pulled(const vault::CheckpointManifest& manifest, const std::string& folder);

/// Puts first among the notes of the answer what was passed over: each that is further than the one that is taken, in
/// one sentence.
void note_passed_over(const Shipped& shipped, StartAnswer& answer);

/// What the run was made of that shipped it: so the next one can say what is different. "": an earlier midwatch shipped
/// it, or what lies in the store is not what was put there.
std::string fingerprint_of(Disk& disk, const StoreAddress& address, const PullAnswer& pulled);

}  // namespace mw
