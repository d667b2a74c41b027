#include "read/files/json_document.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "read/files/json_arrays.h"
#include "read/files/json_members.h"
#include "read/files/json_value.h"
#include "read/files/jsonl.h"
#include "read/lines/error_record.h"
#include "read/lines/step_name.h"

namespace mw {
namespace {

constexpr size_t kPointLimit = 2'000'000;  // points of a document of series or columns; further ones are left out

/// Of a document that holds each figure's values in one piece.
struct SeriesPoint {
  int64_t step;
  uint32_t key;    // its name's place among those of the document
  uint32_t order;  // in which it was read
  double value;
};

/// A row for each step; `rows` came before. Returns how many there are with them.
uint64_t hand_over_by_step(std::vector<SeriesPoint>& points, const std::vector<std::string>& keys, RowBuilder& row,
                           uint64_t rows, RecordSink& sink) {
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.step != b.step ? a.step < b.step : a.order < b.order; });
  for (size_t i = 0; i < points.size(); ++i) {
    const SeriesPoint& point = points[i];
    row.add_number(keys[point.key], point.value);
    if (i + 1 == points.size() || points[i + 1].step != point.step) row.hand_over(sink, ++rows, point.step, {});
  }
  return rows;
}

/// Collects the points of a document whose leaves are named by their step.
class SeriesLeaves : public JsonLeaves {
 public:
  void number(std::string_view path, double value) override {
    const size_t slash = path.rfind('/');
    const auto step = slash == std::string_view::npos ? std::nullopt : parse_int(path.substr(slash + 1));
    if (!step || *step < 0) return static_cast<void>(++others);
    if (points.size() >= kPointLimit) return;
    const std::string_view name = path.substr(0, slash);
    if (keys.empty() || keys.back() != name) keys.emplace_back(name);  // a series is written in one piece
    points.push_back({*step, static_cast<uint32_t>(keys.size() - 1), static_cast<uint32_t>(points.size()), value});
  }
  void string(std::string_view, std::string_view) override { ++others; }
  bool enter_array(std::string_view) override { return ++others, false; }

  std::vector<SeriesPoint> points;
  std::vector<std::string> keys;
  size_t others = 0;
};

/// Names under which a list of step records usually stands: they are left out of the keys.
bool is_history_name(std::string_view name) {
  for (const std::string_view usual : {"log_history", "history", "steps", "records", "metrics", "logs", "log", "data",
                                       "results", "training_log", "step_stats", "step_history"}) {
    if (name == usual) return true;
  }
  return name.ends_with("_log_history");
}

/// The names in the first record of a list of them.
std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  for_each_member(first_element(list), [&](std::string_view key, std::string_view) { names.emplace_back(key); });
  return names;
}

/// Does its first record name a step of its own, whatever it calls it ("useful_step"), and a figure beside it?
bool holds_steps(std::string_view list) {
  RowBuilder row;
  if (!read_json_record(first_element(list), row)) return false;
  const auto of_step = [](const RowNumber& number) {
    return step_key_rank(number.key) >= 0 || contains(number.key, "step") || contains(number.key, "iter") ||
           contains(number.key, "update") || contains(number.key, "episode");
  };
  const auto steps = std::count_if(row.numbers().begin(), row.numbers().end(), of_step);
  return steps > 0 && static_cast<size_t>(steps) < row.numbers().size();
}

/// A record of one of a document's lists.
struct ListedRecord {
  int64_t step;
  std::string_view list, text;
};

/// The records of all lists by their steps, where each of them has one and none of the lists goes back: a list of
/// evaluations beside that of the training is no second attempt. Empty otherwise.
std::vector<ListedRecord> by_step(const std::vector<std::pair<std::string_view, std::string_view>>& lists) {
  std::vector<ListedRecord> all;
  bool fit = true;
  for (const auto& [name, list] : lists) {
    int64_t last = kNoStep;
    for_each_element(list, [&, name = name](std::string_view element) {
      RowBuilder row;
      const bool read = fit && all.size() < kPointLimit && read_json_record(element, row);
      const int64_t step = read ? find_step_and_time(row.numbers(), row.texts()).step : kNoStep;
      fit = step != kNoStep && step >= last;
      if (fit) all.push_back({last = step, name, element});
    });
  }
  if (!fit) return {};
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return all;
}

