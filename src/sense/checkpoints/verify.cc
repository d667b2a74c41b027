#include "sense/checkpoints/verify.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/dead_link.h"
#include "sense/checkpoints/earlier.h"
#include "sense/checkpoints/equal_ranks.h"
#include "sense/checkpoints/exchanged.h"
#include "sense/checkpoints/layouts/layout.h"
#include "sense/checkpoints/layouts/optimizer_steps.h"
#include "sense/checkpoints/lost_part.h"
#include "sense/checkpoints/lost_state.h"
#include "sense/checkpoints/nearer_step.h"
#include "sense/checkpoints/other_content.h"
#include "sense/checkpoints/other_format.h"
#include "sense/checkpoints/role_weights.h"
#include "sense/checkpoints/save_order.h"
#include "sense/checkpoints/save_times.h"
#include "sense/checkpoints/shared_bytes.h"
#include "sense/checkpoints/unjudged.h"
#include "sense/checkpoints/unlike.h"
#include "sense/checkpoints/zero_partition.h"

namespace mw {
namespace {

using Verdict = CheckpointVerdict::State;

constexpr size_t kJsonBytes = size_t{32} << 20;
constexpr int64_t kSmall = 64 << 10;                  // what is less may be anything, beside files of weights
constexpr Duration kSettling = Duration::seconds(5);  // since the last write, where no file says that a save is done

class Verification {
 public:
  Verification(Disk& disk, const CheckpointTree& tree, const VerifyOptions& options)
      : tree_(tree), options_(options), exam_(disk, tree) {}

  CheckpointVerdict run() {
    const int64_t named = step_of_name(tree_.own_name());
    if (named != kNoStep && !tree_.single_file()) exam_.step_is(named, "");
    for (const TreeFile& file : tree_.files()) look_at(file);
    for (const std::string& folder : tree_.in_place_of_files()) look_at_folder(folder);
    examine_layouts();
    for (const CheckpointFramework* framework : all_frameworks()) {
      if (tree_.single_file() || !framework->is_here(tree_)) continue;
      exam_.found_framework(framework->name);
      framework->examine(exam_);
      break;
    }
    if (exam_.layouts().count("PyTorch DCP") != 0 && exam_.pieces().count(Piece::kOptimizer) == 0 &&
        exam_.weights() > 0 && !exam_.unknown()) {
      exam_.lacks(Piece::kOptimizer);
    }
    for (const std::string& link : tree_.dangling()) look_at_dead_link(exam_, link);
    note_pieces_in_weights();
    look_at_contents(exam_, options_.beside);
    look_for_weights_of_roles(exam_);
    look_for_weights();
    look_for_lost_parts(exam_, options_.beside, options_.before, options_.newest);
    if (options_.deep) {
      deep_ = check_deeply(exam_, options_.threads, options_.progress);
      if (deep_.stopped) exam_.note("the deep check was stopped before its end");
      if (!deep_.stopped) look_for_zeros();
      if (!deep_.stopped) note_unjudged(exam_, deep_.figures);
    }
    look_at_shapes(exam_, options_.beside);
    look_at_norms(exam_, deep_.files, options_.others);
    look_for_equal_ranks(exam_, deep_.files);
    look_for_zero_partitions(exam_, deep_.files);
    if (options_.earlier != nullptr)
      compared_ = compare_with_earlier(exam_, *options_.earlier, deep_.files, options_.others);
    look_beside();
    return answer();
  }

 private:
  /// By itself: what its own format shows.
  void look_at(const TreeFile& file) {
    const std::string_view ending = ending_of(file.name());
    if (ending == "json") return look_at_json(file);
    if (ending == "distcp" || is_export_weights(file)) return;
    const bool read = file.role == FileRole::kWeights || file.role == FileRole::kOptimizer ||
                      may_be_of_torch(file.name()) || ending == "pkl";
    if (!read) return;
    const FileDirectory& directory = exam_.directory(file);
    if (file.role == FileRole::kOptimizer) note_optimizer(file, directory);
    if (tree_.single_file()) note_pieces(file);
    if (exam_.is_unreadable(file.path)) {  // said already; its format is not known
      unread_ = true;
      return;
    }
    if (directory.other_order)
      exam_.note(cat(file.path, " was written by a machine of the other byte order: its numbers are not judged"));
    const bool opens = directory.format != FileDirectory::Format::kUnknown || !directory.found.empty();
    if (file.role == FileRole::kOptimizer && !opens && (ending == "bin" || is_of_torch(file.name())))
      strange_.push_back(file.path);
    if (file.role == FileRole::kSettings || file.role == FileRole::kOptimizer || ending == "pkl") return;
    bare_ = bare_ || (directory.proven && directory.bare);
    if (directory.proven && !directory.bare) exam_.holds_weights(file.path);
    if (!directory.proven && directory.found.empty()) {
      const bool small = file.bytes < kSmall && !is_weights_by_name(file.name());
      (small ? small_ : is_for_other_programs(file.name()) ? others_ : strange_).push_back(file.path);
    }
  }

