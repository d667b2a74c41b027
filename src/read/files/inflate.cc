#include "read/files/inflate.h"

#include <zlib.h>
#include <zstd.h>

#include <optional>

#include "base/text.h"

namespace mw {
namespace {
constexpr size_t kOut = size_t{64} << 10;     // bytes of one plain piece
constexpr size_t kInLimit = size_t{1} << 30;  // bytes given to zlib at once, whose counters have 32 bits
}  // namespace

class Inflater::Impl {
 public:
  Impl(Format format, uint64_t limit) : format_(format), limit_(limit), out_(new char[kOut]) {
    if (format_ == Format::kZstd) {
      zstd_ = ZSTD_createDStream();
      MW_CHECK(zstd_ != nullptr);
      ZSTD_DCtx_setParameter(zstd_, ZSTD_d_windowLogMax, static_cast<int>(kZstdWindowLog));
    } else {
      MW_CHECK(inflateInit2(&gzip_, 15 + 16) == Z_OK);  // 16: gzip's header and trailer
    }
  }
  ~Impl() {
    ZSTD_freeDStream(zstd_);
    if (format_ == Format::kGzip) inflateEnd(&gzip_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<void> feed(std::string_view bytes, const Sink& sink) {
    while (!bytes.empty()) {
      if (failed_) return *failed_;
      if (between_ && members_ > 0 && bytes[0] == '\0') {  // padding
        bytes.remove_prefix(1);
        ++offset_;
        continue;
      }
      between_ = false;
      const auto step = format_ == Format::kZstd ? feed_zstd(bytes, sink) : feed_gzip(bytes, sink);
      if (!step.ok()) return fail(step.error());
      bytes.remove_prefix(*step);
      offset_ += *step;
    }
    if (failed_) return *failed_;
    return {};
  }

  Result<void> finish() {
    if (failed_) return *failed_;
    if (between_) return {};
    return Error{Error::Code::kTruncated,
                 cat("the compressed file ends in the middle, after ", produced_, " plain bytes"),
                 "what came before is kept; the file may still be being written, or its copy was cut short"};
  }
  uint64_t produced() const { return produced_; }

 private:
  const Error& fail(const Error& error) { return failed_.emplace(error); }

  Error garbled(std::string_view why) const {
    return {Error::Code::kInvalid, cat("garbled compressed data after byte ", offset_, ": ", why),
            "what came before is kept"};
  }

  /// Hands `size` bytes of out_ over; false when the limit is reached.
  bool put(size_t size, const Sink& sink) {
    const uint64_t left = limit_ - produced_;
    const size_t take = size < left ? size : static_cast<size_t>(left);
    produced_ += take;
    if (take > 0) sink(std::string_view(out_.get(), take));
    return take == size;
  }

  Error too_long() const {
    return {Error::Code::kLimit, cat("the compressed file holds more than ", format_bytes(static_cast<double>(limit_))),
            "decompress it and give the part that matters"};
  }

  Result<size_t> feed_gzip(std::string_view bytes, const Sink& sink) {
    const size_t size = bytes.size() < kInLimit ? bytes.size() : kInLimit;
    gzip_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib reads it only
    gzip_.avail_in = static_cast<uInt>(size);
    while (true) {
      gzip_.next_out = reinterpret_cast<Bytef*>(out_.get());
      gzip_.avail_out = kOut;
      const int code = ::inflate(&gzip_, Z_NO_FLUSH);
      const bool fits = put(kOut - gzip_.avail_out, sink);
      if (code == Z_STREAM_END) {
        between_ = true;
        ++members_;
        inflateReset(&gzip_);
        return size - gzip_.avail_in;
      }
      if (code != Z_OK && code != Z_BUF_ERROR) return garbled(gzip_.msg != nullptr ? gzip_.msg : "bad data");
      if (!fits) return too_long();
      if (gzip_.avail_in == 0 && gzip_.avail_out > 0) return size;
      if (code == Z_BUF_ERROR && gzip_.avail_out == kOut) return size - gzip_.avail_in;  // no progress without more
    }
  }

  Result<size_t> feed_zstd(std::string_view bytes, const Sink& sink) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    while (true) {
      ZSTD_outBuffer out{out_.get(), kOut, 0};
      const size_t left = ZSTD_decompressStream(zstd_, &out, &in);
      if (ZSTD_isError(left) != 0) return garbled(ZSTD_getErrorName(left));
      const bool fits = put(out.pos, sink);
      if (left == 0) {
        between_ = true;
        ++members_;
        return in.pos;
      }
      if (!fits) return too_long();
      if (in.pos == in.size && out.pos < kOut) return in.pos;
    }
  }

  Format format_;
  uint64_t limit_;
  std::unique_ptr<char[]> out_;
  z_stream gzip_{};
  ZSTD_DStream* zstd_ = nullptr;
  bool between_ = true;  // before the first member, or after one
  uint64_t members_ = 0, offset_ = 0, produced_ = 0;
  std::optional<Error> failed_;
};

Inflater::Inflater(Format format, uint64_t limit) : impl_(std::make_unique<Impl>(format, limit)) {}
Inflater::~Inflater() = default;
Result<void> Inflater::feed(std::string_view compressed, const Sink& sink) { return impl_->feed(compressed, sink); }
Result<void> Inflater::finish() { return impl_->finish(); }
uint64_t Inflater::produced() const { return impl_->produced(); }

}  // namespace mw
