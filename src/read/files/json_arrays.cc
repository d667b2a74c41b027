#include "read/files/json_arrays.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/one_of.h"
#include "base/text.h"
#include "read/files/json_members.h"
#include "read/files/json_value.h"
#include "read/lines/step_name.h"

namespace mw {
namespace {

bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [name](std::string_view word) { return contains(name, word); });
}

bool names_figure(std::string_view name) {
  return has_word(to_lower(name), {"reward", "loss", "return", "accurac", "entropy", "score", "success", "grad_norm",
                                   "win_rate", "pass_rate", "advantage", "kl_", "_kl"}) ||
         to_lower(name) == "kl" || to_lower(name) == "acc" || to_lower(name) == "lr";
}

/// Of a part of the training's data: it stays in a figure's name.
bool names_split(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kSplits = {"train", "training", "eval",       "evaluation",
                                                              "val",   "valid",    "validation", "test"};
  return is_one_of(to_lower(name), kSplits);
}

/// Of what is compared with the training, and was not trained.
bool names_baseline(std::string_view name) {
  return has_word(to_lower(name), {"random", "baseline", "heuristic", "untrained", "before_"});
}

/// Networks of one training, and no arms of an experiment.
bool names_network(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNetworks = {"actor",     "critic",        "policy",       "value",
                                                                "generator", "discriminator", "reward_model", "model"};
  return is_one_of(to_lower(name), kNetworks);
}

bool names_history(std::string_view name) { return contains_folded(name, "history"); }

/// Does a name say that its values follow one another as a training goes on?
bool names_course(std::string_view name) {
  const std::string folded = to_lower(name);
  const bool of_training = folded.starts_with("train_") || folded.starts_with("training_");
  return names_history(name) || folded == "train" || folded == "training" || folded.starts_with("episode_") ||
         (of_training && names_figure(name)) ||
         has_word(folded, {"per_episode", "per_step", "per_epoch", "per_iteration", "curve", "progress"});
}

/// Names of objects that say nothing of what is in them.
bool names_wrapper(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kWrappers = {"metrics", "log", "logs", "results", "data", "stats"};
  return is_one_of(to_lower(name), kWrappers);
}

/// Whole numbers, each above the one before.
bool rises(const std::vector<double>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (step_from_number(list[i]) == kNoStep || list[i] < 0 || (i > 0 && list[i] <= list[i - 1])) return false;
  }
  return true;
}

/// How well the list does as the steps of others, 0 being best; -1: not at all.
int axis_rank_of(const std::string& name, const std::vector<double>& values) {
  constexpr int kOther = 100, kOfPart = 200;
  if (const int rank = step_key_rank(name); rank >= 0) return rank;
  if (!rises(values)) return -1;
  if (const int rank = axis_rank(name); rank >= 0) return kOther + rank;
  const std::string folded = to_lower(name);
  constexpr std::array<std::string_view, 5> kEnds = {"_step", "_steps", "_episodes", "_iterations", "_updates"};
  const bool counts = std::any_of(kEnds.begin(), kEnds.end(), [&folded](auto end) { return folded.ends_with(end); });
  return counts && !has_word(folded, {"num_", "total_", "max_", "per_"}) ? kOfPart : -1;
}

/// "eval" of "eval_loss" and of "eval_steps".
std::string_view first_word(std::string_view name) { return name.substr(0, name.find_first_of("_/")); }

std::vector<double> numbers_of(std::string_view list, size_t most) {
  std::vector<double> out;
  for_each_element(list, [&](std::string_view element) {
    double number = 0;
    if (!read_json_number(element, number)) number = std::numeric_limits<double>::quiet_NaN();  // null
    if (out.size() < most) out.push_back(number);
  });
  return out;
}

bool begins_with(const std::vector<std::string>& path, const std::vector<std::string>& begin) {
  return begin.size() <= path.size() && std::equal(begin.begin(), begin.end(), path.begin());
}

}  // namespace

std::string name_of_one(std::string_view list) {
  static constexpr std::array<std::string_view, 11> kSeries = {
      "_per_episode", "_per_step", "_per_epoch", "_per_iteration", "_per_update", "_history",
      "_hist",        "_curve",    "_list",      "_log",           "_over_time"};
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOne = {{{"rewards", "reward"},
                                                                                         {"losses", "loss"},
                                                                                         {"returns", "return"},
                                                                                         {"accuracies", "accuracy"},
                                                                                         {"scores", "score"},
                                                                                         {"lengths", "length"},
                                                                                         {"entropies", "entropy"},
                                                                                         {"margins", "margin"},
                                                                                         {"rates", "rate"}}};
  std::string name(list);
  for (const std::string_view end : kSeries) {
    if (name.size() > end.size() && name.ends_with(end)) {
      name.resize(name.size() - end.size());
      break;
    }
  }
  for (const auto& [many, one] : kOne) {
    const size_t begin = name.size() - std::min(name.size(), many.size());
    if (!name.ends_with(many) || (begin > 0 && name[begin - 1] != '_' && name[begin - 1] != '/')) continue;
    return name.replace(begin, many.size(), one);
  }
  return name;
}

