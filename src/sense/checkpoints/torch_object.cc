#include "sense/checkpoints/torch_object.h"

#include <array>

#include "base/one_of.h"
#include "base/text.h"
#include "sense/checkpoints/optimizer_counter.h"

namespace mw {
namespace {

using Kind = PickleValue::Kind;

constexpr size_t kNameBytes = 300;  // of a tensor's name
constexpr size_t kNumbers = 4000;   // whole numbers that are kept
constexpr int kNumberDepth = 4;     // dicts above a whole number that is kept
constexpr size_t kKeys = 2000;      // of the outermost dict, and as many of those in it

class Walk {
 public:
  explicit Walk(const Pickle& pickle) : pickle_(pickle), seen_(pickle.values.size(), false) {}

  TorchObject run() {
    visit(pickle_.root, "", 0);
    return std::move(object_);
  }

 private:
  const PickleValue& at(uint32_t number) const { return pickle_.values[number]; }
  bool is(uint32_t number, Kind kind) const { return pickle_.is(number, kind); }

  void visit(uint32_t number, const std::string& path, int depth) {
    if (number >= pickle_.values.size()) return;
    const PickleValue& value = at(number);
    object_.opaque = object_.opaque || (value.kind == Kind::kBytes && !value.text.empty());
    if (value.kind == Kind::kInteger) return keep_number(path, value.integer, depth);
    if (value.kind == Kind::kReal) return keep_steps(path, whole_number(value.real));
    if (value.kind < Kind::kTuple || value.kind == Kind::kGlobal || seen_[number]) return;
    if (depth > kTorchDepth) {
      object_.clipped = true;
      return;
    }
    seen_[number] = true;
    if (value.kind == Kind::kPersistent) return keep_storage(value);
    if (value.kind == Kind::kCall && rebuilds_tensor(value)) return keep_tensor(value, path);
    if (value.kind == Kind::kCall) {
      object_.opaque = object_.opaque || !is_plain(value);
      visit(value.args, path, depth + 1);
      if (!value.items.empty()) visit_pairs(value, path, depth);
      visit(value.state, path, depth);
      return;
    }
    if (value.kind == Kind::kDict) return visit_pairs(value, path, depth);
    for (size_t i = 0; i < value.items.size(); ++i) {
      const uint32_t item = value.items[i];
      if (is(item, Kind::kInteger) && depth > 1) continue;  // elements of lists and shapes are no counters
      visit(item, path.empty() ? path : cat(path, ".", i), depth + 1);
    }
  }

  void visit_pairs(const PickleValue& dict, const std::string& path, int depth) {
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const PickleValue& key = at(dict.items[i]);
      std::string name;
      if (key.kind == Kind::kText) name = clip(sanitize_utf8(key.text.substr(0, kNameBytes)), kNameBytes);
      if (key.kind == Kind::kInteger) name = cat(key.integer);
      const std::string below = path.empty() ? name : path.size() > kNameBytes ? path : cat(path, ".", name);
      // What a model of many tensors has comes first in most files: it must not hide what lies beside it.
      const bool none = is(dict.items[i + 1], Kind::kNone);  // an optimizer that the trainer has none of, say
      if (depth <= 1 && !none && keys_[depth]++ < kKeys) object_.keys.insert(below);
      if (depth == 0 && name == "param_shapes") object_.param_numbers = numbers_in_shapes(dict.items[i + 1], 0);
      visit(dict.items[i + 1], below, depth + 1);
    }
  }

  void keep_number(const std::string& path, int64_t value, int depth) {
    if (depth <= kNumberDepth && object_.numbers.size() < kNumbers)
      object_.numbers.emplace(path.empty() ? "number" : path, value);
    if (value >= 0) keep_steps(path, value);
  }

  void keep_steps(const std::string& path, std::optional<int64_t> steps) {
    if (steps && object_.steps.size() < kTorchTensors && is_step_counter(path)) object_.steps.emplace(path, *steps);
  }

  bool calls(const PickleValue& call, std::string_view name) const {
    return is(call.callable, Kind::kGlobal) && at(call.callable).text == name;
  }
  /// A container of Python's own, or settings: what is in it is visited.
  bool is_plain(const PickleValue& call) const {
    constexpr std::array<std::string_view, 11> kPlain = {"OrderedDict", "defaultdict", "Counter",    "deque",
                                                         "set",         "frozenset",   "Namespace",  "SimpleNamespace",
                                                         "Size",        "PosixPath",   "WindowsPath"};
    return is(call.callable, Kind::kGlobal) && is_one_of(at(call.callable).text, kPlain);
  }
  bool rebuilds_tensor(const PickleValue& call) const {
    return (calls(call, "_rebuild_tensor_v2") || calls(call, "_rebuild_tensor") || calls(call, "_rebuild_tensor_v3")) &&
           is(call.args, Kind::kTuple) && at(call.args).items.size() >= 4 &&
           is(at(call.args).items[0], Kind::kPersistent) && is(at(call.args).items[1], Kind::kInteger);
  }

