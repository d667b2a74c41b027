#include "platform/real/mapped_view.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "platform/real/posix_disk.h"

namespace mw {
namespace {

/// A file of `bytes`, each of them other than 0.
struct File {
  explicit File(size_t bytes) {
    std::string name = (std::filesystem::temp_directory_path() / "midwatch-view-XXXXXX").string();
    descriptor = ::mkstemp(name.data());
    REQUIRE(descriptor >= 0);
    path = name;
    for (size_t i = 0; i < bytes; ++i) content += static_cast<char>('a' + i % 23);
    std::ofstream(path) << content;
  }
  ~File() {
    ::close(descriptor);
    std::filesystem::remove(path);
  }
  std::string path, content;
  int descriptor = -1;
};

TEST_CASE("a view shows a stretch of a file, from any offset on") {
  File file(100'000);
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{4096}, size_t{70'001}}) {
    const auto view = map_view(file.descriptor, offset, 20'000);
    REQUIRE(view != nullptr);
    CHECK(view->bytes(5, 19'995) == file.content.substr(offset + 5, 19'995));
    CHECK(view->bytes(0, 20'001).empty());  // more than it is of
    CHECK(view->bytes(20'001, 1).empty());
    CHECK(view->sound());
  }
  CHECK(map_view(file.descriptor, 90'000, 20'000) == nullptr);  // the file ends there: its last page is not in memory
  CHECK(map_view(file.descriptor, 0, 0) == nullptr);
  CHECK(map_view(-1, 0, 10) == nullptr);
}

TEST_CASE("what is cut off while it is looked at are zeros, and the view says that it is not sound") {
  File file(100'000);
  const auto view = map_view(file.descriptor, 0, 100'000), other = map_view(file.descriptor, 0, 4096);
  const std::string_view all = view->bytes(0, 100'000);
  REQUIRE(all.size() == 100'000);
  REQUIRE(::ftruncate(file.descriptor, 10'000) == 0);
  CHECK(all.substr(0, 10'000) == file.content.substr(0, 10'000));
  CHECK(view->sound());
  CHECK(all[99'000] == '\0');  // without a handler this ends the program
  CHECK_FALSE(view->sound());
  CHECK(view->bytes(50'000, 10).empty());
  CHECK(other->sound());
  CHECK(other->bytes(0, 4096) == file.content.substr(0, 4096));
}

TEST_CASE("there are views for as many as can be guarded, and again when they are gone") {
  File file(5000);
  std::vector<std::unique_ptr<FileView>> views;
  while (views.size() < 1000) {
    auto view = map_view(file.descriptor, 0, 5000);
    if (view == nullptr) break;
    views.push_back(std::move(view));
  }
  CHECK(views.size() >= 8);
  CHECK(views.size() < 1000);
  views.clear();
  CHECK(map_view(file.descriptor, 0, 5000) != nullptr);
}

TEST_CASE("what is not in memory is not mapped") {
  File file(1 << 20);
  REQUIRE(::fsync(file.descriptor) == 0);
  REQUIRE(::posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0);
  const auto cold = map_view(file.descriptor, 0, 1 << 20);
  if (cold != nullptr) return;  // a file system in memory keeps all of it
  std::string text;
  CHECK((*make_posix_disk()->open_read(file.path))->read_at(0, 1 << 20, text).ok());
  CHECK(map_view(file.descriptor, 0, 1 << 20) != nullptr);
}

TEST_CASE("files of the real disk can be mapped") {
  File file(5000);
  const auto disk = make_posix_disk();
  const auto open = disk->open_read(file.path);
  REQUIRE(open.ok());
  auto* const mappable = dynamic_cast<MappableFile*>(open->get());
  REQUIRE(mappable != nullptr);
  CHECK(mappable->view(1000, 4000)->bytes(0, 4000) == file.content.substr(1000));
}

}  // namespace
}  // namespace mw
