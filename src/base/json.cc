#include "base/json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <cmath>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (first_.empty()) return;
  if (!first_.back()) out_.push_back(',');
  first_.back() = false;
}

JsonWriter& JsonWriter::begin_object() { return before_value(), out_.push_back('{'), first_.push_back(true), *this; }
JsonWriter& JsonWriter::end_object() {
  MW_CHECK(!first_.empty());
  return first_.pop_back(), out_.push_back('}'), *this;
}
JsonWriter& JsonWriter::begin_array() { return before_value(), out_.push_back('['), first_.push_back(true), *this; }
JsonWriter& JsonWriter::end_array() {
  MW_CHECK(!first_.empty());
  return first_.pop_back(), out_.push_back(']'), *this;
}

namespace {

void append_escape(std::string& out, uint32_t point) {
  out.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back("0123456789abcdef"[(point >> shift) & 15]);
}

/// The code point at the start of `text` when a terminal would act on it or hide it (C1 controls, bidirectional
/// overrides, zero-width characters, separators of lines), else 0. `text` is valid UTF-8.
uint32_t unseen_point(std::string_view text) {
  const auto byte = [text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return 0x80 | (byte(1) & 0x3fU);
  if (byte(0) == 0xd8 && byte(1) == 0x9c) return 0x061c;
  if (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return 0xfeff;
  if (byte(0) != 0xe2 || (byte(1) != 0x80 && byte(1) != 0x81)) return 0;
  const uint32_t point = 0x2000 | ((byte(1) & 0x3fU) << 6) | (byte(2) & 0x3fU);
  const bool unseen = (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
                      (point >= 0x2060 && point <= 0x206f);
  return unseen ? point : 0;
}

void append_quoted(std::string& out, std::string_view value) {
  out.push_back('"');
  bool plain = true;
  for (const char c : value) {
    if (static_cast<unsigned char>(c) >= 0x80) plain = false;
  }
  const std::string clean = plain ? std::string() : sanitize_utf8(value);
  const std::string_view text = plain ? value : std::string_view(clean);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xc2) {
      if (const uint32_t point = unseen_point(text.substr(i)); point != 0) {
        append_escape(out, point);
        i += point < 0x800 ? 1 : 2;
        continue;
      }
    }
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\t') {
      out.append("\\t");
    } else if (c == '\r') {
      out.append("\\r");
    } else if (byte < 0x20 || byte == 0x7f) {
      append_escape(out, byte);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

}  // namespace

JsonWriter& JsonWriter::key(std::string_view name) {
  before_value();
  append_quoted(out_, name);
  out_.push_back(':');
  after_key_ = true;
  return *this;
}
JsonWriter& JsonWriter::string(std::string_view value) { return before_value(), append_quoted(out_, value), *this; }
JsonWriter& JsonWriter::number(double value) {
  before_value();
  out_.append(std::isfinite(value) ? format_double(value) : "null");
  return *this;
}
JsonWriter& JsonWriter::integer(int64_t value) { return before_value(), out_.append(std::to_string(value)), *this; }
JsonWriter& JsonWriter::boolean(bool value) { return before_value(), out_.append(value ? "true" : "false"), *this; }
JsonWriter& JsonWriter::null() { return before_value(), out_.append("null"), *this; }
JsonWriter& JsonWriter::raw(std::string_view json) { return before_value(), out_.append(json), *this; }

const Json* Json::find(std::string_view name) const {
  for (const Member& member : members_) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}
double Json::number_or(std::string_view name, double otherwise) const {
  const Json* value = find(name);
  return value != nullptr && value->kind_ == Kind::kNumber ? value->number_ : otherwise;
}
int64_t Json::integer_or(std::string_view name, int64_t otherwise) const {
  const Json* value = find(name);
  return value != nullptr && value->kind_ == Kind::kNumber ? value->integer_ : otherwise;
}
bool Json::boolean_or(std::string_view name, bool otherwise) const {
  const Json* value = find(name);
  return value != nullptr && value->kind_ == Kind::kBool ? value->boolean() : otherwise;
}
std::string Json::string_or(std::string_view name, std::string_view otherwise) const {
  const Json* value = find(name);
  return value != nullptr && value->kind_ == Kind::kString ? value->string_ : std::string(otherwise);
}

namespace {
constexpr size_t kDepthLimit = 64;  // levels; deeper than any metric record, shallow enough for any stack
// Numbers come as text: RapidJSON's own reading of "0e-30" is wrong (it takes the leading zeros of 0).
constexpr unsigned kFlags = rapidjson::kParseNanAndInfFlag | rapidjson::kParseNumbersAsStringsFlag |
                            rapidjson::kParseStopWhenDoneFlag | rapidjson::kParseIterativeFlag;
}  // namespace

class JsonBuilder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, JsonBuilder> {
 public:
  bool Null() { return place(Json()); }
  bool Bool(bool value) { return number(Json::Kind::kBool, value ? 1 : 0, value ? 1 : 0); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view token(text, size);
    const double value = parse_double(token).value_or(0);
    const bool fits = std::fabs(value) < 9e18;
    const auto exact = parse_int(token);
    return number(Json::Kind::kNumber, value, exact ? *exact : fits ? static_cast<int64_t>(value) : 0);
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    Json json;
    json.kind_ = Json::Kind::kString;
    json.string_.assign(text, size);
    return place(std::move(json));
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) { return open_.back().name.assign(text, size), true; }
  bool StartObject() { return open(Json::Kind::kObject); }
  bool StartArray() { return open(Json::Kind::kArray); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }
  Json take() { return std::move(root_); }

 private:
  struct Open {
    Json json;
    std::string name;  // of the member being read
  };
  bool number(Json::Kind kind, double value, int64_t exact) {
    Json json;
    json.kind_ = kind;
    json.number_ = value;
    json.integer_ = exact;
    return place(std::move(json));
  }
  bool place(Json json) {
    if (open_.empty()) {
      root_ = std::move(json);
    } else if (open_.back().json.kind_ == Json::Kind::kObject) {
      open_.back().json.members_.emplace_back(std::move(open_.back().name), std::move(json));
    } else {
      open_.back().json.items_.push_back(std::move(json));
    }
    return true;
  }
  bool open(Json::Kind kind) {
    if (open_.size() >= kDepthLimit) return false;
    open_.emplace_back();
    open_.back().json.kind_ = kind;
    return true;
  }
  bool close() {
    Json json = std::move(open_.back().json);
    open_.pop_back();
    return place(std::move(json));
  }
  std::vector<Open> open_;
  Json root_;
};

Result<Json> Json::parse(std::string_view text) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  JsonBuilder builder;
  const auto done = reader.Parse<kFlags>(stream, builder);
  if (done.IsError()) {
    return Error{Error::Code::kInvalid,
                 cat("not JSON: ", rapidjson::GetParseError_En(done.Code()), " at byte ", done.Offset()), ""};
  }
  if (!trim(text.substr(stream.Tell())).empty()) {
    return Error{Error::Code::kInvalid, cat("text after the JSON value at byte ", stream.Tell()), ""};
  }
  return builder.take();
}

namespace {

class LeafHandler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, LeafHandler> {
 public:
  explicit LeafHandler(JsonLeaves& leaves) : leaves_(leaves) {}
  bool Null() { return skip(); }
  bool Bool(bool value) {
    if (skipped_ == 0) name(), leaves_.boolean(path_, value);
    return done();
  }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool) {
    if (skipped_ != 0) return done();
    return leaf(parse_double(std::string_view(text, size)).value_or(0));
  }
  bool String(const char* text, rapidjson::SizeType size, bool) {
    if (skipped_ == 0) name(), leaves_.string(path_, std::string_view(text, size));
    return done();
  }
  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (skipped_ != 0) return true;
    path_.resize(open_.back().base);
    if (!path_.empty()) path_.push_back('/');
    path_.append(text, size);
    return true;
  }
  bool StartObject() { return open(false); }
  bool StartArray() { return open(true); }
  bool EndObject(rapidjson::SizeType) { return close(); }
  bool EndArray(rapidjson::SizeType) { return close(); }

 private:
  struct Open {
    bool array;
    size_t base;   // length of the path of the container itself
    size_t index;  // of the next element, for arrays
  };
  void name() {
    if (open_.empty() || !open_.back().array) return;
    path_.resize(open_.back().base);
    if (!path_.empty()) path_.push_back('/');
    path_.append(std::to_string(open_.back().index));
  }
  bool done() {
    if (!open_.empty()) ++open_.back().index;
    return true;
  }
  bool skip() { return done(); }
  bool leaf(double value) {
    if (skipped_ == 0) name(), leaves_.number(path_, value);
    return done();
  }
  bool open(bool array) {
    if (open_.size() >= kDepthLimit) return false;
    if (skipped_ == 0) name();
    open_.push_back({array, path_.size(), 0});
    if (skipped_ == 0 && array && !leaves_.enter_array(path_)) skipped_ = open_.size();
    return true;
  }
  bool close() {
    if (skipped_ == open_.size()) skipped_ = 0;
    path_.resize(open_.back().base);
    open_.pop_back();
    return done();
  }
  JsonLeaves& leaves_;
  std::string path_;
  std::vector<Open> open_;
  size_t skipped_ = 0;  // depth of the array that is left out; 0: none
};

}  // namespace

bool for_each_leaf(std::string_view text, JsonLeaves& leaves) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  LeafHandler handler(leaves);
  if (reader.Parse<kFlags>(stream, handler).IsError()) return false;
  return trim(text.substr(stream.Tell())).empty();
}

}  // namespace mw