/// The one object within `text`, some levels down, that has a list of step records; empty where there is none, or more.
std::string_view only_history_in(std::string_view text, int levels) {
  std::string_view found;
  size_t count = 0;
  for_each_member(text, [&](std::string_view, std::string_view value) {
    if (is_list_of_objects(value) && holds_steps(value)) {
      ++count;
      found = text;
    } else if (value[0] == '{' && levels > 0) {
      const std::string_view below = only_history_in(value, levels - 1);
      count += below.empty() ? 0 : 1;
      if (!below.empty()) found = below;
    }
  });
  return count == 1 ? found : std::string_view();
}

/// Does the list repeat what the history says already: {"train_loss": [{"step": 1, "loss": 0.5}, …]}?
bool repeats(std::string_view list, const std::vector<std::string>& history) {
  const std::vector<std::string> names = names_in(list);
  return !names.empty() && std::all_of(names.begin(), names.end(), [&history](const std::string& name) {
    return std::find(history.begin(), history.end(), name) != history.end();
  });
}

/// Collects the points of lists whose records are a step and one value: [{"step": 10, "value": 0.3}, …].
class SteppedLists {
 public:
  /// False where a list of records holds something else, or the text is garbled.
  bool collect(std::string_view object, const std::string& path, int depth) {
    constexpr int kDeepest = 4;
    bool fit = true;
    const bool whole = for_each_member(object, [&](std::string_view key, std::string_view value) {
      const std::string name = path.empty() ? std::string(key) : cat(path, "/", key);
      if (is_list_of_objects(value)) {
        fit = fit && list(name, value);
      } else if (value[0] == '{' && depth < kDeepest) {
        fit = fit && collect(value, is_history_name(key) ? path : name, depth + 1);
      }
    });
    return whole && fit;
  }

  std::vector<SeriesPoint> points;
  std::vector<std::string> keys;

 private:
  bool list(const std::string& name, std::string_view value) {
    keys.push_back(name);
    bool fit = true;
    const bool whole = for_each_element(value, [&](std::string_view element) {
      if (!fit || points.size() >= kPointLimit) return;
      row_.clear();
      fit = read_json_record(element, row_);
      const RowNumber* only = nullptr;
      for (const RowNumber& number : row_.numbers()) {
        if (number.key == "value") only = &number;
        fit = fit && (number.key == "value" || number.key == "epoch" || step_key_rank(number.key) >= 0 ||
                      contains(number.key, "time"));
      }
      const int64_t step = find_step_and_time(row_.numbers(), row_.texts()).step;
      fit = fit && only != nullptr && step != kNoStep;
      if (!fit) return;
      points.push_back(
          {step, static_cast<uint32_t>(keys.size() - 1), static_cast<uint32_t>(points.size()), only->value});
    });
    return whole && fit;
  }
  RowBuilder row_;
};

}  // namespace

/// Position in `piece` after the end of the document, or npos when it goes on; the scan's state is kept between pieces.
size_t JsonDocumentDecoder::find_end(std::string_view piece) {
  for (size_t i = 0; i < piece.size(); ++i) {
    if (nesting_.closes(piece[i])) return i + 1;
  }
  return std::string_view::npos;
}

void JsonDocumentDecoder::feed(std::string_view bytes, RecordSink& sink) {
  while (!bytes.empty() && !dead_) {
    const size_t end = find_end(bytes);
    const std::string_view piece = bytes.substr(0, end);
    if (pending_.size() + piece.size() > kJsonDocumentLimit) {
      sink.problem("unreadable", "the JSON document has more than 64 MiB and is left out", 0);
      dead_ = true;
      pending_ = std::string();
      return;
    }
    offset_ += piece.size();
    if (end == std::string_view::npos) {
      pending_.append(piece);
      return;
    }
    bytes.remove_prefix(end);
    if (!pending_.empty()) pending_.append(piece);
    document(pending_.empty() ? piece : std::string_view(pending_), sink);
    pending_ = std::string();
    consumed_ = offset_;
  }
}

