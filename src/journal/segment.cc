#include "journal/segment.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "base/checksum.h"
#include "base/json.h"
#include "base/text.h"
#include "journal/zstd_stream.h"

namespace mw::segment {
namespace {

constexpr std::string_view kPlainEnd = ".journal", kSealedEnd = ".journal.zst", kUnfinishedEnd = ".journal.zst.tmp";
constexpr size_t kChecksumDigits = 8;
/// Checksum, number (20 digits) and two spaces come before the record.
constexpr size_t kLineLimit = Journal::kRecordLimit + 64;

std::string name_of(uint64_t number, std::string_view end) {
  std::string digits = std::to_string(number);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return digits.append(end);
}

bool number_of(std::string_view name, std::string_view end, uint64_t& number) {
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && stop == name.data() + name.size() && number > 0;
}

/// What a segment's header says.
struct Header {
  bool there = false;
  int64_t version = 0;
  uint64_t first = 0;  ///< number of its first record; 0 when not known
};

Header parse_header(std::string_view line) {
  Header header;
  uint64_t number = 1;
  std::string_view text;
  if (!take_line(line, number, text) || number != 0) return header;
  const Result<Json> json = Json::parse(text);
  if (!json.ok() || json->string_or("journal", "") != "midwatch") return header;
  header.there = true;
  const Json* version = json->find("version");
  const Json* first = json->find("first");
  if (version != nullptr) header.version = version->integer();
  if (first != nullptr) header.first = static_cast<uint64_t>(std::max<int64_t>(first->integer(), 0));
  return header;
}

/// The bytes of a segment, decompressed when it is sealed, piece by piece.
class Pieces {
 public:
  static Result<Pieces> open(Disk& disk, const std::string& folder, const Files& files) {
    // Where both are there, the seal was put on but the plain one not yet removed: the original is as good.
    const std::string name = files.plain ? plain_name(files.number) : sealed_name(files.number);
    auto file = disk.open_read(cat(folder, "/", name));
    if (!file.ok()) return file.error();
    Pieces pieces;
    pieces.file_ = std::move(*file);
    if (!files.plain) pieces.zstd_ = std::make_unique<ZstdReader>();
    return pieces;
  }

  /// Replaces `out`; empty at the end.
  Result<void> next(std::string& out) {
    if (zstd_ == nullptr) return more(out);
    for (;;) {
      if (rest_.empty()) {
        MW_TRY(more(block_));
        rest_ = block_;
      }
      const bool dry = rest_.empty();
      MW_TRY(zstd_->next(rest_, out));
      if (!out.empty()) return {};
      if (!dry) continue;
      if (zstd_->at_end()) return {};
      return Error{Error::Code::kTruncated, "the compressed segment is cut", ""};
    }
  }

 private:
  /// Most records of an attempt are small, and read again and again: no block is made ready for what is not there.
  Result<void> more(std::string& out) {
    const auto info = file_->info();
    const int64_t left = info.ok() ? info->size - static_cast<int64_t>(offset_) : int64_t{kBlockBytes};
    MW_TRY(file_->read_at(offset_, static_cast<size_t>(std::clamp<int64_t>(left, 1, kBlockBytes)), out));
    offset_ += out.size();
    return {};
  }

  std::unique_ptr<ReadFile> file_;
  std::unique_ptr<ZstdReader> zstd_;
  uint64_t offset_ = 0;
  std::string block_;
  std::string_view rest_;
};

/// Cuts pieces into lines; a line beyond the limit is handed over cut, as it is damaged anyway.
class Lines {
 public:
  template <typename OnLine>
  void feed(std::string_view piece, OnLine&& on_line) {
    while (!piece.empty()) {
      const void* found = std::memchr(piece.data(), '\n', piece.size());
      const size_t length =
          found == nullptr ? piece.size() : static_cast<size_t>(static_cast<const char*>(found) - piece.data());
      const std::string_view part = piece.substr(0, length);
      if (found == nullptr) {
        keep(part);
        return;
      }
      if (carry_.empty()) {
        on_line(part);
        whole_ += length + 1;
      } else {
        keep(part);
        on_line(std::string_view(carry_));
        whole_ += carried_ + 1;
        carry_.clear();
        carried_ = 0;
      }
      piece.remove_prefix(length + 1);
    }
  }
  uint64_t whole() const { return whole_; }  ///< bytes in whole lines so far
  uint64_t size() const { return whole_ + carried_; }

