#include "ui/cli/help_text.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kLong = 70;  // columns; a shorter line of text ends its paragraph

/// Where the text of a line begins: behind the words that name an option, which two spaces or more end.
size_t column_of(std::string_view line) {
  size_t at = 0;
  while (at < line.size() && line[at] == ' ') ++at;
  if (at == 0) return 0;
  for (size_t i = at + 1; i + 1 < line.size(); ++i) {
    if (line[i - 1] == ' ' && line[i] == ' ' && line[i + 1] != ' ') return i + 1;
  }
  return at;
}

void put_line(std::string& out, std::string_view line, size_t width) {
  const size_t column = column_of(line);
  size_t indent = 0;
  while (indent + line.size() > width && column + 20 <= width) {
    size_t cut = line.rfind(' ', width - indent);
    if (cut == std::string_view::npos || (indent == 0 && cut <= column)) break;
    out.append(indent, ' ').append(line.substr(0, cut)) += '\n';
    line.remove_prefix(cut + 1);
    indent = column;
  }
  out.append(indent, ' ').append(line) += '\n';
}

/// An example; not the row of a table that begins with a command.
bool is_command_line(std::string_view line) {
  const size_t begin = line.find_first_not_of(' ');
  return begin != std::string_view::npos && begin > 0 && line.substr(begin).starts_with("midwatch ") &&
         column_of(line) == begin;
}

/// A command that is too long goes on behind backslashes, so that it can be copied.
void put_command(std::string& out, std::string_view line, size_t width) {
  const std::string indent(line.find_first_not_of(' ') + 4, ' ');
  std::string row;
  for (const std::string_view word : split(line.substr(indent.size() - 4), ' ')) {
    const bool fits = row.size() + 1 + word.size() + 2 <= width;
    if (row.empty()) {
      row = indent.substr(4) + std::string(word);
    } else if (fits) {
      row += cat(" ", word);
    } else {
      out += row + " \\\n";
      row = indent + std::string(word);
    }
  }
  out += row + "\n";
}

}  // namespace

std::string fit_help(std::string_view text, size_t width) {
  std::string out, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) put_line(out, paragraph, width);
    paragraph.clear();
  };
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n')) {
    const bool is_text = !line.empty() && line.front() != ' ' && !line.starts_with("Usage:");
    // A line that is long goes on in the next.
    if (is_text && paragraph.size() >= kLong) {
      paragraph.append(" ").append(line);
      continue;
    }
    end_paragraph();
    if (is_text) {
      paragraph = line;
    } else if (is_command_line(line) && line.size() > width) {
      put_command(out, line, width);
    } else if (line.empty() || is_command_line(line)) {
      out.append(line) += '\n';
    } else {
      put_line(out, line, width);
    }
  }
  end_paragraph();
  return out;
}

}  // namespace mw
