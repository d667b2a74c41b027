// Shares that a trainer does not write but that its counts make: groups without signal of all groups.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/figure_name.h"
#include "read/books/dialect_book.h"
#include "read/interpret/known_names.h"
#include "read/lines/row.h"

namespace mw {

/// One per source.
class Shares {
 public:
  explicit Shares(const DialectBook& book) : book_(book) {}

  /// The rules of the dialect that speaks from here on; they live as long as nothing else is set.
  void set_rules(const std::vector<ShareRule>* rules);
  /// A setting of the run: kept where some dialect counts a share of it, as the run's is often known only later.
  void configured(std::string_view key, std::string_view value);
  /// What `name` is to the rules.
  void look_up(KnownName& name) const;
  /// Adds to `readings` the shares that the numbers of a training record make, where it has not got their signals.
  void add(std::span<KnownName* const> names, std::span<const RowNumber> numbers, std::vector<Reading>& readings);

 private:
  struct Rule {
    const ShareRule* rule = nullptr;
    std::shared_ptr<const FigureName> figure;
    bool seen = false;  ///< the run counts this: a record without a count says none
  };
  double whole_of(const Rule& rule, double counted, double rest) const;

  const DialectBook& book_;
  std::vector<Rule> rules_;
  std::map<std::string, double, std::less<>> settings_;
};

}  // namespace mw
