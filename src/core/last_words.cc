#include "core/last_words.h"

#include <algorithm>

namespace mw {

void add_last_word(State& state, LastWord word) {
  if (state.last_words.size() >= State::kLastWordLimit) state.last_words.erase(state.last_words.begin());
  state.last_words.push_back(std::move(word));
}

std::optional<LastWord> take_last_word(State& state, const Where& where, const std::string& signature) {
  const auto known = std::find_if(state.last_words.begin(), state.last_words.end(), [&](const LastWord& word) {
    return word.where == where && word.signature == signature;
  });
  if (known == state.last_words.end()) return std::nullopt;
  LastWord word = *known;
  state.last_words.erase(known);
  return word;
}

void forget_last_words(State& state, uint32_t source) {
  std::erase_if(state.last_words, [source](const LastWord& word) { return word.where.source == source; });
}

}  // namespace mw
