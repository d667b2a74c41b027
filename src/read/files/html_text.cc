// HTML that a program made, as text. Any bytes will do.
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"
#include "read/files/notebook.h"

namespace mw {
namespace {

struct Entity {
  std::string_view name, text;
};
constexpr std::array<Entity, 6> kEntities = {
    {{"lt", "<"}, {"gt", ">"}, {"amp", "&"}, {"quot", "\""}, {"apos", "'"}, {"nbsp", " "}}};

bool space(char c) { return static_cast<unsigned char>(c) <= ' '; }

/// The text of the entity that begins at `at`, and where it ends; "&" alone where it is none.
std::string_view entity_at(std::string_view html, size_t at, size_t& end) {
  constexpr size_t kLongest = 8;
  const size_t close = html.substr(at, kLongest).find(';');
  end = at + 1;
  if (close == std::string_view::npos) return "&";
  const std::string_view name = html.substr(at + 1, close - 1);
  if (name == "#39" || name == "#x27") return end = at + close + 1, "'";
  const auto* const known =
      std::find_if(kEntities.begin(), kEntities.end(), [name](const Entity& one) { return one.name == name; });
  if (known == kEntities.end()) return "&";
  end = at + close + 1;
  return known->text;
}

class HtmlText {
 public:
  HtmlText(std::string_view html, std::string& out) : html_(html), out_(out), line_begin_(out.size()) {}

  void read() {
    for (size_t at = 0; at < html_.size();) {
      const char c = html_[at];
      if (c == '<' && at + 1 < html_.size() && begins_tag(html_[at + 1])) {
        at = tag(at);
      } else if (c == '&') {
        add(entity_at(html_, at, at));
      } else {
        if (c != '\n' || in_row_) {
          add(html_.substr(at, 1));
        } else {
          end_line();
        }
        ++at;
      }
    }
    end_line();
    out_.append(later_);
  }

 private:
  static bool begins_tag(char c) { return c == '/' || c == '!' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  /// Runs of white space are one blank, as a browser shows them; a cell has no '|' of its own.
  void add(std::string_view text) {
    for (const char c : text) {
      if (space(c)) {
        if (out_.size() > line_begin_ && !space(out_.back())) out_.push_back(' ');
      } else {
        out_.push_back(in_row_ && c == '|' ? '/' : c);
      }
    }
  }

  void end_line() {
    while (out_.size() > line_begin_ && space(out_.back())) out_.pop_back();
    if (out_.size() > line_begin_) out_.push_back('\n');
    if (of_bar_ && out_.size() > line_begin_) {
      later_.append(out_, line_begin_);
      out_.resize(line_begin_);
      of_bar_ = false;
    }
    line_begin_ = out_.size();
  }

  void begin_cell() {
    if (!in_row_) return;
    if (cells_++ > 0) out_.append(out_.size() > line_begin_ && space(out_.back()) ? "| " : " | ");
  }

  /// After what begins at `at`: a tag, a comment, or a style or script as a whole.
  size_t tag(size_t at) {
    if (html_.substr(at, 4) == "<!--") return after(html_.find("-->", at + 4), 3);
    const size_t close = html_.find('>', at);
    if (close == std::string_view::npos) return html_.size();
    std::string_view inside = html_.substr(at + 1, close - at - 1);
    const bool ends = inside.starts_with('/');
    if (ends) inside.remove_prefix(1);
    const size_t stop = inside.find_first_of(" \t\r\n/");
    const std::string name = to_lower(inside.substr(0, std::min<size_t>(stop, kNameBytes)));
    if (!ends && (name == "style" || name == "script")) {
      const size_t over = html_.find(name == "style" ? "</style" : "</script", close);
      return over == std::string_view::npos ? html_.size() : after(html_.find('>', over), 1);
    }
    shown(name, ends);
    return close + 1;
  }

  size_t after(size_t found, size_t bytes) const {
    return found == std::string_view::npos ? html_.size() : found + bytes;
  }

  void shown(std::string_view name, bool ends) {
    if (name == "tr") {
      end_line();
      in_row_ = !ends;
      cells_ = 0;
    } else if ((name == "td" || name == "th") && !ends) {
      begin_cell();
    } else if (name == "table") {
      end_line();
      in_row_ = false;
    } else if (name == "progress") {
      end_line();
      of_bar_ = true;
    } else if (!in_row_ && is_block(name)) {
      end_line();
    } else if (in_row_ && name == "br") {
      add(" ");
    }
  }

  static bool is_block(std::string_view name) {
    static constexpr std::array<std::string_view, 14> kBlocks = {"div", "p",  "br", "pre", "ul", "ol",      "li",
                                                                 "h1",  "h2", "h3", "h4",  "hr", "section", "body"};
    return std::find(kBlocks.begin(), kBlocks.end(), name) != kBlocks.end();
  }

  static constexpr size_t kNameBytes = 16;
  std::string_view html_;
  std::string& out_;
  size_t line_begin_;  // of what is written
  std::string later_;  // the line of a bar, which shows how far its table has come and stands above it
  bool of_bar_ = false;
  bool in_row_ = false;
  size_t cells_ = 0;  // of the row
};

}  // namespace

void append_html_text(std::string_view html, std::string& out) { HtmlText(html, out).read(); }

}  // namespace mw
