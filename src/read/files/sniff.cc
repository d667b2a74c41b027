#include "read/files/sniff.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/byte_set.h"
#include "base/checksum.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/one_of.h"
#include "base/text.h"
#include "read/files/collective_trace.h"
#include "read/files/csv.h"
#include "read/files/json_value.h"
#include "read/files/notebook.h"
#include "read/files/tfevents.h"
#include "read/files/utf16_text.h"
#include "read/lines/container_line.h"
#include "read/lines/sample_name.h"
#include "read/lines/wrapped_line.h"

namespace mw {
namespace {

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }
bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Magic numbers of what is surely not for us: zip (torch, npz, xlsx), pickle, PNG, JPEG, GIF, PDF, ELF, parquet,
/// Arrow, HDF5, NumPy, xz, bzip2, Python byte code is left to worth_reading().
bool is_known_binary(std::string_view head) {
  constexpr std::array<std::string_view, 16> kMagics = {"PK\x03\x04",
                                                        "\x80\x02",
                                                        "\x80\x03",
                                                        "\x80\x04",
                                                        "\x80\x05",
                                                        "\x89PNG",
                                                        "\xff\xd8\xff",
                                                        "GIF8",
                                                        "%PDF-",
                                                        "\x7f"
                                                        "ELF",
                                                        "PAR1",
                                                        "ARROW1",
                                                        "\x89HDF\r\n",
                                                        "\x93NUMPY",
                                                        "\xfd"
                                                        "7zXZ",
                                                        "BZh9"};
  return std::any_of(kMagics.begin(), kMagics.end(), [&](std::string_view magic) { return starts_with(head, magic); });
}

bool is_tfevents(std::string_view head, std::string_view path) {
  if (head.size() < 12) return contains(basename(path), "tfevents");
  uint64_t size = 0;
  uint32_t checksum = 0;
  std::memcpy(&size, head.data(), 8);
  std::memcpy(&checksum, head.data() + 8, 4);
  if (size > 0 && size <= kEventRecordLimit && mask_crc32c(crc32c(head.substr(0, 8))) == checksum) return true;
  return contains(basename(path), "tfevents") && head.find('\0') != std::string_view::npos;
}

/// A name that nothing else bears, whatever has become of the content's magic bytes; kBinary when it says nothing.
FileKind claims_to_be(std::string_view path) {
  const std::string_view name = basename(path);
  if (ends_with(name, ".wandb")) return FileKind::kWandb;
  const bool store = name == "mlflow.db" || (ends_with(name, ".db") && contains(path, "trackio/"));
  return store ? FileKind::kSqlite : FileKind::kBinary;
}

/// Whether the eight bytes from `at` on are printable ASCII.
bool are_printable(std::string_view text, size_t at) {
  constexpr uint64_t kEach = 0x0101010101010101;
  if (text.size() - at < 8) return false;
  uint64_t eight = 0;
  std::memcpy(&eight, text.data() + at, sizeof(eight));
  return ((eight | (eight - kEach * 0x20) | (eight + kEach)) & (kEach * 0x80)) == 0;
}

/// Text that a log may hold: at most 30 % of the bytes are control characters or broken UTF-8; or hardly any is a
/// control character, as in text of another encoding (GBK, Latin-1), of which noise has one in ten. A log that was
/// truncated under its writer has a hole of NUL bytes, at its beginning or behind what another writer began: they do
/// not count. Nothing but NUL is no text.
bool is_mostly_text(std::string_view head) {
  constexpr size_t kHole = 64;  // fewer in a row are those of a binary format
  size_t bad = 0, nul = 0, controls = 0, expected = 0, hole = 0;
  for (size_t i = 0; i < head.size(); ++i) {
    if (expected == 0 && are_printable(head, i)) {
      i += 7;
      continue;
    }
    if (head[i] == '\0') {
      const size_t end = std::min(head.find_first_not_of('\0', i), head.size());
      if (i == 0 || end - i >= kHole) {
        hole += end - i;
        i = end - 1;
        expected = 0;
        continue;
      }
    }
    const char c = head[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) {
      ++nul;
    } else if (expected > 0 && (byte & 0xc0) == 0x80) {
      --expected;
    } else if (byte >= 0x80) {
      expected = byte >= 0xf0 && byte < 0xf8 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc2 ? 1 : 0;
      bad += byte < 0xc2 || byte >= 0xf8;
    } else {
      bad += expected > 0;
      expected = 0;
      const bool control = byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\x1b' && c != '\b' && c != '\f';
      bad += control || byte == 0x7f;
      controls += control || byte == 0x7f;
    }
  }
  const size_t all = head.size() - hole, others = all - nul;
  const bool other_encoding = nul == 0 && controls * 100 <= others && head.find('\n') != std::string_view::npos;
  return others > 0 && (bad * 10 <= others * 3 || other_encoding) && nul * 4 <= all;
}

/// Notes what the leaves of a record are, to distinguish metrics from samples and from log lines in JSON clothes.
class RecordShape : public JsonLeaves {
  static constexpr std::array<std::string_view, 6> kOfStep = {"lr",          "learning_rate", "grad_norm",
                                                              "mean_reward", "reward_mean",   "avg_reward"};

