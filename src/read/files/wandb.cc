#include "read/files/wandb.h"

#include <cmath>
#include <limits>

#include "base/checksum.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "read/files/json_value.h"
#include "read/files/wandb_item.h"

namespace mw {
namespace {

constexpr size_t kBlock = 32768;  // bytes; chunks do not cross its multiples
constexpr size_t kHeader = 7;     // bytes, of the file and of each chunk
constexpr std::string_view kMagic("\x3a\x57\x26\x42\xe1\xbe", 6);
constexpr size_t kArgumentsLimit = 200;  // command-line arguments kept

// Numbers of wandb_internal.proto's Record.
enum Field : uint32_t {
  kHistory = 2,
  kSummary = 3,
  kOutput = 4,
  kConfig = 5,
  kStats = 7,
  kTensorBoard = 9,
  kAlert = 10,
  kMetric = 12,
  kOutputRaw = 13,
  kRun = 17,
  kExit = 18,
  kVersion = 21,
  kPreempting = 23,
  kEnvironment = 26,
  kOutputLogger = 27
};

uint32_t little32(const char* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, 4);
  return value;
}

Time timestamp(std::string_view body) {
  int64_t seconds = 0, nanos = 0;
  for (ProtoReader reader(body); reader.next();) {
    if (reader.field() == 1) seconds = reader.integer();
    if (reader.field() == 2) nanos = reader.integer();
  }
  if (seconds < 0 || seconds > 4'000'000'000 || nanos < 0 || nanos > 999'999'999) return {};
  return {seconds * 1'000'000'000 + nanos};
}

class ValueLeaves : public JsonLeaves {
 public:
  ValueLeaves(RowBuilder& row, std::string_view key) : row_(row), key_(key) {}
  void number(std::string_view path, double value) override { row_.add_number(row_.keep_joined(key_, path), value); }
  void string(std::string_view path, std::string_view value) override {
    row_.add_text(row_.keep_joined(key_, path), row_.keep(value));
  }
  bool enter_array(std::string_view) override { return false; }

 private:
  RowBuilder& row_;
  std::string_view key_;
};

}  // namespace

void WandbDecoder::feed(std::string_view bytes, RecordSink& sink) {
  buffer_.feed(bytes, wanted_, [&](std::string_view view) { return consume(view, sink); });
}

size_t WandbDecoder::consume(std::string_view view, RecordSink& sink) {
  const size_t size = view.size();
  while (!view.empty()) {
    wanted_ = 1;
    size_t used = 0;
    if (dead_) {
      used = view.size();
    } else if (skip_ > 0) {
      used = skip_ < view.size() ? static_cast<size_t>(skip_) : view.size();
      pass_over(view.substr(0, used));
      skip_ -= used;
    } else if (!begun_) {
      if (view.size() < kHeader) return wanted_ = kHeader, size - view.size();
      used = begin(view, sink) ? kHeader : 0;
    } else {
      used = next_chunk(view, sink);
      if (used == 0 && skip_ == 0) break;
    }
    offset_ += used;
    view.remove_prefix(used);
    if (!assembling_ && !dead_) consumed_ = offset_;
  }
  return size - view.size();
}

bool WandbDecoder::begin(std::string_view view, RecordSink& sink) {
  const bool marked = view.substr(0, kMagic.size()) == kMagic;
  begun_ = !marked || view[6] <= 1;
  if (!begun_) {
    sink.problem("not-a-record", "this W&B run file is of a newer kind", 0);
    dead_ = true;
  } else if (!marked) {
    sink.problem("not-a-record", "this is no W&B run file, or its first 7 bytes are damaged", 0);
    damage_.add(0, kHeader);
  }
  return begun_;
}

/// Bytes of the chunk at the start of `view`; 0 when more are wanted, or when skip_ says how to go on.
size_t WandbDecoder::next_chunk(std::string_view view, RecordSink& sink) {
  const size_t left = kBlock - static_cast<size_t>(offset_ % kBlock);
  if (left < kHeader) return skip_ = left, 0;
  if (view.size() < kHeader) return wanted_ = kHeader, 0;
  const uint32_t checksum = little32(view.data());
  const size_t size = static_cast<unsigned char>(view[4]) | static_cast<size_t>(static_cast<unsigned char>(view[5]))
                                                                << 8;
  const unsigned type = static_cast<unsigned char>(view[6]);
  if (checksum == 0 && size == 0 && type == 0) {
    if (!zeros_) zeros_from_ = offset_;
    zeros_ = true;
    return skip_ = left, 0;
  }
  if (kHeader + size > left || type < 1 || type > 4) return drop_block("impossible chunk", sink), 0;
  if (view.size() < kHeader + size) return wanted_ = kHeader + size, 0;
  if (crc32_ieee(view.substr(6, 1 + size)) != checksum) return drop_block("checksum of a chunk differs", sink), 0;
  report_hole(sink);
  chunk(type, view.substr(kHeader, size), sink);
  return kHeader + size;
}

void WandbDecoder::pass_over(std::string_view bytes) { bytes_behind_ = bytes_behind_ || (zeros_ && !is_zeros(bytes)); }

/// Zeros in the middle of the file: a page that was never written, or was lost.
void WandbDecoder::report_hole(RecordSink& sink) {
  if (!zeros_) return;
  zeros_ = bytes_behind_ = false;
  bad_checksum_.report(
      sink,
      cat("zeros in place of records from byte ", zeros_from_, " on; ", offset_ - zeros_from_, " bytes are left out"),
      records_ + 1);
  damage_.add(zeros_from_, offset_ - zeros_from_);
}

/// Does a whole chunk stand behind the first byte, so that the one before it is not merely still being written?
bool WandbDecoder::holds_chunk(std::string_view view) const {
  for (size_t at = 1; at + kHeader < view.size(); ++at) {
    const size_t size =
        static_cast<unsigned char>(view[at + 4]) | static_cast<size_t>(static_cast<unsigned char>(view[at + 5])) << 8;
    const auto type = static_cast<unsigned char>(view[at + 6]);
    if (type < 1 || type > 4 || size == 0 || at + kHeader + size > view.size()) continue;
    if (crc32_ieee(view.substr(at + 6, 1 + size)) == little32(view.data() + at)) return true;
  }
  return false;
}

/// Was the file cut, rather than damaged, at its end?
bool WandbDecoder::report_tail(RecordSink& sink) {
  const uint64_t size = offset_ + buffer_.pending().size();
  if (zeros_ && (bytes_behind_ || !is_zeros(buffer_.pending()))) report_hole(sink);
  if (holds_chunk(buffer_.pending())) {
    bad_checksum_.report(sink,
                         cat("the length of the chunk at byte ", offset_, " is garbled; the last ",
                             buffer_.pending().size(), " bytes are left out"),
                         records_ + 1);
    damage_.add(offset_, buffer_.pending().size());
    assembling_ = false;
  } else if (zeros_ && damage_.any()) {
    damage_.add(zeros_from_, size - zeros_from_);
  } else if (zeros_) {
    sink.problem("torn-tail", cat("the last ", size - zeros_from_, " bytes, from byte ", zeros_from_, " on, are zeros"),
                 records_ + 1);
  } else if (assembling_ || !buffer_.pending().empty()) {
    return true;
  }
  return false;
}

void WandbDecoder::drop_block(std::string_view why, RecordSink& sink) {
  report_hole(sink);
  skip_ = kBlock - offset_ % kBlock;
  damage_.add(offset_, skip_);
  bad_checksum_.report(sink, cat(why, " at byte ", offset_, "; the rest of its 32 KiB block is left out"),
                       records_ + 1);
  assembling_ = false;
  assembled_.clear();
}

void WandbDecoder::chunk(unsigned type, std::string_view payload, RecordSink& sink) {
  enum : unsigned { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };
  if (type == kFull || type == kFirst) {
    if (assembling_) not_a_record_.report(sink, cat("a record without its end before byte ", offset_), records_ + 1);
    assembling_ = type == kFirst;
    too_long_ = false;
    assembled_.clear();
    if (type == kFull) return record(payload, sink);
  } else if (!assembling_) {
    return;  // the rest of a record whose start was dropped, which has been said
  }
  if (assembled_.size() + payload.size() > kWandbRecordLimit) too_long_ = true;
  if (!too_long_) assembled_.append(payload);
  if (type != kLast) return;
  assembling_ = false;
  if (too_long_) {
    ++records_;
    sink.problem("line-too-long", "a record of more than 64 MiB was left out", records_);
  } else {
    record(assembled_, sink);
  }
  if (assembled_.capacity() > (size_t{1} << 20)) assembled_ = std::string();
}

void WandbDecoder::finish(RecordSink& sink) {
  if (dead_) return;
  console_.finish(sink);
  hand_over_summary(sink);
  if (report_tail(sink)) {
    sink.problem("torn-tail", cat("the last record, at byte ", consumed_, ", is incomplete"), records_ + 1);
  }
  damage_.report(sink, offset_ + buffer_.pending().size());
}

void WandbDecoder::record(std::string_view bytes, RecordSink& sink) {
  ++records_;
  ProtoReader reader(bytes);
  while (reader.next()) {
    if (!reader.is_bytes()) continue;
    if (reader.field() == kHistory) {
      history(reader.bytes(), sink);
    } else {
      other_record(reader.field(), reader.bytes(), sink);
    }
  }
  if (!reader.good()) not_a_record_.report(sink, "a record is garbled though its checksum holds", records_);
}

void WandbDecoder::other_record(uint32_t field, std::string_view body, RecordSink& sink) {
  switch (field) {
    case kStats:
      return stats(body, sink);
    case kOutput:
    case kOutputRaw:
      return output(body, sink);
    case kSummary:
      return static_cast<void>(summary_.assign(body));
    case kConfig:
      return config(body, "config", sink);
    case kRun:
      return run(body, sink);
    case kEnvironment:
      return environment(body, sink);
    case kExit:
      return exit(body, sink);
    case kPreempting:
      return put_property(sink, "run/preempting", "true");
    default:
      break;
  }
  for (ProtoReader reader(body); reader.next();) {
    if (field == kOutputLogger && reader.field() == 1) console_.feed(reader.bytes(), 0, last_, sink);
    if (field == kTensorBoard && reader.field() == 1) put_property(sink, "run/tensorboard_dir", reader.bytes());
    if (field == kAlert && reader.field() == 1) put_property(sink, "run/alert", reader.bytes());
    if (field == kMetric && reader.field() == 4) put_property(sink, "run/step_metric", reader.bytes());
    if (field != kVersion || reader.field() != 1) continue;
    for (ProtoReader version(reader.bytes()); version.next();) {
      if (version.field() == 1) put_property(sink, "run/wandb_version", version.bytes());
    }
  }
}

void WandbDecoder::add_value(std::string_view key, std::string_view json) {
  double value = 0;
  if (read_json_number(json, value)) {
    row_.add_number(key, value);
    return;
  }
  if (json.empty()) return;
  if (json[0] == '"') {
    std::string_view text;
    if (read_json_string(json, scratch_, text))
      row_.add_text(key, text.data() == scratch_.data() ? row_.keep(text) : text);
  } else if (json[0] == '{' && !contains(json.substr(0, 4096), "\"_type\"")) {  // a type marks media: image, table, ...
    ValueLeaves leaves(row_, key);
    for_each_leaf(json, leaves);
  }
}

void WandbDecoder::history(std::string_view body, RecordSink& sink) {
  int64_t step = kNoStep;
  Time at;
  for (ProtoReader reader(body); reader.next();) {
    if (reader.field() == 2) {
      step = 0;  // its only field is left out when it is 0
      for (ProtoReader inner(reader.bytes()); inner.next();) {
        if (inner.field() == 1) step = inner.integer();
      }
      continue;
    }
    if (reader.field() != 1) continue;
    const WandbItem item = read_wandb_item(reader.bytes(), row_);
    add_value(item.key, item.json);
    if (item.key.empty() || item.key[0] != '_' || row_.numbers().empty()) continue;
    if (row_.numbers().back().key != item.key) continue;
    const double value = row_.numbers().back().value;
    if (item.key == "_step") step = step_from_number(value);
    if (item.key == "_timestamp") at = time_from_epoch(value);
  }
  if (at > last_) last_ = at;
  row_.hand_over(sink, records_, step, at);
}

/// Whether each of its names came before with a value of that kind.
bool WandbDecoder::names_known(std::string_view system_record) {
  bool all = true;
  for (ProtoReader reader(system_record); reader.next();) {
    if (reader.field() == 3) all = !known_.insert(read_wandb_item(reader.bytes(), row_).kind()).second && all;
  }
  row_.clear();
  return all;
}

void WandbDecoder::stats(std::string_view body, RecordSink& sink) {
  if (sink.names_only() && names_known(body)) return;
  Time at;
  for (ProtoReader reader(body); reader.next();) {
    if (reader.field() == 2) at = timestamp(reader.bytes());
    if (reader.field() != 3) continue;
    const WandbItem item = read_wandb_item(reader.bytes(), row_);
    add_value(row_.keep_joined("system", item.key), item.json);
  }
  if (at > last_) last_ = at;
  row_.hand_over(sink, records_, kNoStep, at, true);
}

void WandbDecoder::output(std::string_view body, RecordSink& sink) {
  size_t stream = 0;
  Time at = last_;
  std::string_view line;
  for (ProtoReader reader(body); reader.next();) {
    if (reader.field() == 1) stream = reader.value() == 1 ? 1 : 0;
    if (reader.field() == 2) at = timestamp(reader.bytes());
    if (reader.field() == 3) line = reader.bytes();
  }
  if (at > last_) last_ = at;
  console_.feed(line, stream, at, sink);
}

void WandbDecoder::config(std::string_view body, std::string_view prefix, RecordSink& sink) {
  for (ProtoReader reader(body); reader.next();) {
    if (reader.field() != 1) continue;
    const WandbItem item = read_wandb_item(reader.bytes(), row_);
    if (item.key.substr(0, 6) == "_wandb") continue;  // the client's own bookkeeping
    put_json_properties(sink, cat(prefix, '/', item.key), item.json);
  }
  row_.clear();
}

void WandbDecoder::run(std::string_view body, RecordSink& sink) {
  for (ProtoReader reader(body); reader.next();) {
    const std::string_view bytes = reader.bytes();
    switch (reader.field()) {
      case 1:
        put_property(sink, "run/id", bytes);
        break;
      case 2:
        put_property(sink, "run/entity", bytes);
        break;
      case 3:
        put_property(sink, "run/project", bytes);
        break;
      case 4:
        config(bytes, "config", sink);
        break;
      case 6:
        put_property(sink, "run/group", bytes);
        break;
      case 7:
        put_property(sink, "run/job_type", bytes);
        break;
      case 8:
        put_property(sink, "run/name", bytes);
        break;
      case 9:
        put_property(sink, "run/notes", bytes);
        break;
      case 10:
        put_property(sink, "run/tag", bytes);
        break;
      case 13:
        put_property(sink, "run/host", bytes);
        break;
      case 14:
        put_property(sink, "run/starting_step", std::to_string(reader.integer()));
        break;
      case 17:
        started_ = timestamp(bytes);
        if (started_ > last_) last_ = started_;
        put_property(sink, "run/start_time", format_utc(started_));
        break;
      case 18:
        put_property(sink, "run/resumed", reader.value() != 0 ? "true" : "false");
        break;
      case 21:
        for (ProtoReader git(bytes); git.next();) {
          if (git.field() == 1) put_property(sink, "run/git_remote", git.bytes());
          if (git.field() == 2) put_property(sink, "run/git_commit", git.bytes());
        }
        break;
      default:
        break;
    }
  }
}

void WandbDecoder::environment(std::string_view body, RecordSink& sink) {
  std::string arguments;
  size_t count = 0;
  for (ProtoReader reader(body); reader.next();) {
    const std::string_view bytes = reader.bytes();
    switch (reader.field()) {
      case 1:
        put_property(sink, "run/os", bytes);
        break;
      case 2:
        put_property(sink, "run/python", bytes);
        break;
      case 5:
        if (++count <= kArgumentsLimit)
          arguments.append(arguments.empty() ? 0 : 1, ' ').append(clip(bytes, kTextLimit));
        break;
      case 6:
        put_property(sink, "run/program", bytes);
        break;
      case 12:
        put_property(sink, "run/host", bytes);
        break;
      case 18:
        put_property(sink, "run/gpu_type", bytes);
        break;
      case 19:
        put_property(sink, "run/gpu_count", std::to_string(reader.value()));
        break;
      case 25:
        put_property(sink, "run/cuda_version", bytes);
        break;
      default:
        break;
    }
  }
  if (!arguments.empty()) put_property(sink, "run/arguments", arguments);
}

void WandbDecoder::hand_over_summary(RecordSink& sink) {
  const std::string body = std::move(summary_);
  summary_.clear();
  for (ProtoReader reader(body); reader.next();) {
    if (reader.field() != 1) continue;
    const WandbItem item = read_wandb_item(reader.bytes(), row_);
    if (!item.json.empty() && item.json[0] != '{' && item.json[0] != '[') {
      put_json_properties(sink, cat("summary/", item.key), item.json);
    }
  }
  row_.clear();
}

void WandbDecoder::exit(std::string_view body, RecordSink& sink) {
  int64_t code = 0;
  double runtime = 0;  // s
  for (ProtoReader reader(body); reader.next();) {
    if (reader.field() == 1) code = static_cast<int32_t>(reader.integer());
    if (reader.field() == 2) runtime = static_cast<double>(static_cast<int32_t>(reader.integer()));
  }
  console_.finish(sink);
  hand_over_summary(sink);
  const Time end = started_.known() && runtime > 0 ? started_ + Duration::seconds(runtime) : last_;
  sink.ended(code, end > last_ ? end : last_);
}

}  // namespace mw
