#include "read/books/engine_book.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "base/toml.h"
#include "read/books/archive.h"
#include "read/books/compiled.h"
#include "read/books/embedded.h"

namespace mw {
namespace {

Result<void> texts(const Toml& table, std::string_view key, std::string_view path, std::vector<std::string>& out) {
  const Toml* value = table.find(key);
  if (value == nullptr) return {};
  auto found = value->texts(path);
  if (!found.ok()) return found.error();
  for (const std::string& text : *found) {
    if (text.empty()) return value->error(path, cat("\"", key, "\" holds an empty text, which would fit everything"));
  }
  out = std::move(*found);
  return {};
}

Result<void> read_workers(const Toml& root, std::string_view path, Engine& engine) {
  const Toml* workers = root.find("worker");
  if (workers == nullptr) return {};
  for (const Toml& worker : workers->items()) {
    MW_TRY(worker.check_keys(path, {"title", "signature"}));
    engine.workers.push_back({worker.text_or("title", ""), worker.text_or("signature", "")});
    if (engine.workers.back().title.empty() || engine.workers.back().signature.empty()) {
      return worker.error(path, "a worker needs a title and a signature");
    }
  }
  return {};
}

}  // namespace

Result<Engine> parse_engine(std::string_view text, std::string_view path) {
  const auto root = Toml::parse(text, path);
  if (!root.ok()) return root.error();
  MW_TRY(
      root->check_keys(path, {"name", "titles", "programs", "serves", "idle", "shared_memory", "metrics", "worker"}));
  Engine engine;
  engine.name = root->text_or("name", "");
  if (engine.name.empty()) return root->error(path, "\"name\" is missing");
  MW_TRY(texts(*root, "titles", path, engine.titles));
  MW_TRY(texts(*root, "programs", path, engine.programs));
  MW_TRY(texts(*root, "serves", path, engine.serves));
  MW_TRY(texts(*root, "idle", path, engine.idle));
  MW_TRY(texts(*root, "shared_memory", path, engine.shared_memory));
  if (const Toml* metrics = root->find("metrics"); metrics != nullptr) {
    MW_TRY(metrics->check_keys(path, {"running", "waiting", "generated", "kv_usage"}));
    MW_TRY(texts(*metrics, "running", path, engine.running));
    MW_TRY(texts(*metrics, "waiting", path, engine.waiting));
    MW_TRY(texts(*metrics, "generated", path, engine.generated));
    MW_TRY(texts(*metrics, "kv_usage", path, engine.kv_usage));
  }
  MW_TRY(read_workers(*root, path, engine));
  return engine;
}

template <typename Archive, MaybeConst<Engine::Worker> T>
void fields(Archive& archive, T& worker) {
  auto& [title, signature] = worker;
  archive(title, signature);
}

template <typename Archive, MaybeConst<Engine> T>
void fields(Archive& archive, T& engine) {
  auto& [name, titles, programs, serves, idle, shared_memory, running, waiting, generated, kv_usage, workers] = engine;
  archive(name, titles, programs, serves, idle, shared_memory, running, waiting, generated, kv_usage, workers);
}

void write_engines(const std::vector<Engine>& engines, ArchiveWriter& out) { out(engines); }

std::vector<Engine> read_engines(ArchiveReader& in) {
  std::vector<Engine> engines;
  in(engines);
  return engines;
}

const std::vector<Engine>& built_in_engines() {
  static const std::vector<Engine> all = [] {
    std::vector<Engine> engines;
    if (const auto compiled = compiled_knowledge()) {
      ArchiveReader in(compiled->engines);
      return read_engines(in);
    }
    for (const EmbeddedFile& file : embedded_files("engines/")) {
      auto engine = parse_engine(file.bytes, file.path);
      MW_CHECK(engine.ok());
      engines.push_back(std::move(*engine));
    }
    return engines;
  }();
  return all;
}

}  // namespace mw
