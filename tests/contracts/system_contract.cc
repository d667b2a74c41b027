// What every System promises: run over this machine and over the fake, which hold the same few files.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "platform/system.h"

namespace mw {
namespace {

// The files of both: a, folder/b, links/to_a.
void files(System& system, const std::string& root) {
  CHECK(system.read(root + "/a").value() == "hello world");
  CHECK(system.read(root + "/a", 5).value() == "hello");
  CHECK(system.read(root + "/a", 500).value() == "hello world");
  CHECK(system.read(root + "/folder/b").value().empty());
  CHECK(system.read(root + "/none").error().code == Error::Code::kNotFound);
  CHECK(system.link(root + "/links/to_a").value() == "../a");
  CHECK(system.link(root + "/links/none").error().code == Error::Code::kNotFound);
}

void folders(System& system, const std::string& root) {
  auto names = system.names(root);
  REQUIRE(names.ok());
  std::sort(names->begin(), names->end());
  CHECK(*names == std::vector<std::string>{"a", "folder", "links"});
  CHECK(system.names(root + "/folder").value() == std::vector<std::string>{"b"});
  CHECK(system.names(root + "/folder/").value() == std::vector<std::string>{"b"});
  CHECK(system.count(root).value() == 3);
  for (const char* none : {"/none", "/a"}) {  // a file is no folder
    CHECK(system.names(root + none).error().code == Error::Code::kNotFound);
    CHECK(system.count(root + none).error().code == Error::Code::kNotFound);
  }
}

void entries(System& system, const std::string& root) {
  const auto file = system.entry(root + "/a");
  REQUIRE(file.ok());
  CHECK(file->name == "a");
  CHECK(file->file);
  CHECK_FALSE(file->folder);
  CHECK(file->bytes > 0);
  const auto folder = system.entry(root + "/folder");
  REQUIRE(folder.ok());
  CHECK(folder->name == "folder");
  CHECK(folder->folder);
  CHECK_FALSE(folder->file);
  CHECK(system.entry(root + "/none").error().code == Error::Code::kNotFound);
}

void the_machine(System& system, const std::string& root) {
  const auto space = system.space(root + "/folder");
  REQUIRE(space.ok());
  CHECK(space->size > 0);
  CHECK(space->free <= space->size);
  CHECK(space->files_free <= space->files_size);
  CHECK(system.real(root + "/folder").value() == root + "/folder");
  const auto lines = system.kernel_lines();  // what lies before the first call is not returned
  CHECK((lines.ok() ? lines->empty() : !lines.error().what.empty()));
}

void run_contract(System& system, const std::string& root) {
  SUBCASE("files") { files(system, root); }
  SUBCASE("folders") { folders(system, root); }
  SUBCASE("entries") { entries(system, root); }
  SUBCASE("the machine") { the_machine(system, root); }
}

TEST_CASE("system contract: fake") {
  FakeSystem system;
  system.files = {{"/root/a", "hello world"}, {"/root/folder/b", ""}, {"/root/links/to_a", "../a"}};
  system.spaces["/root"] = {1000, 2000, 10, 20};
  run_contract(system, "/root");
}

TEST_CASE("system contract: posix") {
  std::string root = std::filesystem::canonical(std::filesystem::temp_directory_path()) / "midwatch-system-XXXXXX";
  REQUIRE(::mkdtemp(root.data()) != nullptr);
  std::filesystem::create_directories(root + "/folder");
  std::filesystem::create_directories(root + "/links");
  std::ofstream(root + "/a") << "hello world";
  std::ofstream(root + "/folder/b").flush();
  std::filesystem::create_symlink("../a", root + "/links/to_a");
  run_contract(*make_posix_system(), root);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace mw
