#include "act/keeper/start_advice.h"

#include <algorithm>

namespace mw {
namespace {

bool is_name(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::string start_advice(std::string_view first_word, bool alone) {
  const size_t equals = first_word.find('=');
  const std::string_view name = first_word.substr(0, equals);
  if (equals != std::string_view::npos && !name.empty() && std::all_of(name.begin(), name.end(), is_name))
    return "; no shell reads it: write env in front of a variable, as in env NAME=VALUE bash train.sh";
  if (alone && first_word.find(' ') != std::string_view::npos)
    return "; no shell reads it: write its words without quotes around all of them, or bash -c '...'";
  return "";
}

}  // namespace mw
