#include "read/files/collective_trace.h"
#include "read/files/csv.h"
#include "read/files/json_document.h"
#include "read/files/jsonl.h"
#include "read/files/mlflow_file.h"
#include "read/files/sniff.h"
#include "read/files/tfevents.h"
#include "read/files/wandb.h"

namespace mw {

std::unique_ptr<Decoder> make_decoder(FileKind kind, std::string_view path) {
  switch (kind) {
    case FileKind::kJsonLines:
      return std::make_unique<JsonlDecoder>();
    case FileKind::kJsonDocument:
      return std::make_unique<JsonDocumentDecoder>(false);
    case FileKind::kJsonSettings:
      return std::make_unique<JsonDocumentDecoder>(true);
    case FileKind::kCsv:
      return std::make_unique<CsvDecoder>(names_without_header(path));
    case FileKind::kWandb:
      return std::make_unique<WandbDecoder>();
    case FileKind::kTfevents:
      return std::make_unique<TfeventsDecoder>();
    case FileKind::kMlflowMetric:
      return std::make_unique<MlflowMetricDecoder>(path);
    case FileKind::kMlflowMeta:
      return std::make_unique<MlflowMetaDecoder>();
    case FileKind::kCollectiveTrace:
      return std::make_unique<CollectiveTraceDecoder>(path);
    case FileKind::kEmpty:
    case FileKind::kText:
    case FileKind::kGzip:
    case FileKind::kZstd:
    case FileKind::kUtf16:
    case FileKind::kSqlite:
    case FileKind::kSamples:
    case FileKind::kNotebook:
    case FileKind::kBinary:
      break;
  }
  return nullptr;
}

}  // namespace mw
