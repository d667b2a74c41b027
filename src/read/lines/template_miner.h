// Log templates, mined online: lines that differ only in numbers, paths and ids share one template.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mw {

/// A fixed-depth tree in the manner of Drain (He et al., 2017), bounded; templates are numbered from 0 as they appear.
class TemplateMiner {
 public:
  static constexpr size_t kTemplateLimit = 2000;  ///< beyond it lines fall into one template "<*>"
  static constexpr size_t kTokenLimit = 60;       ///< tokens of a line that count

  TemplateMiner();
  ~TemplateMiner();
  /// The template of `message`.
  uint32_t add(std::string_view message);
  /// While this is the same, add() answers for a message as it did before, and need not be asked again.
  uint64_t version() const { return version_; }
  /// Its text, variable parts as "<*>".
  std::string text(uint32_t id) const;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
  uint64_t version_ = 0;
};

}  // namespace mw
