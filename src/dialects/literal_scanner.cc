#include "dialects/literal_scanner.h"

#include <hs/hs.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace mw {

struct LiteralScanner::Inner {
  std::vector<std::pair<uint32_t, std::string>> brief;  // those that are found without the library, with their ids
  hs_database_t* database = nullptr;
  hs_scratch_t* scratch = nullptr;
  Inner() = default;
  Inner(const Inner&) = delete;
  Inner& operator=(const Inner&) = delete;
  ~Inner() {
    hs_free_scratch(scratch);
    hs_free_database(database);
  }
};

namespace {

/// Vectorscan 5.4.9 misses one- and two-byte literals of a small set now and then, where a text of 65 bytes and more
/// holds them behind the last whole vector (seen by our fuzzing; none of three bytes and more in 30,000 random sets).
constexpr size_t kSafeBytes = 3;

void find_all(std::string_view block, const std::string& literal, uint32_t id, std::vector<LiteralScanner::Hit>& hits) {
  for (size_t at = block.find(literal); at != std::string_view::npos; at = block.find(literal, at + 1)) {
    hits.push_back({static_cast<uint32_t>(at + literal.size()), id});
  }
}

int on_match(unsigned id, unsigned long long /*from*/, unsigned long long to, unsigned /*flags*/, void* context) {
  static_cast<std::vector<LiteralScanner::Hit>*>(context)->push_back({static_cast<uint32_t>(to), id});
  return 0;
}

}  // namespace

LiteralScanner::LiteralScanner(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
LiteralScanner::LiteralScanner(LiteralScanner&&) noexcept = default;
LiteralScanner& LiteralScanner::operator=(LiteralScanner&&) noexcept = default;
LiteralScanner::~LiteralScanner() = default;

Result<LiteralScanner> LiteralScanner::compile(std::span<const std::string> literals) {
  auto inner = std::make_unique<Inner>();
  if (literals.empty()) return LiteralScanner(std::move(inner));
  if (hs_valid_platform() != HS_SUCCESS) {
    return Error{Error::Code::kUnsupported, "this CPU lacks the SSE4.2 instructions that log scanning needs", ""};
  }
  std::vector<const char*> texts;
  std::vector<unsigned> flags(literals.size(), 0), ids;
  std::vector<size_t> sizes;
  for (uint32_t id = 0; id < literals.size(); ++id) {
    const std::string& literal = literals[id];
    if (literal.size() < kSafeBytes) {
      inner->brief.emplace_back(id, literal);
      continue;
    }
    ids.push_back(id);
    texts.push_back(literal.data());
    sizes.push_back(literal.size());
  }
  if (texts.empty()) return LiteralScanner(std::move(inner));
  hs_compile_error_t* error = nullptr;
  const auto count = static_cast<unsigned>(texts.size());
  if (hs_compile_lit_multi(texts.data(), flags.data(), ids.data(), sizes.data(), count, HS_MODE_BLOCK, nullptr,
                           &inner->database, &error) != HS_SUCCESS) {
    Error problem{Error::Code::kInvalid, cat("the literals do not compile: ", error->message), ""};
    hs_free_compile_error(error);
    return problem;
  }
  if (hs_alloc_scratch(inner->database, &inner->scratch) != HS_SUCCESS) {
    return Error{Error::Code::kLimit, "no memory for the literal scanner", ""};
  }
  return LiteralScanner(std::move(inner));
}

void LiteralScanner::scan(std::string_view block, std::vector<Hit>& hits) const {
  hits.clear();
  MW_CHECK(block.size() < UINT32_MAX);
  for (const auto& [id, literal] : inner_->brief) find_all(block, literal, id, hits);
  if (inner_->database != nullptr && !block.empty()) {
    const hs_error_t result = hs_scan(inner_->database, block.data(), static_cast<unsigned>(block.size()), 0,
                                      inner_->scratch, on_match, &hits);
    MW_CHECK(result == HS_SUCCESS);
  }
  // Vectorscan promises an order only for one pattern's matches.
  const auto before = [](const Hit& a, const Hit& b) { return a.end < b.end; };
  if (!std::is_sorted(hits.begin(), hits.end(), before)) std::stable_sort(hits.begin(), hits.end(), before);
}

size_t LiteralScanner::bytes() const {
  size_t size = 0;
  if (inner_->database != nullptr) hs_database_size(inner_->database, &size);
  return size;
}

}  // namespace mw
