#include "read/files/tfevents.h"

#include <cmath>
#include <optional>

#include "base/checksum.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr size_t kHead = 12;  // bytes: u64 length, u32 checksum of it
constexpr size_t kTail = 4;   // bytes: u32 checksum of the data

uint64_t little64(const char* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, 8);
  return value;
}
uint32_t little32(const char* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, 4);
  return value;
}
bool good_head(std::string_view view) { return mask_crc32c(crc32c(view.substr(0, 8))) == little32(view.data() + 8); }

float from_half(uint64_t bits) {
  const auto sign = static_cast<uint32_t>(bits >> 15 & 1);
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 1023);
  float value = 0;
  if (exponent == 31) {
    value = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return sign != 0 ? -value : value;
}

// Numbers of types.proto's DataType.
enum Type : uint64_t {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kHalf = 19,
  kUint32 = 22,
  kUint64 = 23
};

size_t size_of(uint64_t type) {
  switch (type) {
    case kUint8:
    case kInt8:
    case kBool:
      return 1;
    case kInt16:
    case kUint16:
    case kBfloat16:
    case kHalf:
      return 2;
    case kFloat:
    case kInt32:
    case kUint32:
      return 4;
    case kDouble:
    case kInt64:
    case kUint64:
      return 8;
    default:
      return 0;
  }
}

double number_from(uint64_t type, uint64_t bits) {
  switch (type) {
    case kFloat:
      return ProtoReader::float_from(bits);
    case kDouble:
      return ProtoReader::double_from(bits);
    case kInt32:
      return static_cast<int32_t>(bits);
    case kInt16:
      return static_cast<int16_t>(bits);
    case kInt8:
      return static_cast<int8_t>(bits);
    case kInt64:
      return static_cast<double>(static_cast<int64_t>(bits));
    case kBfloat16:
      return ProtoReader::float_from(bits << 16);
    case kHalf:
      return from_half(bits);
    default:
      return static_cast<double>(bits);
  }
}

/// A TensorProto (tensor.proto): its value when it holds exactly one number, its first string when it holds strings.
struct Tensor {
  std::optional<double> number;
  std::string_view string;
};

/// Takes the numbers of a packed or single field; false when there is more than one in all.
bool take_values(const ProtoReader& reader, uint64_t type, size_t width, Tensor& tensor) {
  const auto take = [&](uint64_t bits) {
    if (tensor.number) return false;
    tensor.number = number_from(type, bits);
    return true;
  };
  if (!reader.is_bytes()) return take(reader.value());
  if (width > 0) {
    if (reader.bytes().size() != width) return false;
    uint64_t bits = 0;
    std::memcpy(&bits, reader.bytes().data(), width);
    return take(bits);
  }
  uint64_t bits = 0;  // packed varints; more than one ends it
  unsigned shift = 0;
  size_t used = 0;
  for (const char c : reader.bytes().substr(0, 10)) {
    bits |= static_cast<uint64_t>(c & 0x7f) << shift;
    shift += 7;
    ++used;
    if ((c & 0x80) == 0) break;
  }
  return used == reader.bytes().size() && used > 0 && take(bits);
}

Tensor read_tensor(std::string_view body) {
  Tensor tensor;
  uint64_t type = 0;
  for (ProtoReader reader(body); reader.next();) {
    bool single = true;
    switch (reader.field()) {
      case 1:
        type = reader.value();
        break;
      case 4:
        single = size_of(type) > 0 && take_values(reader, type, size_of(type), tensor);
        break;
      case 5:
        single = take_values(reader, kFloat, 4, tensor);
        break;
      case 6:
        single = take_values(reader, kDouble, 8, tensor);
        break;
      case 7:
        single = take_values(reader, type == kInt32 || type == 0 ? kInt64 : type, 0, tensor);
        break;
      case 8:
        if (tensor.string.empty()) tensor.string = reader.bytes();
        break;
      case 10:
        single = take_values(reader, kInt64, 0, tensor);
        break;
      case 11:
        single = take_values(reader, kBool, 0, tensor);
        break;
      case 13:
        single = take_values(reader, type, 0, tensor);
        break;
      case 16:
      case 17:
        single = take_values(reader, kUint64, 0, tensor);
        break;
      default:
        break;
    }
    if (!single) return {};
  }
  return tensor;
}

/// Name of the plug-in in a SummaryMetadata: "scalars", "text", "images", "histograms", ...
std::string_view plugin_name(std::string_view metadata) {
  for (ProtoReader reader(metadata); reader.next();) {
    if (reader.field() != 1) continue;
    for (ProtoReader inner(reader.bytes()); inner.next();) {
      if (inner.field() == 1) return inner.bytes();
    }
  }
  return {};
}

}  // namespace

void TfeventsDecoder::feed(std::string_view bytes, RecordSink& sink) {
  buffer_.feed(bytes, wanted_, [&](std::string_view view) { return consume(view, sink); });
}

size_t TfeventsDecoder::consume(std::string_view view, RecordSink& sink) {
  const size_t size = view.size();
  while (!view.empty()) {
    wanted_ = 1;
    size_t used = 0;
    if (skip_ > 0) {
      used = skip_ < view.size() ? static_cast<size_t>(skip_) : view.size();
      skip_ -= used;
      if (skip_ == 0) done_ = offset_ + used;
    } else if (searching_) {
      used = search(view);
      only_zeros_ = only_zeros_ && is_zeros(view.substr(0, used));
      if (!searching_) report_gap(offset_ + used, sink);
      if (used == 0 && searching_) break;
    } else {
      used = next_record(view, sink);
      if (used == 0 && skip_ == 0 && !searching_) break;
    }
    offset_ += used;
    view.remove_prefix(used);
  }
  return size - view.size();
}

