#include "journal/zstd_stream.h"

#include <zstd.h>

#include "base/text.h"

namespace mw {
namespace {

constexpr int kLevel = 1;               // journal lines shrink about tenfold already at the fastest level
constexpr int kWindowLogLimit = 27;     // 128 MiB: more is not ours
constexpr size_t kOutPiece = 1U << 17;  // bytes by which the output grows at a time

Error zstd_error(size_t code) {
  return {Error::Code::kInvalid, cat("zstd: ", ZSTD_getErrorName(code)), "the compressed segment is damaged"};
}

}  // namespace

struct ZstdWriter::Inner {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Inner() { ZSTD_freeCCtx(context); }

  Result<void> run(std::string_view bytes, ZSTD_EndDirective how, std::string& out) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      const size_t before = out.size();
      out.resize(before + kOutPiece);
      ZSTD_outBuffer to{out.data() + before, kOutPiece, 0};
      const size_t left = ZSTD_compressStream2(context, &to, &in, how);
      out.resize(before + to.pos);
      if (ZSTD_isError(left) != 0) return zstd_error(left);
      if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) return {};
    }
  }
};

ZstdWriter::ZstdWriter() : inner_(std::make_unique<Inner>()) {
  ZSTD_CCtx_setParameter(inner_->context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(inner_->context, ZSTD_c_checksumFlag, 1);
}
ZstdWriter::~ZstdWriter() = default;
Result<void> ZstdWriter::feed(std::string_view bytes, std::string& out) {
  return inner_->run(bytes, ZSTD_e_continue, out);
}
Result<void> ZstdWriter::finish(std::string& out) { return inner_->run({}, ZSTD_e_end, out); }

struct ZstdReader::Inner {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  bool at_end = true;
  ~Inner() { ZSTD_freeDCtx(context); }
};

ZstdReader::ZstdReader() : inner_(std::make_unique<Inner>()) {
  ZSTD_DCtx_setParameter(inner_->context, ZSTD_d_windowLogMax, kWindowLogLimit);
}
ZstdReader::~ZstdReader() = default;

Result<void> ZstdReader::next(std::string_view& bytes, std::string& out) {
  if (bytes.empty() && inner_->at_end) {
    out.clear();
    return {};
  }
  out.resize(kPieceBytes);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  const size_t hint = ZSTD_decompressStream(inner_->context, &to, &in);
  out.resize(to.pos);
  bytes.remove_prefix(in.pos);
  if (ZSTD_isError(hint) != 0) return zstd_error(hint);
  inner_->at_end = hint == 0;
  return {};
}

bool ZstdReader::at_end() const { return inner_->at_end; }

}  // namespace mw
