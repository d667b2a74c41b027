#include "sense/checkpoints/layouts/support.h"

#include "base/json.h"
#include "base/text.h"

namespace mw {

std::optional<int64_t> number_of_json(Examination& exam, const TreeFile& file, std::string_view name) {
  class Find final : public JsonLeaves {
   public:
    explicit Find(std::string_view wanted) : wanted_(wanted) {}
    void number(std::string_view path, double value) override {
      if (path == wanted_ && value >= 0 && value < 9e15) found = static_cast<int64_t>(value);
    }
    void string(std::string_view, std::string_view) override {}
    bool enter_array(std::string_view) override { return false; }
    std::optional<int64_t> found;

   private:
    std::string_view wanted_;
  };
  constexpr size_t kSmallJson = size_t{64} << 20;
  const auto text = exam.text(file, kSmallJson);
  Find find(name);
  if (!text || !for_each_leaf(*text, find)) return std::nullopt;
  return find.found;
}

bool require_last(Examination& exam, const std::string& path, std::string_view why) {
  const bool there = exam.tree().has(path);
  exam.finished(there);
  if (!there) exam.problem(Trouble::kMissing, path, cat("it is missing: ", why));
  return there;
}

void piece_by_file(Examination& exam, Piece piece, const std::string& path) {
  if (exam.tree().has(path)) {
    exam.has(piece);
  } else {
    exam.lacks(piece);
  }
}

void step_of_pickle(Examination& exam, const std::string& path, const std::string& number) {
  const TreeFile* const file = exam.tree().find(path);
  if (file == nullptr) return;
  const auto& numbers = exam.directory(*file).numbers;
  const auto found = numbers.find(number);
  if (found == numbers.end()) return;
  exam.has(Piece::kStep);
  exam.step_is(found->second, path);
}

void cannot_resume(Examination& exam, Piece piece, std::string_view path, std::string_view what) {
  exam.lacks(piece);
  exam.note(cat(path, ": ", what));
}

bool named(const CheckpointTree& tree, std::string_view prefix) { return tree.own_name().starts_with(prefix); }

bool renamed(const CheckpointTree& tree) { return step_of_name(tree.own_name()) == kNoStep; }

}  // namespace mw
