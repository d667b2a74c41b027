#include "ui/cli/take_price.h"

#include <cmath>

#include "base/numbers.h"
#include "base/text.h"

namespace mw {
namespace {

constexpr double kMost = 1e6;  // an hour

}  // namespace

void declare_price(ArgSpec& spec) {
  spec.option("cost-per-hour", "PRICE", "what its machines cost, in your currency (default: as recorded with the run)");
}

Result<double> take_price(const Args& args) {
  if (!args.has("cost-per-hour")) return 0.0;
  const auto price = parse_double(args.get("cost-per-hour"));
  if (price && std::isfinite(*price) && *price >= 0 && *price <= kMost) return *price;
  return Error{Error::Code::kInvalid, cat("--cost-per-hour: '", args.get("cost-per-hour"), "' is no price"),
               "Write a number without a currency: --cost-per-hour 5.73"};
}

}  // namespace mw