 public:
  void number(std::string_view path, double) override {
    if (!contains_folded(path, "time") && path != "ts" && path != "pid") ++numbers;
    of_step = of_step || is_of_step(path);
  }
  static bool is_of_step(std::string_view name) { return is_one_of(name, kOfStep); }
  void string(std::string_view path, std::string_view value) override {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (is_sample_name(name) || value.size() > 1000) sample = true;
    if (name == "msg" || name == "message" || name == "log") message = true;
    if (parse_double(value)) ++numbers;
  }
  bool enter_array(std::string_view path) override {
    if (is_sample_name(path.substr(path.rfind('/') + 1))) sample = true;
    return false;
  }
  size_t numbers = 0;
  bool sample = false;
  bool of_step = false;  // no single sample has such numbers; a row of a step may show one of its samples
  bool message = false;
};

/// Whether a document's head names a member like those of samples, with text or a list in it.
bool looks_like_samples(std::string_view head) {
  for (size_t at = head.find('"'); at != std::string_view::npos;) {
    const size_t end = head.find('"', at + 1);
    if (end == std::string_view::npos) return false;
    const size_t colon = skip_json_space(head, end + 1);
    if (colon < head.size() && head[colon] == ':') {
      const size_t value = skip_json_space(head, colon + 1);
      const bool text = value < head.size() && (head[value] == '"' || head[value] == '[');
      if (text && is_sample_name(head.substr(at + 1, end - at - 1))) return true;
    }
    at = head.find('"', end + 1);
  }
  return false;
}

/// Whether a document's head is that of step records which show their samples: the first numbers that it names are a
/// step's, and an optimizer's figure is among them, or a loss of each of two steps.
bool has_step_records(std::string_view head) {
  static constexpr std::array<std::string_view, 7> kSteps = {"step",          "global_step", "iteration", "episode",
                                                             "training_step", "update",      "iter"};
  bool step = false;
  std::string_view with_loss, last;  // steps, as they are written
  for (size_t at = head.find('"'); at != std::string_view::npos;) {
    const size_t end = head.find('"', at + 1);
    if (end == std::string_view::npos) return false;
    const std::string_view name = head.substr(at + 1, end - at - 1);
    const size_t colon = skip_json_space(head, end + 1);
    const bool member = colon < head.size() && head[colon] == ':';
    const size_t value = member ? skip_json_space(head, colon + 1) : head.size();
    if (value < head.size() && (head[value] == '-' || (head[value] >= '0' && head[value] <= '9'))) {
      if (RecordShape::is_of_step(name) && step) return true;
      if (is_one_of(name, kSteps) || name.ends_with("_step")) {
        step = true;
        last = head.substr(value, head.find_first_not_of("0123456789", value) - value);
      } else if (name == "loss" && step) {
        if (!with_loss.empty() && with_loss != last) return true;
        with_loss = last;
      }
    }
    at = head.find('"', end + 1);
  }
  return false;
}

bool is_settings_name(std::string_view path) {
  const std::string name = to_lower(basename(path));
  for (const std::string_view word :
       {"config", "args", "hparams", "hyperparam", "metadata", "params", "settings", "options"}) {
    if (contains(name, word)) return true;
  }
  return false;
}

FileKind json_document_kind(std::string_view head, std::string_view path) {
  if (contains(head, "\"log_history\"")) return FileKind::kJsonDocument;
  if (is_settings_name(path) && head[0] == '{') return FileKind::kJsonSettings;
  return looks_like_samples(head) && !has_step_records(head) ? FileKind::kSamples : FileKind::kJsonDocument;
}

/// Whether the lines of a log stand behind the JSON that ends at `at`: lines that are no JSON, nor a piece of some.
bool log_follows(std::string_view head, size_t at) {
  static constexpr ByteSet kJsonBegins("{[\"]},"), kJsonEnds("}],\"");
  for (at = skip_json_space(head, at); at < head.size();) {
    const size_t end = head.find('\n', at);
    if (end == std::string_view::npos) return false;  // it is still being written
    const std::string_view line = trim(head.substr(at, end - at));
    if (!line.empty() && !kJsonBegins.holds(line.front()) && !kJsonEnds.holds(line.back())) return true;
    at = end + 1;
  }
  return false;
}

/// A document, or a log that begins with one: with its settings, printed over several lines.
FileKind document_or_log(std::string_view head, std::string_view path) {
  const bool named = ends_with(to_lower(basename(path)), ".json");
  const size_t end = named ? std::string_view::npos : skip_json_value(head, 0);
  if (end != std::string_view::npos && log_follows(head, end)) return FileKind::kText;
  return json_document_kind(head, path);
}

/// `head` begins with '{' or '['.
FileKind json_kind(std::string_view head, std::string_view path, bool whole) {
  const size_t second = skip_json_space(head, 1);
  if (second >= head.size()) return whole ? FileKind::kText : FileKind::kJsonDocument;
  if (head[0] == '[') {
    // "[2026-01-01 …] INFO" is a log, "[{'a': 1}]" Python's.
    const size_t third = skip_json_space(head, second + 1);
    const bool record = head[second] == '{' && third < head.size() && (head[third] == '"' || head[third] == '}');
    return record ? document_or_log(head, path) : FileKind::kText;
  }
  if (head[second] != '"' && head[second] != '}') return FileKind::kText;  // Python's {'a': 1}, or no JSON at all
  const std::string name = to_lower(basename(path));
  const size_t end = head.find('\n');
  const std::string_view line = trim(head.substr(0, end));
  std::string unwrapped;
  const bool rows = ends_with(name, ".jsonl") || ends_with(name, ".ndjson");
  if ((may_be_container_line(line) && unwrap_container_line(line, unwrapped)) ||
      (!rows && unwrap_line(line, unwrapped))) {
    return FileKind::kText;  // what it holds may be JSON again, or a sample: it is one line of the log all the same
  }
  RecordShape shape;
  if (!for_each_leaf(line, shape)) {
    if (ends_with(name, ".jsonl") || ends_with(name, ".ndjson")) return FileKind::kJsonLines;
    const bool pretty = end != std::string_view::npos &&
                        (line.size() == 1 || line.back() == ',' || line.back() == '{' || line.back() == '[');
    return pretty || end == std::string_view::npos || ends_with(name, ".json") ? document_or_log(head, path)
                                                                               : FileKind::kText;
  }
  const size_t next = end == std::string_view::npos ? head.size() : skip_json_space(head, end);
  const bool single = next >= head.size() && whole;
  if (single && !ends_with(name, ".jsonl") && (ends_with(name, ".json") || end == std::string_view::npos)) {
    return json_document_kind(head, path);
  }
  if (shape.sample && !shape.of_step) {
    return !ends_with(name, ".jsonl") && log_follows(head, next) ? FileKind::kText : FileKind::kSamples;
  }
  if (shape.message && !ends_with(name, ".jsonl")) return FileKind::kText;  // a log with JSON lines
  if (next < head.size() && head[next] != '{') return FileKind::kText;
  return FileKind::kJsonLines;
}

/// The cells of a header or record, quotes respected roughly.
std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  size_t begin = 0;
  bool quoted = false;
  for (size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i == line.size() || (line[i] == separator && !quoted)) {
      cells.push_back(line.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return cells;
}

bool is_csv_with(std::string_view header, std::string_view second, char separator, bool named) {
  const auto names = cells_of(header, separator);
  const auto values = cells_of(second, separator);
  if (names.size() < 2 || names.size() != values.size()) return false;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = trim(names[i]);
    if (parse_double(name) || name.size() > 200) return false;
    if (!named && (name.size() > 80 || (i > 0 && name.empty()) || (i > 0 && starts_with(names[i], " ")))) return false;
  }
  return named ||
         std::any_of(values.begin(), values.end(), [](auto cell) { return parse_double(trim(cell)).has_value(); });
}

bool is_csv(std::string_view head, std::string_view path) {
  const size_t first_end = head.find('\n');
  if (first_end == std::string_view::npos) return false;
  const std::string name = to_lower(basename(path));
  const bool named = ends_with(name, ".csv") || ends_with(name, ".tsv");
  const size_t second_end = head.find('\n', first_end + 1);
  const std::string_view header = trim(head.substr(0, first_end));
  const std::string_view second =
      head.substr(first_end + 1, second_end == std::string_view::npos ? second_end : second_end - first_end - 1);
  if (!names_without_header(path).empty() && is_row_of_numbers(header)) return true;
  const bool torn = second_end == std::string_view::npos;  // a line that is still being written proves nothing
  if (trim(second).empty() || (torn && !named)) return named && header.find_first_of(",;\t") != std::string_view::npos;
  for (const char separator : {',', '\t', ';'}) {
    if (is_csv_with(header, trim(second), separator, named)) return true;
  }
  return false;
}

bool is_mlflow_metric(std::string_view head, std::string_view path) {
  if (!contains(path, "/metrics/")) return false;
  const auto fields = split(trim(head.substr(0, head.find('\n'))), ' ');
  return fields.size() >= 2 && fields[0].size() >= 10 && parse_int(fields[0]) && parse_double(fields[1]);
}

}  // namespace

