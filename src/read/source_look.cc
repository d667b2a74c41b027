// A first look at a file: what it is, and whose.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "read/files/decoder.h"
#include "read/name_collector.h"
#include "read/source_reader.h"

namespace mw {
namespace {

constexpr size_t kRecogniseBytes = 1 << 20;   // of a structured file that are decoded to recognise the framework
constexpr size_t kRecogniseText = 256 << 10;  // bytes of a log's head, and of its tail, that are searched for signs

struct Head {
  FileKind kind = FileKind::kEmpty;
  std::string bytes;    // plain
  uint64_t looked = 0;  // bytes of the file that are taken to be looked at
};

/// At most `whole` bytes of the beginning; of a log, no more than are searched. No longer than the file: room for more
/// would be filled with zeros first.
Result<Head> read_head(ReadFile& file, const std::string& path, size_t whole) {
  Head head;
  MW_TRY(file.read_at(0, std::min(whole, kRecogniseText), head.bytes));
  const auto kind_of = [&] { return sniff(std::string_view(head.bytes).substr(0, kSniffBytes), path); };
  head.kind = kind_of();
  head.looked = whole;
  if (head.kind == FileKind::kText) return head;
  if (whole > kRecogniseText) MW_TRY(file.read_at(0, whole, head.bytes));
  if (const auto stream = make_plain_stream(head.bytes, kRecogniseBytes * 4); stream != nullptr) {
    std::string plain;
    (void)stream->feed(head.bytes, [&plain](std::string_view piece) { plain.append(piece); })
        .ok();  // what there is, is looked at
    head.bytes = std::move(plain);
    head.kind = kind_of();
  }
  head.looked = head.bytes.size();
  return head;
}

}  // namespace

/// By the first bytes. Where the first piece had too few of them to show anything, it is read again before the second.
void SourceReader::open_plain(const Tail& tail) {
  if (tail.offset() > piece_.size()) {
    if (plain_ != nullptr || kind_known_ || pending_.size() + piece_.size() != tail.offset()) return;
    piece_.insert(0, std::exchange(pending_, {}));
  }
  plain_ = make_plain_stream(piece_);
}

Result<void> SourceReader::look() {
  shared_.recogniser.name(Sign::In::kFile, basename(file_.path));
  auto file = disk_.open_read(file_.path);
  if (!file.ok()) return file.error();
  const uint64_t size = std::max<int64_t>(file_.info.size, 0);
  const size_t whole = size > 0 ? std::min<uint64_t>(kRecogniseBytes, size) : kRecogniseBytes;
  const auto head = read_head(**file, file_.path, whole);
  if (!head.ok()) return head.error();
  looked_like_ = head->kind;
  if (head->kind == FileKind::kText) {
    SignFinder signs(shared_.knowledge, shared_.recogniser);
    signs.text(std::string_view(head->bytes).substr(0, kRecogniseText));
    shared_.console.text(head->bytes, size);
    std::string end;
    if (size > head->looked &&
        (*file)->read_at(size - std::min<uint64_t>(size, kRecogniseText), kRecogniseText, end).ok()) {
      signs.text(end);
    }
  } else if (head->kind == FileKind::kNotebook) {
    SignFinder(shared_.knowledge, shared_.recogniser).text(head->bytes);  // its code, too: what it imports
  } else if (auto decoder = make_decoder(head->kind, file_.path)) {
    NameCollector names(shared_.knowledge, shared_.recogniser, shared_.console);
    decoder->feed(head->bytes, names);
  }
  return {};
}

}  // namespace mw
