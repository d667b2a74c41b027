#include <algorithm>

#include "base/secrets.h"
#include "base/text.h"
#include "sense/fingerprint/fingerprint.h"

namespace mw {
namespace {

// What a person asks first stands first. "space" is free space: it always differs, and is not compared.
constexpr std::string_view kGroups[] = {"environment", "package", "driver", "host", "disk", "limit"};
constexpr size_t kCommitDigits = 12;

std::string shown(std::string_view text) { return clip(text, kDifferenceText); }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// For each line whether it belongs to a longest common subsequence of both.
std::pair<std::vector<bool>, std::vector<bool>> common(const std::vector<std::string_view>& a,
                                                       const std::vector<std::string_view>& b) {
  const size_t width = b.size() + 1;
  std::vector<uint32_t> longest((a.size() + 1) * width, 0);  // of what is left from (i, j) on
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      longest[i * width + j] = a[i] == b[j] ? longest[(i + 1) * width + j + 1] + 1
                                            : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  std::vector<bool> in_a(a.size(), false), in_b(b.size(), false);
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      in_a[i++] = in_b[j++] = true;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return {in_a, in_b};
}

std::string joined_without(const std::vector<std::string_view>& lines, const std::vector<bool>& left_out) {
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!left_out[i]) out += cat(out.empty() ? "" : "\n", lines[i]);
  }
  return shown(out);
}

/// Of a diff, what was taken away and put in; not where.
std::string edits_of(std::string_view diff) {
  std::string out;
  bool begun = false;  // the first hunk
  for (const std::string_view line : lines_of(diff)) {
    if (line.starts_with("@@")) begun = true;
    if (begun && (line.starts_with("+") || line.starts_with("-"))) {
      out += cat(out.empty() ? "" : "\n", line);
    }
  }
  return out;
}

class Comparing {
 public:
  std::vector<Difference> found;
  size_t more = 0;

  void add(std::string_view what, std::string name, std::string before, std::string after) {
    if (found.size() >= kDifferenceLimit - 1) {
      ++more;
      return;
    }
    if (what == "environment") {  // as an earlier midwatch may have kept it
      for (std::string* const value : {&before, &after}) {
        if (!value->empty()) *value = names_secret(name) ? std::string(kRedacted) : redacted_setting(name, *value);
      }
    }
    found.push_back({std::string(what), std::move(name), std::move(before), std::move(after)});
  }

  void facts(std::string_view what, const Fingerprint::Facts& before, const Fingerprint::Facts& after) {
    for (const auto& [name, value] : before) {
      const auto now = after.find(name);
      if (now == after.end()) add(what, name, shown(value), "");
      if (now != after.end() && now->second != value) values(what, name, value, now->second);
    }
    for (const auto& [name, value] : after) {
      if (before.count(name) == 0) add(what, name, "", shown(value));
    }
  }

  /// Of the places where the run writes. A folder that the attempt before made is none.
  void disks(const Fingerprint::Facts& before, const Fingerprint::Facts& after) {
    for (const auto& [place, disk] : before) {
      const auto now = after.find(place);
      const bool was = !disk.starts_with(kNotThere), is = now != after.end() && !now->second.starts_with(kNotThere);
      const std::string_view same = now == after.end() ? std::string_view() : disk_of(now->second);
      if (is && same != disk_of(disk)) add("disk", place, shown(disk_of(disk)), shown(same));
      if (was && !is) add("disk", place, shown(disk), "");
    }
  }

  void files(const Fingerprint& before, const Fingerprint& after) {
    for (const auto& [path, file] : before.files) {
      const auto now = after.files.find(path);
      if (now == after.files.end()) {
        add("file", path, cat(file.bytes, " bytes"), "");
      } else if (now->second.hash != file.hash) {
        texts("file", path, file, now->second);
      }
    }
    for (const auto& [path, file] : after.files) {
      if (before.files.count(path) == 0) add("file", path, "", cat(file.bytes, " bytes"));
    }
  }