void JsonDocumentDecoder::finish(RecordSink& sink) {
  if (dead_ || trim(pending_).empty()) return;
  sink.problem("torn-tail", cat("the JSON document that begins at byte ", consumed_, " does not end"), 0);
  pending_ = std::string();
}

void JsonDocumentDecoder::document(std::string_view text, RecordSink& sink) {
  const size_t begin = text.find_first_of("{[");
  if (begin == std::string_view::npos) return not_a_record_.report(sink, "this is no JSON object or list", 0);
  if (!trim(text.substr(0, begin)).empty() && text.substr(0, begin) != "\xef\xbb\xbf") {
    not_a_record_.report(sink, "there is other text before the JSON value", 0);
  }
  text.remove_prefix(begin);
  if (settings_) return put_json_properties(sink, "config", text);
  if (text[0] == '[') {
    records(text, "", sink);
  } else if (series(text, sink) || listed_records(text, sink) || columns(text, sink) || stepped_lists(text, sink)) {
    own_error(text, sink);
  } else {
    object(text, sink);
  }
}

/// {"name": {"step": value, …}, …}, at any depth.
bool JsonDocumentDecoder::series(std::string_view text, RecordSink& sink) {
  SeriesLeaves leaves;
  if (!for_each_leaf(text, leaves) || leaves.points.size() < 2 || leaves.others * 10 > leaves.points.size())
    return false;
  rows_ = hand_over_by_step(leaves.points, leaves.keys, row_, rows_, sink);
  return true;
}

/// {"name": [{"step": step, "value": value}, …], …}, at any depth, and no other lists of records.
bool JsonDocumentDecoder::stepped_lists(std::string_view text, RecordSink& sink) {
  SteppedLists lists;
  if (!lists.collect(text, "", 0) || lists.points.size() < 2) return false;
  rows_ = hand_over_by_step(lists.points, lists.keys, row_, rows_, sink);
  return true;
}

/// {"loss": [0.3, …], "reward": [0.1, …], …}: lists of numbers, one per metric, at any depth.
bool JsonDocumentDecoder::columns(std::string_view text, RecordSink& sink) {
  JsonArrays arrays;
  if (!arrays.read(text)) return false;
  rows_ = arrays.hand_over(rows_, row_, sink);
  return true;
}

/// {"scores": [0.5, …], "results": [{…}, …]}: a list of records, and lists of what else each of them had.
bool JsonDocumentDecoder::listed_records(std::string_view text, RecordSink& sink) {
  std::string_view records;
  size_t lists = 0, count = 0, numbers = 0;
  if (!for_each_member(text, [&](std::string_view, std::string_view value) {
        if (is_list_of_objects(value)) ++lists, records = value;
        numbers += is_list_of_numbers(value) ? 1 : 0;
      }))
    return false;
  if (lists != 1 || numbers == 0) return false;
  for_each_element(records, [&](std::string_view element) { count += element[0] == '{' ? 1 : 0; });
  std::vector<std::pair<std::string, std::vector<double>>> columns;
  bool fit = count >= 2 && count <= kPointLimit;
  for_each_member(text, [&](std::string_view key, std::string_view value) {
    if (!fit || !is_list_of_numbers(value)) return;
    auto& list = columns.emplace_back(name_of_one(key), std::vector<double>()).second;
    for_each_element(value, [&](std::string_view element) {
      double number = 0;
      if (!read_json_number(element, number)) number = std::numeric_limits<double>::quiet_NaN();  // null
      if (list.size() <= count) list.push_back(number);
    });
    fit = list.size() <= count && columns.size() * count <= kPointLimit;
    if (list.size() < count) columns.pop_back();  // of other steps, which nothing names
  });
  if (!fit || (columns.empty() && !holds_steps(records))) return false;
  size_t i = 0;
  for_each_element(records, [&](std::string_view element) {
    if (element[0] != '{' || i >= count || !read_json_record(element, row_)) return;
    for (const auto& [key, list] : columns) {
      const auto same = [&key = key](const RowNumber& one) { return one.key == key; };
      if (std::none_of(row_.numbers().begin(), row_.numbers().end(), same)) row_.add_number(key, list[i]);
    }
    ++i;
    const StepAndTime found = find_step_and_time(row_.numbers(), row_.texts());
    row_.hand_over(sink, ++rows_, found.step != kNoStep ? found.step : static_cast<int64_t>(i), found.at);
  });
  return true;
}

