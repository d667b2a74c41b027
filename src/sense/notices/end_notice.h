// Notices that a machine is about to be taken away: of a cloud's metadata server, of a file, of a variable.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "platform/disk.h"
#include "platform/http.h"

namespace mw {

struct EndNotice {
  std::string what;  ///< who says so, in words
  Time at;           ///< when the machine goes; not known: at once
};

/// Somebody who may give notice. Asked on one thread at a time, not always the same.
class NoticeSource {
 public:
  virtual ~NoticeSource() = default;
  virtual const std::string& name() const = 0;
  /// nullopt: none. One that was given may be withdrawn. Error: it has no answer, of which nothing follows.
  virtual Result<std::optional<EndNotice>> ask() = 0;
};

/// Between two questions to a source: what AWS asks for, whose notice comes two minutes ahead; those of Google and
/// Azure come 30 s ahead.
constexpr Duration kNoticeEvery = Duration::seconds(5);

struct NoticeDoors {
  std::shared_ptr<Disk> disk;
  std::shared_ptr<Http> http;
  std::function<std::optional<std::string>(const std::string& name)> variable;  ///< of the environment
};

/// The sources by their words: "aws", "gcp", "azure", "mithril", "capacity-block", "file:PATH", and "auto": those that
/// this machine's firmware, files and variables show to be there. Of a cloud that this machine is not in nobody is
/// asked. kInvalid: a word that is none.
Result<std::vector<std::shared_ptr<NoticeSource>>> notice_sources(const NoticeDoors& doors,
                                                                  const std::vector<std::string>& words);

/// Is it time to end what runs? When less than `lead` is left; before that a notice may still be withdrawn.
bool notice_is_due(const EndNotice& notice, Time now, Duration lead);

// What the sources answer with; nullopt: no notice.
std::optional<EndNotice> parse_aws_notice(std::string_view body);
/// `own`: this machine's name; a notice for others of its group is none.
std::optional<EndNotice> parse_azure_notice(std::string_view body, std::string_view own);
std::optional<EndNotice> parse_mithril_notice(std::string_view body);
std::optional<EndNotice> parse_capacity_block(std::string_view value);

}  // namespace mw