 private:
  void keep(std::string_view part) {
    carry_.append(part.substr(0, kLineLimit + 1 - std::min(carry_.size(), kLineLimit + 1)));
    carried_ += part.size();
  }
  std::string carry_;
  uint64_t carried_ = 0, whole_ = 0;
};

class JournalReading {
 public:
  JournalReading(Disk& disk, const std::string& folder, Journal::Reader* reader)
      : disk_(disk), folder_(folder), reader_(reader) {}

  Result<Outcome> run(const std::vector<Files>& segments) {
    std::vector<uint64_t> first(segments.size() + 1, 0);
    for (size_t i = 1; i < segments.size(); ++i) {
      const Result<Header> header = header_of(segments[i]);
      if (!header.ok()) return header.error();
      first[i] = header->first;
    }
    for (size_t i = 0; i < segments.size(); ++i) {
      uint64_t bound = 0;  // from here on a later segment has it again
      for (size_t k = i + 1; k < segments.size(); ++k) {
        if (first[k] != 0 && (bound == 0 || first[k] < bound)) bound = first[k];
      }
      MW_TRY(segment(segments[i], bound == 0 ? UINT64_MAX : bound, i + 1 == segments.size()));
    }
    return outcome_;
  }

 private:
  Result<Header> header_of(const Files& files) {
    Result<Pieces> pieces = Pieces::open(disk_, folder_, files);
    if (!pieces.ok()) return pieces.error();
    std::string piece;
    if (!pieces->next(piece).ok()) return Header{};
    return parse_header(std::string_view(piece).substr(0, piece.find('\n')));
  }

  Result<void> segment(const Files& files, uint64_t bound, bool last) {
    Result<Pieces> pieces = Pieces::open(disk_, folder_, files);
    if (!pieces.ok()) return pieces.error();
    number_ = files.number;
    bound_ = bound;
    bad_lines_ = 0;
    Lines lines;
    std::string piece;
    Header header;
    bool first_line = true;
    for (;;) {
      Result<void> got = pieces->next(piece);
      if (!got.ok()) {
        if (files.plain) return got;  // the disk fails: what follows must not look like the end
        hurt(got.error().what);
        break;
      }
      if (piece.empty()) break;
      lines.feed(piece, [&](std::string_view line) {
        if (first_line) header = parse_header(line);
        first_line = false;
        take(line);
      });
      if (header.version > kVersion) {
        return Error{Error::Code::kUnsupported, cat("the journal in ", folder_, " has format version ", header.version),
                     "it was written by a newer midwatch; read it with that one"};
      }
    }
    report_bad_lines();
    if (lines.size() != lines.whole() && !last && outcome_.last_number + 1 < bound_) {
      hurt("it ends within a record");
    }
    outcome_.last_segment = files.number;
    outcome_.last_is_plain = files.plain;
    outcome_.last_whole = lines.whole();
    outcome_.last_size = lines.size();
    outcome_.last_has_header = header.there;
    return {};
  }

  void take(std::string_view line) {
    uint64_t number = 0;
    std::string_view json;
    if (!take_line(line, number, json)) {
      ++bad_lines_;
      return;
    }
    if (number == 0) return report_bad_lines();
    if (number <= outcome_.last_number) return;                          // a copy of what is there already
    if (number >= bound_ && number != outcome_.last_number + 1) return;  // the next segment has it without the gap
    report_bad_lines();
    if (number != outcome_.last_number + 1) {
      hurt(cat("records ", outcome_.last_number + 1, " to ", number - 1, " are missing"));
    }
    outcome_.last_number = number;
    if (reader_ != nullptr) reader_->record(number, json);
  }