/// Bytes of the record at the start of `view`; 0 when more are wanted, or when skip_ or searching_ say how to go on.
size_t TfeventsDecoder::next_record(std::string_view view, RecordSink& sink) {
  if (view.size() < kHead) return wanted_ = kHead, 0;
  if (!good_head(view)) {
    searching_ = true;
    search_from_ = offset_;
    only_zeros_ = is_zeros(view.substr(0, kHead));
    return 1;
  }
  const uint64_t size = little64(view.data());
  if (size > kEventRecordLimit) {
    ++records_;
    skip_ = size > UINT64_MAX - kHead - kTail ? size : size + kHead + kTail;
    return 0;
  }
  const size_t whole = kHead + static_cast<size_t>(size) + kTail;
  if (view.size() < whole) return wanted_ = whole, 0;
  ++records_;
  const std::string_view data = view.substr(kHead, static_cast<size_t>(size));
  if (mask_crc32c(crc32c(data)) != little32(view.data() + whole - kTail)) {
    bad_checksum_.report(
        sink, cat("checksum of the record at byte ", offset_, " differs; its ", whole, " bytes are left out"),
        records_);
    damage_.add(offset_, whole);
  } else {
    event(data, sink);
  }
  done_ = offset_ + whole;
  return whole;
}

/// What stands between a garbled length and `end` is lost.
void TfeventsDecoder::report_gap(uint64_t end, RecordSink& sink) {
  bad_checksum_.report(sink,
                       cat("the length of the record at byte ", search_from_, " is garbled; ", end - search_from_,
                           " bytes are left out"),
                       records_ + 1);
  damage_.add(search_from_, end - search_from_);
}

/// Bytes to pass over to the next place where a record may begin (its length's checksum holds, its size is sensible).
size_t TfeventsDecoder::search(std::string_view view) {
  size_t at = 0;
  for (; view.size() - at >= kHead; ++at) {
    const uint64_t size = little64(view.data() + at);
    if (size == 0 || size > kEventRecordLimit || !good_head(view.substr(at, kHead))) continue;
    searching_ = false;
    return at;
  }
  wanted_ = kHead;
  return at;
}

void TfeventsDecoder::event(std::string_view bytes, RecordSink& sink) {
  double wall_time = 0;
  int64_t step = 0;
  std::string_view summary_bytes;
  ProtoReader reader(bytes);
  while (reader.next()) {
    switch (reader.field()) {
      case 1:
        wall_time = reader.is_fixed64() ? ProtoReader::double_from(reader.value()) : 0;
        break;
      case 2:
        step = reader.integer();
        break;
      case 5:
        summary_bytes = reader.bytes();
        break;
      default:
        break;
    }
  }
  if (!reader.good()) return not_a_record_.report(sink, "a record is garbled though its checksum holds", records_);
  if (!summary_bytes.empty()) summary(summary_bytes, wall_time, step, sink);
}

void TfeventsDecoder::summary(std::string_view bytes, double wall_time, int64_t step, RecordSink& sink) {
  for (ProtoReader values(bytes); values.next();) {
    if (values.field() != 1) continue;
    std::string_view tag, tensor_bytes, plugin;
    std::optional<double> value;
    for (ProtoReader reader(values.bytes()); reader.next();) {
      switch (reader.field()) {
        case 1:
          tag = reader.bytes();
          break;
        case 2:
          if (reader.is_fixed32()) value = ProtoReader::float_from(reader.value());
          break;
        case 8:
          tensor_bytes = reader.bytes();
          break;
        case 9:
          plugin = plugin_name(reader.bytes());
          break;
        default:
          break;
      }
    }
    if (!value && !tensor_bytes.empty()) {
      const Tensor tensor = read_tensor(tensor_bytes);
      if (!tensor.string.empty() && (plugin.empty() || plugin == "text")) {
        put_property(sink, cat("text/", clip(tag, kTextLimit)), tensor.string);
      }
      if (plugin.empty() || plugin == "scalars") value = tensor.number;
    }
    if (value) scalar(tag, *value, wall_time, step, sink);
  }
}

void TfeventsDecoder::scalar(std::string_view tag, double value, double wall_time, int64_t step, RecordSink& sink) {
  if (!row_.empty() && (step != row_step_ || row_.numbers()[0].key == tag || row_.numbers().size() >= kRowValueLimit)) {
    hand_over(sink);
  }
  if (row_.empty()) {
    row_start_ = offset_;
    row_number_ = records_;
    row_step_ = step;
    row_time_ = time_from_epoch(wall_time);
  }
  row_.add_number(row_.keep(tag), value);
}

void TfeventsDecoder::hand_over(RecordSink& sink) { row_.hand_over(sink, row_number_, row_step_, row_time_); }

void TfeventsDecoder::finish(RecordSink& sink) {
  hand_over(sink);
  const uint64_t size = offset_ + buffer_.pending().size();
  if (searching_ && only_zeros_ && is_zeros(buffer_.pending())) {
    sink.problem("torn-tail",
                 cat("the last ", size - search_from_, " bytes, from byte ", search_from_, " on, are zeros"),
                 records_ + 1);
  } else if (searching_) {
    report_gap(size, sink);
  } else if (!buffer_.pending().empty() || skip_ > 0) {
    sink.problem("torn-tail", cat("the last record, at byte ", done_, ", is incomplete"), records_ + 1);
  }
  damage_.report(sink, size);
}

}  // namespace mw