bool may_turn_out_a_log(FileKind kind, std::string_view path) {
  const std::string name = to_lower(basename(path));
  const bool named = ends_with(name, ".json") || ends_with(name, ".jsonl") || ends_with(name, ".ndjson");
  const bool json = kind == FileKind::kSamples || kind == FileKind::kJsonDocument || kind == FileKind::kJsonSettings;
  return json && !named;
}

bool is_readable(FileKind kind) { return kind != FileKind::kSamples && kind != FileKind::kBinary; }

std::string_view kind_name(FileKind kind) {
  switch (kind) {
    case FileKind::kEmpty:
      return "empty";
    case FileKind::kText:
      return "text";
    case FileKind::kGzip:
      return "gzip";
    case FileKind::kZstd:
      return "zstd";
    case FileKind::kUtf16:
      return "utf16";
    case FileKind::kJsonLines:
      return "jsonl";
    case FileKind::kSamples:
      return "samples";
    case FileKind::kJsonDocument:
      return "json";
    case FileKind::kJsonSettings:
      return "settings";
    case FileKind::kCsv:
      return "csv";
    case FileKind::kWandb:
      return "wandb";
    case FileKind::kNotebook:
      return "notebook";
    case FileKind::kTfevents:
      return "tfevents";
    case FileKind::kSqlite:
      return "sqlite";
    case FileKind::kMlflowMetric:
      return "mlflow";
    case FileKind::kMlflowMeta:
      return "mlflow-meta";
    case FileKind::kCollectiveTrace:
      return "collective-trace";
    case FileKind::kBinary:
      break;
  }
  return "binary";
}

