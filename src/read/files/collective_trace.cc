#include "read/files/collective_trace.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/numbers.h"
#include "base/text.h"
#include "read/files/pickle.h"

namespace mw {
namespace {

constexpr size_t kGroupLimit = 256;  // process groups of one dump
constexpr size_t kNameLimit = 40;    // bytes of a foreign name

/// A value of either form.
class Node {
 public:
  explicit Node(const Json* json) : json_(json) {}
  Node(const Pickle* pickle, uint32_t number) : pickle_(pickle), number_(number) {}

  Node find(std::string_view key) const {
    if (pickle_ != nullptr) return {pickle_, number_ == kNoValue ? kNoValue : pickle_->find(number_, key)};
    return Node(json_ == nullptr ? nullptr : json_->find(key));
  }
  std::string text() const {
    if (pickle_ != nullptr) {
      if (pickle_->is(number_, PickleValue::Kind::kText)) return std::string(pickle_->at(number_).text);
      if (pickle_->is(number_, PickleValue::Kind::kInteger)) return cat(pickle_->at(number_).integer);
      return "";
    }
    if (json_ == nullptr) return "";
    return json_->is_number() ? cat(json_->integer()) : json_->is_string() ? json_->string() : "";
  }
  int64_t integer() const { return parse_int(text()).value_or(-1); }
  /// The first element of a list or a tuple.
  Node first() const {
    if (pickle_ != nullptr) {
      const bool list = number_ != kNoValue && !pickle_->at(number_).items.empty() && !is_dict();
      return {pickle_, list ? pickle_->at(number_).items.front() : kNoValue};
    }
    return Node(json_ != nullptr && json_->is_array() && !json_->items().empty() ? &json_->items().front() : nullptr);
  }
  template <typename Each>
  void for_each(Each each) const {
    if (pickle_ != nullptr && number_ != kNoValue) {
      const std::vector<uint32_t>& items = pickle_->at(number_).items;
      for (size_t i = 0; i < items.size(); i += is_dict() ? 2 : 1) {
        if (is_dict() && i + 1 < items.size()) each(Node(pickle_, items[i]).text(), Node(pickle_, items[i + 1]));
        if (!is_dict()) each(std::string(), Node(pickle_, items[i]));
      }
    } else if (json_ != nullptr && json_->is_array()) {
      for (const Json& item : json_->items()) each(std::string(), Node(&item));
    } else if (json_ != nullptr) {
      for (const Json::Member& member : json_->members()) each(member.first, Node(&member.second));
    }
  }

 private:
  bool is_dict() const { return pickle_->is(number_, PickleValue::Kind::kDict); }

  const Pickle* pickle_ = nullptr;
  uint32_t number_ = kNoValue;
  const Json* json_ = nullptr;
};

/// Where the rank stands in one process group.
struct Group {
  int64_t enqueued = -1, completed = -1;
  int64_t last = -1;  ///< the first collective that is not complete; else the last
  std::string operation, state;
  int64_t created_ns = 0;
};
using Groups = std::map<int64_t, Group>;

/// Letters, digits and "_" of a foreign name, as the watchdog writes it: "nccl:all_reduce" is ALLREDUCE.
std::string operation_of(std::string_view name) {
  std::string out;
  for (const char c : name.substr(name.rfind(':') + 1)) {
    if (out.size() < kNameLimit && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
      out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return out;
}

void note_entry(const Node& entry, Groups& groups) {
  const int64_t id = entry.find("pg_id").integer(), number = entry.find("collective_seq_id").integer();
  if (id < 0 || number < 0 || (groups.size() >= kGroupLimit && groups.count(id) == 0)) return;
  const std::string state = entry.find("state").text();
  if (state != "completed" && state != "started" && state != "scheduled") return;
  Group& group = groups[id];
  group.enqueued = std::max(group.enqueued, number);
  if (state == "completed") group.completed = std::max(group.completed, number);
  const bool waits = !group.state.empty() && group.state != "completed";
  if (waits ? state == "completed" || number >= group.last : state == "completed" && number < group.last) return;
  group.last = number;
  group.state = state;
  group.operation = operation_of(entry.find("profiling_name").text());
  group.created_ns = entry.find("time_created_ns").integer();
}

/// The buffer holds the last collectives only; the status says how far a group got all the same.
void note_status(const std::string& id, const Node& status, Groups& groups) {
  const auto number = parse_int(id);
  if (!number || *number < 0 || groups.size() >= kGroupLimit) return;
  Group& group = groups[*number];
  group.enqueued = std::max(group.enqueued, status.find("last_enqueued_collective").integer());
  group.completed = std::max(group.completed, status.find("last_completed_collective").integer());
}

Groups groups_of(const Node& root) {
  Groups groups;
  root.find("entries").for_each([&](const std::string&, const Node& entry) { note_entry(entry, groups); });
  root.find("pg_status").for_each([&](const std::string& id, const Node& status) { note_status(id, status, groups); });
  return groups;
}

}  // namespace

bool is_collective_trace(std::string_view head) {
  if (head.empty() || (head[0] != '\x80' && head[0] != '{')) return false;
  return contains(head, "pg_config") && (contains(head, "pg_status") || contains(head, "entries"));
}

std::optional<int64_t> rank_of_trace(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view end : {".json", ".pkl", ".pickle"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  return begin == name.size() || name.size() - begin > 6 ? std::nullopt : parse_int(name.substr(begin));
}

void CollectiveTraceDecoder::feed(std::string_view bytes, RecordSink& sink) {
  bytes_ += bytes.size();
  if (done_ || pending_.size() + bytes.size() > kCollectiveTraceLimit) {
    if (!done_) sink.problem("line-too-long", cat("a dump of more than ", kCollectiveTraceLimit, " bytes"), 1);
    done_ = true;
    pending_ = {};
    return;
  }
  pending_ += bytes;
}

void CollectiveTraceDecoder::finish(RecordSink& sink) {
  if (done_ || pending_.empty()) return;
  done_ = true;
  if (!read(sink)) sink.problem("torn-tail", "a dump of collectives that is cut or damaged", 1);
  pending_ = {};
}

bool CollectiveTraceDecoder::read(RecordSink& sink) {
  Groups groups;
  if (pending_[0] == '{') {
    const auto json = Json::parse(pending_);
    if (!json.ok()) return false;
    groups = groups_of(Node(&*json));
  } else {
    const auto pickle = read_pickle(pending_);
    if (!pickle.ok()) return false;
    groups = groups_of(Node(&*pickle, pickle->root));
  }
  if (!rank_) return true;  // whose it is, nobody says
  std::string text = cat("Flight recorder of rank ", *rank_, ":");
  Time at;
  for (const auto& [id, group] : groups) {
    if (group.enqueued < 0) continue;
    text += cat(" group ", id, " has done ", group.completed, " of ", group.enqueued,
                group.operation.empty() ? "" : cat(" (", group.operation, " ", group.state, ")"), ";");
    at = std::max(at, group.created_ns > 0 ? Time{group.created_ns} : Time{});
  }
  if (text.back() == ';') sink.text(text, 1, at);
  return true;
}

}  // namespace mw