  /// What torch.save wrote of an empty dict, or of a few numbers and settings, is none.
  void note_optimizer(const TreeFile& file, const FileDirectory& directory) {
    exam_.has(Piece::kOptimizer);
    const std::string_view name = file.name();
    const bool alone = name == "optimizer.pt" || name == "optimizer.bin";
    const auto is_of_optimizer = [](const std::string& key) {
      return contains(key, "state") || contains(key, "param") || contains(key, "optim");
    };
    if (!alone || !directory.proven || !directory.bare || directory.clipped ||
        std::any_of(directory.keys.begin(), directory.keys.end(), is_of_optimizer)) {
      return;
    }
    exam_.lacks(Piece::kOptimizer);
    exam_.problem(Trouble::kMetadataOnly, file.path, "there is no state of an optimizer in it", false);
  }

  /// A trainer that no framework is: it may have put all that it needs into one file.
  void note_pieces_in_weights() {
    const auto& layouts = exam_.layouts();
    const bool other = std::any_of(layouts.begin(), layouts.end(),
                                   [](const std::string& layout) { return !layout.starts_with("torch.save"); });
    if (tree_.single_file() || other || !exam_.framework().empty()) return;
    for (const TreeFile& file : tree_.files()) {
      if (file.role == FileRole::kWeights && !is_export_weights(file)) note_pieces(file);
    }
  }

  /// What one file holds besides weights, by the names that trainers give to it.
  void note_pieces(const TreeFile& file) {
    const FileDirectory& directory = exam_.directory(file);
    constexpr std::array<std::string_view, 5> kSteps = {"step", "global_step", "iteration", "iter", "epoch"};
    for (const std::string& key : directory.keys) {
      if (contains(key, ".")) continue;
      if (key.starts_with("optim")) exam_.has(Piece::kOptimizer);
      if (contains(key, "sched")) exam_.has(Piece::kScheduler);
      if (contains(key, "rng")) exam_.has(Piece::kRng);
      if (contains(key, "dataloader")) exam_.has(Piece::kDataloader);
      if (is_one_of(key, kSteps)) exam_.has(Piece::kStep);
    }
    // Of a name that counts epochs ("epoch=2.ckpt"), or says a metric, the file says the step.
    const std::string name = to_lower(file.name());
    const bool unsaid = contains(name, "epoch") || (name.ends_with(".ckpt") && directory.keys.count("state_dict") != 0);
    const auto step = directory.numbers.find("global_step");
    if (step != directory.numbers.end() && step->second >= 0 && unsaid && !contains(name, "step"))
      exam_.step_is(step->second, file.path);
  }

  /// A folder with the name of such a file.
  void look_at_folder(const std::string& folder) {
    if (is_needed(basename(folder)))
      exam_.problem(Trouble::kMissing, folder, "it is a folder, and a file of that name belongs there");
  }

  /// Copies for other uses need not be whole for a trainer to resume: only their bytes are looked at, by --deep.
  bool is_export_weights(const TreeFile& file) const {
    return is_export(file.path) && tree_.folders().size() > 1 && !exam_.only_exported();
  }