  /// Adds the storage that a persistent id names; its key, "" where it is none.
  std::string storage_of(const PickleValue& persistent, Dtype* dtype) {
    if (!is(persistent.args, Kind::kTuple)) return "";
    const std::vector<uint32_t>& id = at(persistent.args).items;
    if (id.size() < 5 || !is(id[0], Kind::kText) || at(id[0]).text != "storage" || !is(id[1], Kind::kGlobal) ||
        !is(id[2], Kind::kText) || !is(id[4], Kind::kInteger) || at(id[4]).integer < 0) {
      return "";
    }
    std::string key(at(id[2]).text.substr(0, kNameBytes));
    *dtype = dtype_named(at(id[1]).text);
    if (object_.storages.size() < kTorchTensors) {
      object_.storages.emplace(key, TorchStorage{*dtype, static_cast<uint64_t>(at(id[4]).integer)});
    } else {
      object_.clipped = true;
    }
    return key;
  }

  void keep_storage(const PickleValue& persistent) {
    Dtype dtype = Dtype::kOther;
    (void)storage_of(persistent, &dtype);
  }

  bool integers(uint32_t tuple, std::vector<int64_t>& out) const {
    if (is(tuple, Kind::kCall)) {  // torch.Size((2, 3))
      const PickleValue& call = at(tuple);
      if (!is(call.args, Kind::kTuple) || at(call.args).items.size() != 1) return false;
      tuple = at(call.args).items[0];
    }
    if (!is(tuple, Kind::kTuple) || at(tuple).items.size() > 16) return false;
    for (const uint32_t item : at(tuple).items) {
      if (!is(item, Kind::kInteger) || at(item).integer < 0) return false;
      out.push_back(at(item).integer);
    }
    return true;
  }

  /// Lists of dicts of shapes, or one such dict.
  uint64_t numbers_in_shapes(uint32_t number, int depth) {
    constexpr int kShapeDepth = 3;
    constexpr uint64_t kMost = uint64_t{1} << 60;
    if (number >= pickle_.values.size() || depth > kShapeDepth || ++shapes_ > kTorchTensors) return 0;
    const PickleValue& value = at(number);
    std::vector<int64_t> shape;
    if (depth > 0 && value.kind != Kind::kList && integers(number, shape)) return numbers_in(shape);
    const bool pairs = value.kind == Kind::kDict || value.kind == Kind::kCall;
    uint64_t all = 0;
    for (size_t i = pairs ? 1 : 0; i < value.items.size(); i += pairs ? 2 : 1)
      all = std::min(kMost, all + numbers_in_shapes(value.items[i], depth + 1));
    return shapes_ > kTorchTensors ? 0 : all;
  }

  /// A view may leave numbers out between its rows, or take them in another order.
  static uint64_t end_of(uint64_t first, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
    constexpr uint64_t kBeyond = uint64_t{1} << 62;  // of any storage
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return first;
    uint64_t last = std::min(first, kBeyond);
    for (size_t i = 0; i < shape.size(); ++i) {
      const auto steps = static_cast<uint64_t>(shape[i] - 1), stride = static_cast<uint64_t>(strides[i]);
      if (steps > 0 && stride > (kBeyond - last) / steps) return kBeyond;
      last += steps * stride;
    }
    return last + 1;
  }

  void keep_tensor(const PickleValue& call, const std::string& path) {
    const std::vector<uint32_t>& args = at(call.args).items;
    TorchTensor tensor;
    Dtype dtype = Dtype::kOther;
    tensor.storage = storage_of(at(args[0]), &dtype);
    std::vector<int64_t> strides;
    if (tensor.storage.empty() || at(args[1]).integer < 0 || !integers(args[2], tensor.shape) ||
        !integers(args[3], strides) || strides.size() != tensor.shape.size()) {
      return;
    }
    note_kind(args, tensor.storage);
    tensor.name = path.empty() ? "tensor" : path;
    tensor.first = static_cast<uint64_t>(at(args[1]).integer);
    tensor.end = end_of(tensor.first, tensor.shape, strides);
    uint64_t stride = 1;
    for (size_t i = strides.size(); i-- > 0;) {
      if (tensor.shape[i] > 1 && static_cast<uint64_t>(strides[i]) != stride) tensor.dense = false;
      stride *= static_cast<uint64_t>(tensor.shape[i]);
    }
    if (object_.tensors.size() < kTorchTensors) {
      object_.tensors.push_back(std::move(tensor));
    } else {
      object_.clipped = true;
    }
  }

  /// Numbers of 8 bits have no class of storage: the call names their kind, beside a storage of bytes.
  void note_kind(const std::vector<uint32_t>& args, const std::string& key) {
    constexpr size_t kKind = 6;  // of _rebuild_tensor_v3
    if (args.size() <= kKind || !is(args[kKind], Kind::kGlobal)) return;
    const Dtype dtype = dtype_named(at(args[kKind]).text);
    const auto storage = object_.storages.find(key);
    if (size_of(dtype) == 1 && storage != object_.storages.end() && storage->second.dtype == Dtype::kOther)
      storage->second.dtype = dtype;
  }

  const Pickle& pickle_;
  std::vector<bool> seen_;
  size_t keys_[2] = {0, 0};  // that were met, by depth
  size_t shapes_ = 0;        // of "param_shapes", that were met
  TorchObject object_;
};

}  // namespace

TorchObject torch_object(const Pickle& pickle) { return Walk(pickle).run(); }

uint64_t numbers_in(const std::vector<int64_t>& shape) {
  constexpr uint64_t kMost = uint64_t{1} << 60;
  uint64_t numbers = 1;
  for (const int64_t dimension : shape) {
    const auto wide = static_cast<uint64_t>(dimension);
    if (wide != 0 && numbers > kMost / wide) return 0;
    numbers *= wide;
  }
  return numbers;
}

}  // namespace mw
