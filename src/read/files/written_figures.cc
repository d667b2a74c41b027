#include "read/files/written_figures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "read/files/json_members.h"
#include "read/lines/metric_line.h"

namespace mw {
namespace {

constexpr size_t kLongest = 64;  // bytes of a text that may stand beside figures; a longer one is a sample's
constexpr size_t kMostElements = 256;

/// Beside what a record measures: which one it is.
bool is_place(std::string_view key) {
  return step_key_rank(key) >= 0 || key == "epoch" || key == "timestamp" || key == "_timestamp" || key == "time" ||
         key == "rank";
}

bool has_step(RowBuilder& row) {
  const auto steps = [](const auto& one) { return step_key_rank(one.key) >= 0; };
  return std::any_of(row.numbers().begin(), row.numbers().end(), steps) ||
         std::any_of(row.texts().begin(), row.texts().end(), steps);
}

bool measures(RowBuilder& row) {
  return std::any_of(row.numbers().begin(), row.numbers().end(),
                     [](const RowNumber& one) { return !is_place(one.key); });
}

void read_texts(RowBuilder& row) {
  std::vector<RowText>& texts = row.texts();
  const auto of_sample = [](const RowText& text) {
    return text.value.size() > kLongest || text.value.find('\n') != std::string_view::npos;
  };
  if (texts.empty() || std::any_of(texts.begin(), texts.end(), of_sample)) return;
  const bool all = !measures(row);
  std::vector<RowText> left;
  for (const RowText& text : texts) {
    const bool plain = text.value.find_first_of(".%(") == std::string_view::npos;
    const auto figure = all || !plain ? figure_in(text.key, text.value) : std::nullopt;
    if (figure) row.numbers().push_back(*figure);
    if (!figure) left.push_back(text);
  }
  texts = std::move(left);
}

class Figures : public JsonLeaves {
 public:
  Figures(std::string_view list, RowBuilder& row) : list_(list), row_(row) {}
  void number(std::string_view path, double value) override { row_.add_number(row_.keep_joined(list_, path), value); }
  void string(std::string_view path, std::string_view value) override {
    if (const auto figure = figure_in(path, value))
      row_.numbers().push_back({row_.keep_joined(list_, path), figure->value, figure->whole, figure->is_time});
  }
  bool enter_array(std::string_view) override { return false; }

 private:
  std::string_view list_;
  RowBuilder& row_;
};

/// {"name": "reward", "value": 0.31}; false where the element is something else.
bool add_named(std::string_view element, RowBuilder& row) {
  static constexpr std::array<std::string_view, 6> kNames = {"name", "tag", "metric", "metric_name", "key", "label"};
  std::string_view name;
  std::optional<RowNumber> found;
  std::string scratch;
  const bool whole = element[0] == '{' && for_each_member(element, [&](std::string_view key, std::string_view value) {
                       std::string_view text;
                       double number = 0;
                       const bool names = std::find(kNames.begin(), kNames.end(), key) != kNames.end();
                       const bool words =
                           value[0] == '"' && read_json_string(value, scratch, text) && text.size() <= kLongest;
                       if (names && words) name = row.keep(text);
                       if (key == "value" && words) found = figure_in({}, text);
                       if (key == "value" && !words && read_json_number(value, number)) found = RowNumber{{}, number};
                     });
  if (!whole || name.empty() || !found) return false;
  found->key = name;
  row.numbers().push_back(*found);
  return true;
}

void read_lists(std::string_view json, RowBuilder& row) {
  for_each_member(json, [&row](std::string_view key, std::string_view value) {
    if (!is_list_of_objects(value)) return;
    size_t count = 0;
    bool named = true;
    const size_t before = row.numbers().size();
    const bool whole = for_each_element(
        value, [&](std::string_view element) { named = named && ++count <= kMostElements && add_named(element, row); });
    if (whole && named) return;
    row.numbers().resize(before);
    size_t elements = 0;
    for_each_element(value, [&elements](std::string_view) { ++elements; });
    Figures figures(row.keep(key), row);
    if (elements == 1) for_each_leaf(first_element(value), figures);
  });
}

}  // namespace

std::optional<RowNumber> figure_in(std::string_view key, std::string_view text) {
  text = trim(text);
  double value = 0;
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  if (text != "true" && text != "false" && text != "True" && text != "False" && metric_number(text, &value))
    return RowNumber{key, value};
  const char first = text[0];
  if (!(first >= '0' && first <= '9') && first != '-' && first != '+' && first != '.') return std::nullopt;
  if (text.ends_with('%') && metric_number(text.substr(0, text.size() - 1), &value)) return RowNumber{key, value, 100};
  const bool clock = text.find(':') != std::string_view::npos;
  if (!clock && metric_duration(text, &value)) return RowNumber{key, value, 1, true};
  size_t used = 0;
  const auto number = parse_double_prefix(text, &used);
  if (!number) return std::nullopt;
  struct Unit {
    std::string_view word;
    double times;
  };
  static constexpr std::array<Unit, 5> kUnits = {{{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"B", 1e9}}};
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [rest = text.substr(used)](const Unit& one) { return one.word == rest; });
  return unit == kUnits.end() ? std::nullopt : std::optional(RowNumber{key, *number * unit->times});
}

void add_written_figures(std::string_view json, RowBuilder& row) {
  if (!has_step(row)) return;
  read_texts(row);
  if (!measures(row)) read_lists(json, row);
}

}  // namespace mw
