// What tools that show the logs of several containers in one stream put before each line.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace mw {

/// Docker Compose's "trainer-1  | ", and stern's "trainer-0 pytorch " (pod and container). One line proves nothing:
/// "epoch-1 | loss 0.3" is a message. Only where lines in a row carry the same are they taken for labels.
class ContainerLabels {
 public:
  /// The beginning of a file that is read once: where its lines carry labels, the first ones are known for such.
  void expect(std::string_view head);
  /// The length of the label that `line` begins with; 0: it carries none.
  size_t label(std::string_view line);

 private:
  enum class Kind { kNone, kCompose, kStern };
  static constexpr int kSure = 8;           ///< lines in a row with the same label
  static constexpr int kLooked = 256;       ///< lines, after which a file without labels has none
  static constexpr size_t kMostKnown = 64;  ///< labels of one file

  static size_t length(std::string_view line, Kind kind);
  bool known(std::string_view label) const { return known_.find(label) != known_.end(); }

  Kind kind_ = Kind::kNone;
  std::set<std::string, std::less<>> known_;
  std::string last_;  // label of the line before
  int same_ = 0;      // lines in a row that carried it
  int looked_ = 0;
};

}  // namespace mw
