#include "sense/checkpoints/other_format.h"

#include <array>
#include <utility>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/file_role.h"

namespace mw {

std::string_view other_format_of(std::string_view head, bool packed) {
  using namespace std::string_view_literals;
  if (head.starts_with("version https://git-lfs"))
    return "a pointer of git-lfs: the file itself was not fetched (git lfs pull)";
  const std::string begin = to_lower(trim(head.substr(0, 64)));
  for (const std::string_view page : {"<!doctype", "<html", "<?xml", "<error"}) {
    if (begin.starts_with(page)) return "a page of HTML or XML, as a server answers instead of a file";
  }
  if (!packed) return "";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kArchives = {
      {{"\x1f\x8b"sv, "an archive of gzip"},
       {"\x28\xb5\x2f\xfd"sv, "an archive of zstd"},
       {"\xfd"
        "7zXZ"sv,
        "an archive of xz"},
       {"BZh"sv, "an archive of bzip2"},
       {"PK\x03\x04"sv, "an archive of zip, as torch.save writes it"},
       {"\x89HDF"sv, "a file of HDF5"}}};
  for (const auto& [magic, what] : kArchives) {
    if (head.starts_with(magic)) return what;
  }
  return "";
}

bool is_for_other_programs(std::string_view name) {
  constexpr std::array<std::string_view, 5> kEndings = {"gguf", "msgpack", "h5", "npy", "npz"};
  return is_one_of(ending_of(name), kEndings);
}

}  // namespace mw
