// What a file is, by its content first; its name only decides where the content leaves a choice.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "read/files/decoder.h"

namespace mw {

enum class FileKind : uint8_t {
  kEmpty,
  kText,          ///< a log; also Python-dict metric lines, and mostly printable text of any kind
  kGzip,          ///< look into it (plain_stream.h) and sniff again
  kZstd,          ///< likewise
  kUtf16,         ///< likewise
  kJsonLines,     ///< metric records
  kSamples,       ///< JSON lines or documents of prompts and answers: no metrics, and not the infrastructure's words
  kJsonDocument,  ///< metrics in one document
  kJsonSettings,  ///< a configuration
  kCsv,
  kWandb,
  kTfevents,
  kSqlite,           ///< trackio, MLflow: read_sqlite(), not a decoder
  kMlflowMetric,     ///< metrics/<key> of MLflow's file store
  kMlflowMeta,       ///< its meta.yaml
  kCollectiveTrace,  ///< a dump of PyTorch's flight recorder
  kNotebook,         ///< Jupyter's: what its cells put out is a log (notebook.h), not a decoder's business
  kBinary,           ///< none of these
};

/// As in event::SourceOpened::kind: "text", "jsonl", "wandb", ...
std::string_view kind_name(FileKind kind);

/// Bytes from the start of a file that sniff() should be given, where the file has them.
constexpr size_t kSniffBytes = size_t{64} << 10;

/// `head`: the start of the file, cut anywhere. `path` may be empty.
FileKind sniff(std::string_view head, std::string_view path);

/// Whether more of the beginning may show that what begins with JSON is a log all the same, which prints its settings
/// or a conversation first.
bool may_turn_out_a_log(FileKind kind, std::string_view path);

/// Whether there is anything in a file of this kind that the program reads.
bool is_readable(FileKind kind);

/// Whether a directory entry can be something that sniff() knows, by its path below the directory that is being read
/// and its size; false for weights, checkpoints' innards, images, archives, caches and the like. Folders: size 0.
bool worth_reading(std::string_view path, int64_t size);

/// A decoder for one file of this kind; nullptr for those that are no decoder's business (kEmpty, kText, kGzip, kZstd,
/// kUtf16, kSqlite, kSamples, kNotebook, kBinary). `path` gives MLflow's metric files their name.
std::unique_ptr<Decoder> make_decoder(FileKind kind, std::string_view path = {});

}  // namespace mw
