#include "app/start_words.h"

#include <algorithm>

#include "act/fleet/shell_word.h"
#include "base/text.h"
#include "sense/checkpoints/output_words.h"
#include "sense/checkpoints/ownership.h"

namespace mw {

std::string how_to_move(const std::string& path) {
  return cat("mv ", fleet::shell_word(path), " ", fleet::shell_word(cat(path, ".away")));
}

std::string not_gone_on_from(const LocalScope& scope, const LocalCheckpoint& one, bool by_number) {
  if (one.why.empty()) {
    return one.named ? ""
                     : cat(one.path, " is whole, and ", scope.layout.pointer,
                           " names an earlier step: it is not gone on from");
  }
  return cat(one.path, " is not gone on from: ", one.why,
             by_number
                 ? cat(". Its trainer takes the highest number all the same. To move it away: ", how_to_move(one.path))
                 : "");
}

std::string in_other_folder(const std::string& root, const std::vector<std::string>& command,
                            const std::string& works) {
  const std::vector<std::string> outputs = output_folders(command, works);
  const auto holds = [&root](const std::string& folder) { return lies_in(root, folder); };
  if (holds(works) || std::any_of(outputs.begin(), outputs.end(), holds)) return "";
  return cat("the checkpoint lies in ", root, ", as on the machine before, and this command works in ", works,
             ": a trainer that resumes from another folder begins from scratch. --checkpoints DIR says which one it "
             "takes");
}

std::string beside_nothing(const LocalCheckpoint& one) {
  const char* state = one.how == LocalCheckpoint::How::kWhole    ? "whole"
                      : one.how == LocalCheckpoint::How::kBroken ? "broken"
                                                                 : "not proven whole";
  std::string text = cat(one.path, " lies there, ", state);
  if (!one.why.empty()) text += cat(" (", one.why, ")");
  text += one.other.empty() ? "; that it is this run's is not proven" : cat("; run ", one.other, " saved it");
  return cat(text,
             ". A trainer that resumes by itself takes what it finds there. To begin from scratch, name an empty "
             "folder, or move it away: ",
             how_to_move(one.path));
}

}  // namespace mw
