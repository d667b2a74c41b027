// How a trainer is made to resume from what a person is to go back to.
#include <algorithm>

#include "act/supervise/resume.h"
#include "app/checkpoints.h"
#include "base/text.h"

namespace mw {
namespace {

using Checkpoint = CheckpointsAnswer::Checkpoint;

/// The words by which a trainer resumes, as a person types them.
std::string typed(const ResumeWords& one, const Checkpoint& back) {
  std::string out;
  for (const std::string& word : one.words) {
    out += cat(out.empty() ? "" : " ", with_place(word, back.path, folder_of(back.path), back.step));
  }
  return out;
}

/// All that lies beside what to resume from, of a later step, has a name that the trainer does not take. Known where
/// the whole folder was asked for.
bool takes_highest_anyway(const CheckpointsAnswer& answer, const CheckpointLayout& layout) {
  const std::string folder = folder_of(answer.resume_from.path);
  size_t beside = 0;
  for (const Checkpoint& one : answer.checkpoints) {
    if (folder_of(one.path) != folder) continue;
    ++beside;
    const auto step = step_in(layout.folder, basename(one.path));
    if (step && *step > answer.resume_from.step) return false;
  }
  return beside > 1 && step_in(layout.folder, basename(answer.resume_from.path)).has_value();
}

}  // namespace

void say_how_to_resume(const KnowledgeBase& knowledge, CheckpointsAnswer& answer) {
  Checkpoint& back = answer.resume_from;
  if (back.path.empty() || back.resumable == "no") return;
  const CheckpointLayout layout = knowledge.checkpoints_of(back.framework);
  if (!layout.known() && layout.resume.empty()) return;
  std::string words;
  bool chooses = false;  // the words themselves say which
  for (const ResumeWords& one : layout.resume) {
    const std::string text = typed(one, back);
    if (text.empty()) continue;
    words +=
        cat(words.empty() ? "" : ", or ", text, one.when.empty() ? "" : cat(" (where its command has ", one.when, ")"));
    chooses = chooses || std::any_of(one.words.begin(), one.words.end(), [](const std::string& word) {
                return contains(word, "{path}") || contains(word, "{step}");
              });
  }
  const std::string with = words.empty() ? "" : cat(" with ", words);
  if (!layout.known()) {  // one slot
    back.notes.push_back(
        cat(back.framework, " resumes from it", with, ", if it is started with the same names and folders"));
  } else if (chooses) {
    back.notes.push_back(cat(back.framework, " resumes from it", with));
  } else if (!layout.pointer.empty()) {
    back.notes.push_back(cat(back.framework, " resumes from it when ", layout.pointer, " beside it says ",
                             with_step(layout.pointer_text, back.step), with.empty() ? "" : cat(", started", with)));
  } else if (layout.counts_saves) {
    if (!step_in(layout.folder, basename(back.path))) return;
    back.notes.push_back(
        cat("a script that resumes from the newest takes the highest number: move the later ones out of ",
            folder_of(back.path), " first"));
  } else if (takes_highest_anyway(answer, layout)) {
    back.notes.push_back(cat(back.framework, " resumes from it, the highest step that it takes", with));
  } else {
    back.notes.push_back(cat(back.framework, " takes the highest step that it finds: move the later ones out of ",
                             folder_of(back.path), " first", with.empty() ? "" : cat(", then start it", with)));
  }
}

}  // namespace mw