/// Collects the lists of `object`; false where it is garbled or has too many.
bool JsonArrays::walk(std::string_view object, std::vector<std::string>& path) {
  bool fit = true;
  const bool whole = for_each_member(object, [&](std::string_view key, std::string_view value) {
    if (!fit) return;
    path.emplace_back(key);
    if (is_list_of_numbers(value)) {
      List& list = lists_.emplace_back();
      list.path = path;
      list.values = numbers_of(value, kPointLimit - points_);
      list.rank = axis_rank_of(path.back(), list.values);
      points_ += list.values.size();
      fit = lists_.size() <= kListLimit;
    } else if (value[0] == '{' || value[0] == '[') {
      others_ += path.size() == 1 ? 1 : 0;
      nested_ = nested_ && !is_list_of_objects(value);
      if (value[0] == '{' && static_cast<int>(path.size()) < kDeepest) fit = walk(value, path);
    }
    path.pop_back();
  });
  return whole && fit;
}

/// Of lists within objects: histograms, what other policies than the trained one earned, and, where there is a history,
/// what stands beside it.
void JsonArrays::drop_others() {
  std::set<std::vector<std::string>> histograms;
  bool history = false;
  for (const List& list : lists_) {
    history = history || std::any_of(list.path.begin(), list.path.end(), names_history);
    if (list.path.back() == "bins") histograms.insert({list.path.begin(), list.path.end() - 1});
  }
  std::erase_if(lists_, [&](const List& list) {
    const auto& path = list.path;
    return list.values.size() < kLeast || histograms.count({path.begin(), path.end() - 1}) > 0 ||
           std::any_of(path.begin(), path.end(), names_baseline) ||
           (history && std::none_of(path.begin(), path.end(), names_history));
  });
}

/// Do lists within objects follow a training? Many a document has the scores of single answers.
bool JsonArrays::is_history() const {
  bool figures = false, course = false;
  for (const List& list : lists_) {
    if (list.values.size() < kLeast) continue;
    for (const std::string& part : list.path) {
      figures = figures || names_figure(part);
      course = course || names_course(part) || contains_folded(part, "loss");
    }
    course = course || list.counts();
  }
  return figures && course;
}

void JsonArrays::name_lists() {
  std::set<std::string> firsts;
  for (const List& list : lists_) firsts.insert(list.path.size() > 1 ? list.path.front() : std::string());
  for (List& list : lists_) {
    const auto named =
        std::find_if(list.path.rbegin(), list.path.rend(), [](const auto& part) { return names_figure(part); });
    const size_t figure =
        named == list.path.rend() ? list.path.size() - 1 : static_cast<size_t>(list.path.rend() - named) - 1;
    list.figure = name_of_one(list.path[figure]);
    for (size_t i = 0; i < list.path.size(); ++i) {
      const std::string& part = list.path[i];
      if (i == figure || (i == 0 && firsts.size() == 1)) continue;
      if (names_split(part) || names_network(part)) {
        list.figure = cat(to_lower(part), "/", list.figure);
      } else if (!names_course(part) && !names_wrapper(part)) {
        list.arm += cat(list.arm.empty() ? "" : "/", part);
      }
    }
  }
}

/// Objects that hold the same figures are arms; where they do not, their names say of what the figures are.
void JsonArrays::name_arms() {
  std::map<std::string, std::set<std::string>> figures;  // by arm
  for (const List& list : lists_) {
    if (!list.counts()) figures[list.arm].insert(list.figure);
  }
  const bool same = std::all_of(figures.begin(), figures.end(), [&](const auto& one) {
    return std::any_of(one.second.begin(), one.second.end(), [&](const std::string& figure) {
      return std::all_of(figures.begin(), figures.end(),
                         [&](const auto& other) { return other.second.count(figure) > 0; });
    });
  });
  const bool arms = figures.size() > 1 && figures.size() <= kArmLimit && figures.count("") == 0 && same;
  std::set<std::pair<std::string, std::string>> named;
  for (List& list : lists_) {
    if (!arms && figures.size() > 1 && !list.arm.empty()) list.figure = cat(list.arm, "/", list.figure);
    if (!arms) list.arm.clear();
    if (!named.emplace(list.arm, list.figure).second) list.figure = list.path.back();  // "rewards" and "reward_history"
    if (!list.counts() && std::find(arms_.begin(), arms_.end(), list.arm) == arms_.end()) arms_.push_back(list.arm);
  }
}