  void code(const CodeSeen& before, const CodeSeen& after) {
    if (before.commit != after.commit) {
      add("code", "commit", before.commit.substr(0, kCommitDigits), after.commit.substr(0, kCommitDigits));
    }
    if (before.branch != after.branch) add("code", "branch", before.branch, after.branch);
    const size_t so_far = found.size() + more;
    for (const auto& [path, diff] : before.changed) {
      const auto now = after.changed.find(path);
      if (now == after.changed.end()) {
        // On another commit the edit may have been committed: that is the commit's difference.
        if (before.commit == after.commit) add("code", path, shown(edits_of(diff)), "");
      } else if (now->second != diff) {
        auto [gone, come] = differing_lines(edits_of(diff), edits_of(now->second));
        if (!gone.empty() || !come.empty()) add("code", path, std::move(gone), std::move(come));
      }
    }
    for (const auto& [path, diff] : after.changed) {
      if (before.changed.count(path) == 0) add("code", path, "", shown(edits_of(diff)));
    }
    if (before.commit == after.commit && before.hash != after.hash && found.size() + more == so_far) {
      add("code", "uncommitted changes", cat("diff ", before.hash), cat("diff ", after.hash));
    }
    for (const std::string& path : after.untracked) {
      if (std::find(before.untracked.begin(), before.untracked.end(), path) == before.untracked.end()) {
        add("code", path, "", "a new file that git does not know");
      }
    }
  }

 private:
  static std::string_view disk_of(std::string_view fact) {
    return fact.starts_with(kNotThere) ? fact.substr(kNotThere.size()) : fact;
  }

  void values(std::string_view what, const std::string& name, const std::string& before, const std::string& after) {
    // Of a long list, as PATH is one, the parts that differ.
    if (before.size() + after.size() <= kDifferenceText || !contains(before, ":")) {
      return add(what, name, shown(before), shown(after));
    }
    std::string a = before, b = after;
    std::replace(a.begin(), a.end(), ':', '\n');
    std::replace(b.begin(), b.end(), ':', '\n');
    auto [gone, come] = differing_lines(a, b);
    gone.empty() && come.empty() ? add(what, name, shown(before), shown(after))
                                 : add(what, name, std::move(gone), std::move(come));
  }

  void texts(std::string_view what, const std::string& path, const FileSeen& before, const FileSeen& after) {
    auto [gone, come] = differing_lines(before.text, after.text);
    if (gone.empty() && come.empty()) {  // no text was kept, or only what was redacted differs
      return add(what, path, cat(before.bytes, " bytes, ", before.hash), cat(after.bytes, " bytes, ", after.hash));
    }
    add(what, path, std::move(gone), std::move(come));
  }
};

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += cat(out.empty() ? "" : " ", word);
  return out;
}

}  // namespace

std::pair<std::string, std::string> differing_lines(std::string_view before, std::string_view after) {
  std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (head + tail < a.size() && head + tail < b.size() && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  a = {a.begin() + static_cast<ptrdiff_t>(head), a.end() - static_cast<ptrdiff_t>(tail)};
  b = {b.begin() + static_cast<ptrdiff_t>(head), b.end() - static_cast<ptrdiff_t>(tail)};
  if (a.size() * b.size() > kDiffCells) return {cat(a.size(), " lines"), cat(b.size(), " other lines")};
  const auto [in_a, in_b] = common(a, b);
  return {joined_without(a, in_a), joined_without(b, in_b)};
}

std::vector<Difference> differences(const Fingerprint& before, const Fingerprint& after) {
  Comparing comparing;
  // Command, files and host are looked at together.
  const bool both = before.facts.count("host") != 0 && after.facts.count("host") != 0;
  if (both && before.command != after.command) {
    std::string a, b;
    for (const std::string& word : before.command) a += word + "\n";
    for (const std::string& word : after.command) b += word + "\n";
    auto [gone, come] = differing_lines(a, b);
    std::replace(gone.begin(), gone.end(), '\n', ' ');
    std::replace(come.begin(), come.end(), '\n', ' ');
    comparing.add("command", after.command.empty() ? "" : clip(joined(after.command), 80), gone, come);
  }
  if (both && before.folder != after.folder) comparing.add("command", "working folder", before.folder, after.folder);
  if (both) comparing.files(before, after);
  if (before.code && after.code) comparing.code(*before.code, *after.code);
  for (const std::string_view group : kGroups) {
    const auto a = before.facts.find(std::string(group)), b = after.facts.find(std::string(group));
    if (a == before.facts.end() || b == after.facts.end()) continue;
    group == "disk" ? comparing.disks(a->second, b->second) : comparing.facts(group, a->second, b->second);
  }
  if (comparing.more > 0) {
    comparing.found.push_back({"more", "", "", cat(comparing.more, " further differences")});
  }
  return std::move(comparing.found);
}

}  // namespace mw