  void look_at_json(const TreeFile& file) {
    const bool needed = is_needed_json(file.name());
    if (file.bytes == 0) return exam_.problem(Trouble::kEmpty, file.path, "it is empty", needed);
    if (static_cast<size_t>(file.bytes) > kJsonBytes) return;
    const auto text = exam_.text(file, kJsonBytes);
    TokenIds words;
    if (!text) return;
    if (for_each_leaf(trim(*text), words))
      return words.any() ? look_at_words(exam_, file, words) : static_cast<void>(0);
    const std::string_view end = trim(*text);
    if (text->find_first_not_of('\0') == std::string::npos) {
      exam_.problem(Trouble::kZeros, file.path, "it holds nothing but zeros: its bytes never reached the disk", needed);
    } else if (other_format_of(*text, true).empty() && (end.empty() || (end.back() != '}' && end.back() != ']'))) {
      exam_.problem(Trouble::kTruncated, file.path, "it is cut: its JSON does not end", needed);
    } else {
      const std::string_view other = other_format_of(*text, true);
      exam_.problem(Trouble::kDamaged, file.path, cat("it is ", other.empty() ? "no JSON" : other), needed);
    }
  }

  void examine_layouts() {
    std::vector<const TreeFile*> files;
    for (const auto& [folder, numbers] : tree_.folders()) {
      files.clear();
      for (const size_t number : numbers) files.push_back(&tree_.files()[number]);
      const bool exported = is_export(cat(folder, "/")) && tree_.folders().size() > 1 && !exam_.only_exported();
      for (const CheckpointFormat* format : all_formats()) {
        if (!exported) format->examine(exam_, folder, files);
      }
    }
  }

  void look_for_weights() {
    if (tree_.files().empty() && step_of_name(tree_.own_name()) == kNoStep)
      return exam_.note(tree_.holds_steps()
                            ? "no checkpoint was found in it and in the folders down to the fourth below it; some lie "
                              "deeper: name a folder nearer to them"
                            : "there is no checkpoint in it: no file is in it, nor in a folder below it");
    if (tree_.files().empty()) return exam_.problem(Trouble::kEmpty, "", "there is no file in it");
    if (unread_) return;  // they may be there
    if (exam_.weights() == 0) strange_.insert(strange_.end(), small_.begin(), small_.end());
    if (exam_.weights() == 0 || !has_named_weights(exam_))
      strange_.insert(strange_.end(), std::make_move_iterator(others_.begin()), std::make_move_iterator(others_.end()));
    else
      not_judged_ = std::move(others_);
    if (exam_.weights() > 0 || exam_.broken() || !strange_.empty() || tree_.single_file()) {
      const bool none = tree_.single_file() ? bare_ : known() && !holds_any_weights();
      if (exam_.weights() == 0 && strange_.empty() && none) say_metadata_only();
      return;
    }
    const TreeFile* const other = of_other_format();
    if (other != nullptr) return strange_.push_back(other->path);
    if (is_optimizers_own())
      return exam_.note(
          "it is the state of an optimizer, and a checkpoint only with the weights beside it: verify the folder that "
          "it lies in");
    if (known()) say_metadata_only();
  }
  /// A folder for nothing else, in a checkpoint or beside those of weights.
  bool is_optimizers_own() const {
    const std::string above = folder_of(tree_.root());
    return exam_.pieces().count(Piece::kOptimizer) != 0 && exam_.framework().empty() &&
           (tree_.own_name().starts_with("optim") || basename(above).starts_with("optim"));
  }
  void say_metadata_only() {
    exam_.problem(Trouble::kMetadataOnly, "",
                  cat("there are no weights in it, only ", format_bytes(static_cast<double>(tree_.bytes())),
                      " of settings and states"));
  }
  bool known() const {
    return bare_ || !exam_.layouts().empty() || !exam_.framework().empty() || tree_.has("config.json") ||
           tree_.has("adapter_config.json") || step_of_name(tree_.own_name()) != kNoStep;
  }
  /// A file that may be one of weights, as of JAX, where neither a layout nor a framework is recognised.
  const TreeFile* of_other_format() const {
    const int64_t large = bare_ ? 1 : kSmall;  // a file of settings may be that of a small one
    constexpr std::array<std::string_view, 5> kNot = {"token", "vocab", "merges", "spiece", "events.out"};
    if (!exam_.layouts().empty() || !exam_.framework().empty()) return nullptr;
    for (const TreeFile& file : tree_.files()) {
      const bool other = std::any_of(kNot.begin(), kNot.end(), [&](auto part) { return contains(file.name(), part); });
      if (file.role == FileRole::kUnknown && file.bytes >= large && !other) return &file;
    }
    return nullptr;
  }
  bool holds_any_weights() const {
    return std::any_of(tree_.files().begin(), tree_.files().end(),
                       [](const TreeFile& file) { return file.role == FileRole::kWeights; });
  }

