#include "read/match/literal_scanner.h"

#include <hs/hs.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "read/match/literal_table.h"

namespace mw {

struct LiteralScanner::Inner {
  explicit Inner(FlatReader& in) : table(in) {}
  Inner(const Inner&) = delete;
  Inner& operator=(const Inner&) = delete;
  ~Inner() {
    hs_free_scratch(scratch);
    hs_free_database(database);
  }
  Result<void> compile();
  void scan(std::string_view block, std::vector<Hit>& hits);

  std::string own;      // what the table looks at, when nobody else keeps it
  LiteralTable table;   // until so much was scanned that compiling pays
  size_t scanned = 0;   // bytes
  size_t longest = 0;   // literal, bytes
  std::string end;      // room for the end of a block
  bool failed = false;  // to compile: then the table it is
  hs_database_t* database = nullptr;
  hs_scratch_t* scratch = nullptr;
};

namespace {

/// Compiling a few thousand literals costs as much as the table takes for this many bytes. Most logs are shorter.
constexpr size_t kCompileAfter = size_t{16} << 20;

/// Vectorscan 5.4.9 on AVX-512 now and then misses a literal of a small set that ends in the last, part-filled vector
/// of a text (seen by our fuzzing; one small set of 300 is hit, at one text of 10,000; at most 25 bytes from the end).
/// So the end is scanned once more, as a text of its own with a whole vector of other bytes behind it: 3 million such
/// texts without a miss.
constexpr size_t kVector = 64;

int on_match(unsigned id, unsigned long long /*from*/, unsigned long long to, unsigned /*flags*/, void* context) {
  static_cast<std::vector<LiteralScanner::Hit>*>(context)->push_back({static_cast<uint32_t>(to), id});
  return 0;
}

/// Vectorscan promises an order only for one pattern's matches, the table for none.
void put_in_order(std::vector<LiteralScanner::Hit>& hits) {
  const auto before = [](const LiteralScanner::Hit& a, const LiteralScanner::Hit& b) { return a.end < b.end; };
  if (!std::is_sorted(hits.begin(), hits.end(), before)) std::stable_sort(hits.begin(), hits.end(), before);
}

}  // namespace

LiteralScanner::LiteralScanner(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
LiteralScanner::LiteralScanner(LiteralScanner&&) noexcept = default;
LiteralScanner& LiteralScanner::operator=(LiteralScanner&&) noexcept = default;
LiteralScanner::~LiteralScanner() = default;

void LiteralScanner::write(std::span<const std::string> literals, FlatWriter& out) {
  LiteralTable::write(literals, out);
}

Result<LiteralScanner> LiteralScanner::read(FlatReader& in) {
  auto inner = std::make_unique<Inner>(in);
  if (inner->table.literals().size() > 0 && hs_valid_platform() != HS_SUCCESS) {
    return Error{Error::Code::kUnsupported, "this CPU lacks the SSE4.2 instructions that log scanning needs", ""};
  }
  return LiteralScanner(std::move(inner));
}

Result<LiteralScanner> LiteralScanner::compile(std::span<const std::string> literals) {
  FlatWriter out;
  write(literals, out);
  std::string own = out.take();
  FlatReader in(own);
  auto scanner = read(in);
  if (scanner.ok()) scanner->inner_->own = std::move(own);  // long enough to stay where it is
  return scanner;
}

Result<void> LiteralScanner::Inner::compile() {
  std::vector<const char*> texts;
  std::vector<unsigned> flags(table.literals().size(), 0), ids;
  std::vector<size_t> sizes;
  for (size_t i = 0; i < table.literals().size(); ++i) {
    const std::string_view literal = table.literals()[i];
    ids.push_back(static_cast<unsigned>(i));
    texts.push_back(literal.data());
    sizes.push_back(literal.size());
    longest = std::max(longest, literal.size());
  }
  hs_compile_error_t* error = nullptr;
  const auto count = static_cast<unsigned>(texts.size());
  if (hs_compile_lit_multi(texts.data(), flags.data(), ids.data(), sizes.data(), count, HS_MODE_BLOCK, nullptr,
                           &database, &error) != HS_SUCCESS) {
    Error problem{Error::Code::kInvalid, cat("the literals do not compile: ", error->message), ""};
    hs_free_compile_error(error);
    return problem;
  }
  if (hs_alloc_scratch(database, &scratch) != HS_SUCCESS) {
    return Error{Error::Code::kLimit, "no memory for the literal scanner", ""};
  }
  return {};
}

void LiteralScanner::scan(std::string_view block, std::vector<Hit>& hits) const {
  hits.clear();
  MW_CHECK(block.size() < UINT32_MAX);
  Inner& inner = *inner_;
  if (inner.table.literals().size() == 0 || block.empty()) return;
  if (inner.database == nullptr && !inner.failed && inner.scanned >= kCompileAfter)
    inner.failed = !inner.compile().ok();
  inner.scanned += block.size();
  if (inner.database == nullptr || inner.failed) {
    inner.table.scan(block, hits);
  } else {
    inner.scan(block, hits);
  }
  put_in_order(hits);
}

void LiteralScanner::Inner::scan(std::string_view block, std::vector<Hit>& hits) {
  const auto look_through = [&](std::string_view text) {
    const hs_error_t result =
        hs_scan(database, text.data(), static_cast<unsigned>(text.size()), 0, scratch, on_match, &hits);
    MW_CHECK(result == HS_SUCCESS);
  };
  const size_t sure = block.size() > kVector ? block.size() - kVector : 0;  // hits up to here are reported as they are
  if (sure > 0) look_through(block);
  std::erase_if(hits, [sure](const Hit& hit) { return hit.end > sure; });
  const size_t from = sure > longest ? sure - longest : 0, of_first = hits.size();
  end.assign(block.substr(from)).append(kVector, '\0');
  look_through(end);
  const auto beyond = [&](const Hit& hit) { return hit.end + from <= sure || hit.end + from > block.size(); };
  hits.erase(std::remove_if(hits.begin() + static_cast<std::ptrdiff_t>(of_first), hits.end(), beyond), hits.end());
  for (size_t i = of_first; i < hits.size(); ++i) hits[i].end += static_cast<uint32_t>(from);
}

size_t LiteralScanner::length(uint32_t literal) const { return inner_->table.literals()[literal].size(); }

size_t LiteralScanner::bytes() const {
  size_t size = 0;
  if (inner_->database != nullptr) hs_database_size(inner_->database, &size);
  return size + inner_->table.bytes();
}

}  // namespace mw