/// A single summary, or an object with lists of records among other facts.
void JsonDocumentDecoder::object(std::string_view text, RecordSink& sink) {
  constexpr int kDeepest = 3;
  size_t count = 0;
  std::vector<std::string> history;
  if (!for_each_member(text, [&](std::string_view key, std::string_view value) {
        count += is_list_of_objects(value) ? 1 : 0;
        if (history.empty() && is_history_name(key) && is_list_of_objects(value)) history = names_in(value);
      })) {
    return not_a_record_.report(sink, "the JSON document is garbled", 0);
  }
  if (count == 0) {
    const std::string_view below = only_history_in(text, kDeepest);
    return below.empty() ? record(text, "", sink) : object(below, sink);
  }
  std::deque<std::string> names;  // of the lists; a key is no longer there when the next one is read
  std::vector<std::pair<std::string_view, std::string_view>> lists;
  for_each_member(text, [&](std::string_view key, std::string_view value) {
    if (is_list_of_objects(value)) {
      if (!is_history_name(key) && repeats(value, history)) return;
      names.emplace_back(count == 1 || is_history_name(key) ? std::string_view() : key);
      lists.emplace_back(names.back(), value);
    } else if (value[0] != '[' && value[0] != '{') {
      put_json_properties(sink, cat("document/", key), value);
    }
  });
  const std::vector<ListedRecord> sorted = lists.size() > 1 ? by_step(lists) : std::vector<ListedRecord>();
  for (const ListedRecord& one : sorted) record(one.text, one.list, sink);
  for (const auto& [name, list] : lists) {
    if (sorted.empty()) records(list, name, sink);
  }
  own_error(text, sink);
}

/// {"status": "failed", "error": "…", "history": […]}: what ended the run, after all its records.
void JsonDocumentDecoder::own_error(std::string_view text, RecordSink& sink) {
  bool failed = false;
  std::string scratch;
  for_each_member(text, [&](std::string_view key, std::string_view value) {
    std::string_view words;
    if (value[0] != '"' || !read_json_string(value, scratch, words)) return;
    failed = failed || names_error(key);
    row_.add_text(row_.keep(key), row_.keep(words));
  });
  if (failed) {
    row_.hand_over(sink, ++rows_, kNoStep, {});
  } else {
    row_.clear();
  }
}

void JsonDocumentDecoder::records(std::string_view array, std::string_view prefix, RecordSink& sink) {
  const bool whole = for_each_element(array, [&](std::string_view element) { record(element, prefix, sink); });
  if (!whole) not_a_record_.report(sink, "the list of records is garbled", rows_);
}

void JsonDocumentDecoder::record(std::string_view text, std::string_view prefix, RecordSink& sink) {
  if (!read_json_record(text, row_)) return not_a_record_.report(sink, clip(text, 200), rows_ + 1);
  const StepAndTime found = find_step_and_time(row_.numbers(), row_.texts());
  if (!prefix.empty()) {
    for (RowNumber& number : row_.numbers()) {
      if (step_key_rank(number.key) < 0) number.key = row_.keep_joined(prefix, number.key);
    }
  }
  if (!row_.empty()) row_.hand_over(sink, ++rows_, found.step, found.at);
}

}  // namespace mw