  /// A file of the same size from another step fits where its tensors have the same shapes. What shows it is that it
  /// has the bytes of that one's file, and when it was written.
  void look_beside() {
    if (tree_.single_file()) return;
    const bool deep = options_.deep && !deep_.stopped;
    if (deep) look_at_distributed_steps(exam_, options_.beside);
    look_at_exchanged(exam_, options_.beside);
    const SharedBytesAnswer shared = bytes_of_another(exam_, options_.beside, options_.deep);
    beside_ = shared.compared;
    if (deep && shared.files.empty() && !exam_.broken()) look_for_exchanged_weights(exam_, options_.beside);
    for (const SharedBytes& one : shared.files) {
      if (is_known(one.path, true)) continue;
      exam_.problem(Trouble::kSameBytes, one.path, sentence_of(one), one.breaks, CheckDepth::kContent);
    }
    for (const StrangeTime& one : written_with_another(exam_.disk(), tree_, options_.beside)) {
      if (is_known(one.path) || not_copied_from(exam_.disk(), tree_, one.path, one.other)) continue;
      exam_.problem(Trouble::kOtherTime, one.path,
                    cat("it was written at ", format_utc(one.written).substr(0, 19), "Z, with the files of ",
                        basename(one.other), " and apart from all others here: it may be a file of that one"));
    }
    for (const StrangeTime& one : states_of_another(exam_.disk(), tree_, exam_.outside(), options_.beside)) {
      if (is_known(one.path)) continue;
      exam_.problem(Trouble::kOtherTime, one.path,
                    cat("it was written at ", format_utc(one.written).substr(0, 19), "Z, with the files of ",
                        basename(one.other), " and before all weights here: it may be that one's"),
                    false);
    }
    const CutSaveAnswer cut = look_for_cut_save(exam_, options_.attempts);
    saved_over_ = cut.by_attempt;
    if (const auto late = written_late(tree_); !late.path.empty() && !cut.reported && !is_known(late.path)) {
      exam_.problem(Trouble::kOtherTime, late.path,
                    cat("it was written at ", format_utc(late.written).substr(0, 19), "Z, ",
                        format_duration(late.after), " after all others here: not by the save that wrote them. ",
                        options_.earlier != nullptr ? "--deep compares it with what was recorded before"
                                                    : "Nothing recorded what it was before"),
                    false);
    }
  }

  /// Is something reported of that file already? `breaks`: that speaks against it.
  bool is_known(std::string_view path, bool breaks = false) const {
    return std::any_of(exam_.problems().begin(), exam_.problems().end(),
                       [&](const CheckpointProblem& one) { return one.path == path && (one.breaks || !breaks); });
  }

  /// One tensor of zeros is a bias, or the second half of a fresh adapter; a model of nothing else was never filled.
  void look_for_zeros() {
    constexpr uint64_t kHeaders = 64 << 10;
    const DeepFigures& figures = deep_.figures;
    if (figures.weights == 0 || figures.zero_weights < figures.weights) return;
    if (figures.other_bytes > std::max(kHeaders, figures.weight_bytes)) return;  // most are of 8 bits, or packed
    exam_.problem(Trouble::kUnlike, "",
                  cat("every number of its ", figures.weights,
                      figures.weights == 1 ? " tensor of weights is zero" : " tensors of weights is zero"),
                  true, CheckDepth::kSane);
  }

  // ---- the answer
  static Verdict state_of(const CheckpointProblem& problem) {
    switch (problem.trouble) {
      case Trouble::kMissing:
      case Trouble::kEmpty:
      case Trouble::kTruncated:
      case Trouble::kMetadataOnly:
        return Verdict::kPartial;
      case Trouble::kZeros:  // of weights that may have been so
        return problem.depth == CheckDepth::kSane ? Verdict::kSuspect : Verdict::kPartial;
      case Trouble::kNotFinite:
      case Trouble::kOtherTime:
      case Trouble::kSameBytes:
      case Trouble::kOtherCount:
      case Trouble::kUnlike:
        return Verdict::kSuspect;
      case Trouble::kUnreadable:
        return Verdict::kUnknown;
      default:
        return Verdict::kCorrupt;
    }
  }