/// Finds the list of the steps of `list`'s values, best of its own part of the training: of as many, or nearly, as
/// where the last value was not written yet or was taken when all steps were done; or of a multiple.
void JsonArrays::find_axis(List& list, const std::vector<const List*>& axes) const {
  constexpr size_t kMissing = 10;  // one of so many
  enum : int { kOfOther = 1000, kNearly = 10'000, kMultiple = 100'000 };
  const std::vector<std::string> within(list.path.begin(), list.path.end() - 1);
  const size_t size = list.values.size();
  int best = INT32_MAX;
  for (const List* axis : axes) {
    const size_t steps = axis->values.size();
    const std::vector<std::string> beside(axis->path.begin(), axis->path.end() - 1);
    if (size < 2 || !begins_with(within, beside)) continue;
    const bool nearly = size > steps ? size == steps + 1 && steps >= kLeast : steps - size <= steps / kMissing;
    if (!nearly && (size > steps || steps % size != 0)) continue;
    const bool own = first_word(axis->path.back()) == first_word(list.path.back());
    const int rank = axis->rank + (own ? 0 : kOfOther) + (size == steps ? 0 : nearly ? kNearly : kMultiple);
    if (rank >= best) continue;
    best = rank;
    list.axis = axis;
    list.stride = nearly ? 1 : steps / size;
  }
}

void JsonArrays::find_axes() {
  std::vector<const List*> axes;
  for (const List& list : lists_) {
    if (list.counts()) axes.push_back(&list);
  }
  for (List& list : lists_) {
    if (!list.counts()) find_axis(list, axes);
  }
  if (!axes.empty()) drop_what_fits_no_step();
}

/// Beside lists whose steps are known, one of another length is of each step, or of steps that nobody names.
void JsonArrays::drop_what_fits_no_step() {
  constexpr double kNearly = 0.9;
  double last = 0;
  for (const List& list : lists_) {
    if (list.axis != nullptr) last = std::max(last, list.axis->values.back());
  }
  for (List& list : lists_) {
    const auto size = static_cast<double>(list.values.size());
    if (!list.counts() && list.axis == nullptr && (size < kNearly * last || size * kNearly > last)) list.values.clear();
  }
}

bool JsonArrays::read(std::string_view text) {
  std::vector<std::string> path;
  if (!walk(text, path)) return false;
  const auto top = [](const List& list) { return list.path.size() == 1; };
  const auto flat = static_cast<size_t>(std::count_if(lists_.begin(), lists_.end(), top));
  if (flat > 0 && others_ <= flat) {  // what stands beside them sums up
    std::erase_if(lists_, [&top](const List& list) { return !top(list); });
  } else if (nested_ && is_history()) {
    drop_others();
  } else {
    return false;
  }
  name_lists();
  name_arms();
  find_axes();
  return std::any_of(lists_.begin(), lists_.end(), [](const List& list) { return list.values.size() >= 2; });
}

uint64_t JsonArrays::hand_over(uint64_t rows, RowBuilder& row, RecordSink& sink) const {
  for (const std::string& arm : arms_) rows = hand_over_arm(arm, rows, row, sink);
  return rows;
}

uint64_t JsonArrays::hand_over_arm(std::string_view arm, uint64_t rows, RowBuilder& row, RecordSink& sink) const {
  struct Point {
    int64_t step;
    size_t order;
    const List* list;
    double value;
  };
  std::vector<Point> points;
  const List* shared = nullptr;
  bool one_axis = true, first = true;
  for (const List& list : lists_) {
    if (list.counts() || list.arm != arm) continue;
    one_axis = one_axis && (first || list.axis == shared);
    shared = first ? list.axis : shared;
    first = false;
    for (size_t i = 0; i < list.values.size(); ++i) {
      const size_t place = (i + 1) * list.stride - 1;
      if (list.axis != nullptr && place >= list.axis->values.size()) break;
      const int64_t step =
          list.axis == nullptr ? static_cast<int64_t>(i) + 1 : step_from_number(list.axis->values[place]);
      points.push_back({step, place, &list, list.values[i]});
    }
  }
  // Of one axis the order is the file's: its steps may begin again, as where a run was resumed.
  std::stable_sort(points.begin(), points.end(), [one_axis](const Point& a, const Point& b) {
    return one_axis ? a.order < b.order : a.step < b.step;
  });
  for (size_t i = 0; i < points.size(); ++i) {
    row.add_number(points[i].list->figure, points[i].value);
    const bool ends = i + 1 == points.size() ||
                      (one_axis ? points[i + 1].order != points[i].order : points[i + 1].step != points[i].step);
    if (!ends) continue;
    if (!arm.empty()) row.add_text("arm", arm);
    row.hand_over(sink, ++rows, points[i].step, {});
  }
  return rows;
}

}  // namespace mw