FileKind sniff(std::string_view head, std::string_view path) {
  const bool whole = head.size() < kSniffBytes;
  if (head.empty()) return FileKind::kEmpty;
  if (starts_with(head, "\x1f\x8b\x08")) return FileKind::kGzip;
  if (starts_with(head, "\x28\xb5\x2f\xfd")) return FileKind::kZstd;
  if (utf16_of(head)) return FileKind::kUtf16;
  if (starts_with(head, "\x3a\x57\x26\x42\xe1\xbe")) return FileKind::kWandb;
  if (starts_with(head, std::string_view("SQLite format 3\0", 16))) return FileKind::kSqlite;
  if (claims_to_be(path) != FileKind::kBinary) return claims_to_be(path);
  if (is_collective_trace(head)) return FileKind::kCollectiveTrace;
  if (is_known_binary(head)) return FileKind::kBinary;
  if (is_tfevents(head, path)) return FileKind::kTfevents;
  if (!is_mostly_text(head)) return FileKind::kBinary;
  std::string_view text = head;
  if (starts_with(text, "\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(skip_json_space(text, 0));
  if (text.empty()) return FileKind::kText;
  if (is_notebook(text, path)) return FileKind::kNotebook;
  if (text[0] == '{' || text[0] == '[') return json_kind(text, path, whole);
  if (is_mlflow_metric(text, path)) return FileKind::kMlflowMetric;
  if (basename(path) == "meta.yaml" && (contains(text, "run_id:") || contains(text, "run_uuid:")))
    return FileKind::kMlflowMeta;
  if (starts_with(text, "#{")) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);  // before a header
  return is_csv(text, path) ? FileKind::kCsv : FileKind::kText;
}

namespace {

// Folders that hold no words of a run.
constexpr std::array<std::string_view, 16> kForeignFolders = {
    ".git",        ".svn",          ".hg",           "node_modules", "__pycache__",
    ".venv",       "venv",          "site-packages", ".cache",       ".ipynb_checkpoints",
    ".mypy_cache", ".pytest_cache", ".midwatch",     "media",        "artifacts",
    ".trash"};

// Ends of names: weights and optimizer states, data sets, images, sound, archives, byte code, source code, documents.
constexpr std::array<std::string_view, 60> kForeignEnds = {
    ".pt",   ".pth",   ".ckpt", ".bin",    ".safetensors", ".distcp", ".metadata", ".onnx",   ".gguf",   ".h5",
    ".npy",  ".npz",   ".pkl",  ".pickle", ".parquet",     ".arrow",  ".feather",  ".avro",   ".model",  ".png",
    ".jpg",  ".jpeg",  ".gif",  ".webp",   ".svg",         ".pdf",    ".mp4",      ".mp3",    ".wav",    ".zip",
    ".tar",  ".tgz",   ".xz",   ".bz2",    ".7z",          ".whl",    ".so",       ".o",      ".a",      ".pyc",
    ".py",   ".ipynb", ".cu",   ".cc",     ".cpp",         ".h",      ".hpp",      ".js",     ".ts",     ".css",
    ".html", ".htm",   ".lock", ".synced", ".index.json",  ".index",  ".tar.gz",   ".db-wal", ".db-shm", ".md"};

// Files that come with a model or a package.
constexpr std::array<std::string_view, 14> kForeignNames = {"tokenizer.json",
                                                            "tokenizer_config.json",
                                                            "vocab.json",
                                                            "merges.txt",
                                                            "special_tokens_map.json",
                                                            "added_tokens.json",
                                                            "generation_config.json",
                                                            "preprocessor_config.json",
                                                            "processor_config.json",
                                                            "package.json",
                                                            "package-lock.json",
                                                            "requirements.txt",
                                                            "chat_template.jinja",
                                                            "core"};

}  // namespace

bool worth_reading(std::string_view path, int64_t size) {
  constexpr int64_t kSettingsLimit = 64 << 20;  // bytes; a JSON document beyond is a data set
  const auto parts = mw::split(path, '/');
  for (const std::string_view part : parts) {
    if (std::find(kForeignFolders.begin(), kForeignFolders.end(), part) != kForeignFolders.end()) return false;
  }
  const std::string name = to_lower(basename(path));
  if (std::find(kForeignNames.begin(), kForeignNames.end(), name) != kForeignNames.end()) return false;
  if (starts_with(name, "core.") && parse_int(std::string_view(name).substr(5))) return false;  // core dumps
  if (contains(path, "mlruns/") && (contains(path, "/params/") || contains(path, "/tags/"))) return false;
  if (ends_with(name, ".json") && size > kSettingsLimit) return false;
  return std::none_of(kForeignEnds.begin(), kForeignEnds.end(),
                      [&](std::string_view end) { return ends_with(name, end); });
}

}  // namespace mw