  /// A file of it, or one outside that belongs to it, or a folder in it that has no file yet.
  Time last_written() const { return std::max({tree_.newest(), tree_.newest_empty_folder(), exam_.newest_outside()}); }

  Verdict state() const {
    bool partial = false, corrupt = false, suspect = false, unreadable = false, unwritten = false;
    for (const CheckpointProblem& problem : exam_.problems()) {
      if (!problem.breaks) continue;
      Verdict one = state_of(problem);
      // It may lie where we may not look.
      const bool lacks = problem.trouble == Trouble::kMissing || problem.trouble == Trouble::kMetadataOnly ||
                         (problem.trouble == Trouble::kEmpty && problem.path.empty());
      if (lacks && !tree_.seen_whole()) one = Verdict::kUnknown;
      partial = partial || one == Verdict::kPartial;
      corrupt = corrupt || one == Verdict::kCorrupt;
      suspect = suspect || one == Verdict::kSuspect;
      unwritten = unwritten || problem.trouble == Trouble::kZeros;
      unreadable = unreadable || one == Verdict::kUnknown;
    }
    const Time last = last_written();
    const bool fresh = options_.now.known() && last.known() && options_.now - last < kStillWriting &&
                       last - options_.now < kStillWriting;
    if ((fresh || !writer_.empty()) && (partial || corrupt || unwritten)) return Verdict::kWriting;
    if (fresh && suspect && !exam_.finished().value_or(true)) return Verdict::kWriting;
    if (fresh && options_.now - last < kSettling && !exam_.finished().value_or(false) && exam_.weights() > 0)
      return Verdict::kWriting;
    if (corrupt) return Verdict::kCorrupt;
    if (partial) return Verdict::kPartial;
    if (suspect) return Verdict::kSuspect;
    if (exam_.weights() == 0 && strange_.empty() && !unreadable && !unread_ && tree_.seen_whole())
      return Verdict::kForeign;
    return unreadable || exam_.unknown() || !tree_.seen_whole() || !strange_.empty() ? Verdict::kUnknown
                                                                                     : Verdict::kWhole;
  }

  /// That there are no weights says more than which small files are not there either.
  static void weights_before_states(std::vector<CheckpointProblem>& problems) {
    const auto none = std::find_if(problems.begin(), problems.end(),
                                   [](const CheckpointProblem& one) { return one.trouble == Trouble::kMetadataOnly; });
    if (none == problems.end()) return;
    const auto state = std::find_if(problems.begin(), none, [](const CheckpointProblem& one) {
      return role_of(basename(one.path)) != FileRole::kWeights;
    });
    std::rotate(state, none, none + 1);
  }