  void report_bad_lines() {
    if (bad_lines_ != 0 && outcome_.last_number + 1 < bound_) hurt(cat(bad_lines_, " damaged line(s)"));
    bad_lines_ = 0;
  }

  void hurt(std::string_view what) {
    if (reader_ != nullptr) reader_->damage(cat("segment ", number_, ": ", what));
  }

  Disk& disk_;
  const std::string& folder_;
  Journal::Reader* reader_;
  Outcome outcome_;
  uint64_t number_ = 0, bound_ = 0, bad_lines_ = 0;
};

}  // namespace

std::string plain_name(uint64_t number) { return name_of(number, kPlainEnd); }
std::string sealed_name(uint64_t number) { return name_of(number, kSealedEnd); }
std::string unfinished_name(uint64_t number) { return name_of(number, kUnfinishedEnd); }

Result<std::vector<Files>> list(Disk& disk, const std::string& folder, std::vector<std::string>* unfinished) {
  const auto names = disk.list(folder);
  if (!names.ok()) return names.error();
  std::map<uint64_t, Files> found;
  for (const std::string& name : *names) {
    uint64_t number = 0;
    if (number_of(name, kPlainEnd, number)) {
      found[number].plain = true;
    } else if (number_of(name, kSealedEnd, number)) {
      found[number].sealed = true;
    } else if (unfinished != nullptr && number_of(name, kUnfinishedEnd, number)) {
      unfinished->push_back(name);
    }
  }
  std::vector<Files> out;
  for (auto& [number, files] : found) {
    files.number = number;
    out.push_back(files);
  }
  return out;
}

void put_line(std::string& out, uint64_t number, std::string_view json) {
  constexpr char kHex[] = "0123456789abcdef";
  const size_t begin = out.size();
  char digits[20];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append("00000000 ").append(digits, static_cast<size_t>(end - digits)).push_back(' ');
  out.append(json);
  uint32_t sum = crc32c(std::string_view(out).substr(begin + kChecksumDigits + 1));
  for (size_t i = kChecksumDigits; i-- > 0; sum >>= 4) out[begin + i] = kHex[sum & 15];
  out.push_back('\n');
}

void put_header(std::string& out, uint64_t segment, uint64_t first) {
  put_line(out, 0,
           cat(R"({"journal":"midwatch","version":)", kVersion, R"(,"segment":)", segment, R"(,"first":)", first, "}"));
}

bool take_line(std::string_view line, uint64_t& number, std::string_view& json) {
  if (line.size() > kLineLimit || line.size() < kChecksumDigits + 3 || line[kChecksumDigits] != ' ') return false;
  uint32_t sum = 0;
  for (size_t i = 0; i < kChecksumDigits; ++i) {  // by hand, as only lower-case digits are ours
    const char c = line[i];
    if (c >= '0' && c <= '9') {
      sum = sum << 4 | static_cast<uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      sum = sum << 4 | static_cast<uint32_t>(c - 'a' + 10);
    } else {
      return false;
    }
  }
  const std::string_view rest = line.substr(kChecksumDigits + 1);
  if (crc32c(rest) != sum) return false;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const size_t used = static_cast<size_t>(stop - rest.data());
  if (error != std::errc{} || used >= rest.size() || rest[used] != ' ') return false;
  json = rest.substr(used + 1);
  return true;
}

Result<Outcome> read(Disk& disk, const std::string& folder, const std::vector<Files>& segments,
                     Journal::Reader* reader) {
  return JournalReading(disk, folder, reader).run(segments);
}

}  // namespace mw::segment