  CheckpointVerdict answer() {
    CheckpointVerdict out;
    out.path = tree_.single_file() ? tree_.full(tree_.files().front().path) : tree_.root();
    if (options_.writer && exam_.broken()) writer_ = options_.writer(out.path);
    out.state = state();
    out.step = exam_.step();
    out.framework = exam_.framework();
    out.layouts = most_precise(exam_.layouts());
    if (options_.deep && !deep_.stopped) out.depth = CheckDepth::kSane;
    out.problems = exam_.problems();
    std::stable_sort(out.problems.begin(), out.problems.end(),
                     [](const CheckpointProblem& a, const CheckpointProblem& b) { return a.breaks > b.breaks; });
    weights_before_states(out.problems);
    out.problems_in_all = exam_.problems_in_all();
    out.notes = exam_.notes();
    for (size_t i = 0; i < strange_.size() && i < 5; ++i)
      out.notes.push_back(cat(strange_[i], " is of a format that midwatch does not read"));
    for (size_t i = 0; i < small_.size() && i < 5 && exam_.weights() > 0; ++i)
      out.notes.push_back(cat(small_[i], " is of a format that midwatch does not read, and too small to count"));
    for (size_t i = 0; i < not_judged_.size() && i < 5; ++i)
      out.notes.push_back(cat(not_judged_[i], " is of a format that midwatch does not read: it was not judged"));
    if (!tree_.seen_whole())
      out.notes.push_back(cat("not all of it could be seen: what is missing may be there",
                              tree_.unseen().empty() ? "" : cat(" (", tree_.unseen(), ")")));
    for (size_t i = 0; i < tree_.left_over().size() && i < 5; ++i) out.notes.push_back(tree_.left_over()[i]);
    for (size_t i = 0; i < tree_.refused().size() && i < 5; ++i)
      out.notes.push_back(cat(tree_.refused()[i], " is a link to a folder that it lies in: it is not followed"));
    out.pieces.assign(exam_.pieces().begin(), exam_.pieces().end());
    for (const Piece piece : exam_.partly_lacking())
      out.notes.push_back(cat("no ", word_of(piece), " is in it: its trainer resumes without"));
    if (out.state == Verdict::kWriting) {
      const double ago = std::max(0.0, (options_.now - last_written()).seconds());
      if (!writer_.empty()) out.notes.push_back(cat(writer_, ": what is wrong may be what is not written yet"));
      if (last_written().known())
        out.notes.push_back(
            cat("it was last written ", format_duration(Duration::seconds(ago)), " ago: look again later"));
    }
    const FileRole role = tree_.single_file() ? tree_.files().front().role : FileRole::kUnknown;
    if (out.state == Verdict::kForeign && (role == FileRole::kOptimizer || role == FileRole::kSettings))
      out.notes.push_back(cat("it is ",
                              role == FileRole::kOptimizer ? "the state of an optimizer" : "no file of weights",
                              ", and a checkpoint only with the files beside it: verify the folder that it lies in"));
    out.lacks.assign(exam_.lacking().begin(), exam_.lacking().end());
    out.resumable = resumable(out.state);
    out.files = tree_.files().size();
    out.bytes = tree_.bytes();
    out.newest = tree_.newest();
    out.tree_state = tree_.state();
    out.deep = deep_.figures;
    out.hashed = std::move(deep_.files);
    out.beside = beside_;
    out.counted = exam_.counted();
    out.compared = compared_;
    out.half_saved_over = saved_over_;
    if (compared_) out.compared_at = options_.earlier->at;
    return out;
  }

  CheckpointVerdict::Resumable resumable(Verdict state) const {
    using Resumable = CheckpointVerdict::Resumable;
    if (state == Verdict::kPartial || state == Verdict::kCorrupt || state == Verdict::kForeign ||
        state == Verdict::kWriting)
      return Resumable::kNo;
    if (!exam_.lacking().empty()) return Resumable::kNo;
    const bool optimizer = exam_.pieces().count(Piece::kOptimizer) != 0;
    if (!optimizer) return Resumable::kNo;
    if (state == Verdict::kUnknown) return Resumable::kUnknown;
    return exam_.framework().empty() ? Resumable::kUnknown : Resumable::kYes;
  }

  const CheckpointTree& tree_;
  const VerifyOptions& options_;
  Examination exam_;
  DeepAnswer deep_;
  std::vector<std::string> beside_;      // checkpoints with which samples were compared
  std::vector<std::string> strange_;     // files of weights of a format that is not read
  std::vector<std::string> small_;       // likewise that are too small to be those of a checkpoint that has others
  std::vector<std::string> others_;      // likewise of formats for other programs
  std::vector<std::string> not_judged_;  // those of them that lie beside weights that are read
  std::string writer_;                   // who has a file of what is not whole open to write; "": nobody
  bool unread_ = false;                  // a file that may be one of weights could not be read
  bool bare_ = false;  // a file that may be one of weights, by its name, has nothing but settings in it
  bool compared_ = false;
  bool saved_over_ = false;  // by an attempt that ended before that save was done
};

}  // namespace

Result<CheckpointVerdict> verify_checkpoint(Disk& disk, const std::string& path, const VerifyOptions& options) {
  const auto tree = CheckpointTree::read(disk, path);
  if (!tree.ok()) return tree.error();
  CheckpointVerdict verdict = Verification(disk, *tree, options).run();
  const auto after = CheckpointTree::read(disk, path);
  if (after.ok() && after->state() == tree->state()) return verdict;
  const bool gone = !after.ok() && after.error().code == Error::Code::kNotFound;
  verdict.notes.emplace_back(gone ? "it was removed while it was read" : "it changed while it was read");
  if (verdict.state != Verdict::kForeign) verdict.state = gone ? Verdict::kUnknown : Verdict::kWriting;
  verdict.resumable = CheckpointVerdict::Resumable::kNo;
  return verdict;
}

}  // namespace mw
