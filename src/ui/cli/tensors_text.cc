// How the differences between the tensors of two checkpoints are shown.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "ui/cli/checkpoint_text.h"
#include "ui/report/paint.h"

namespace mw {
namespace {

using Tensor = TensorsAnswer::Tensor;

constexpr size_t kShown = 20;  // tensors, without --all

/// How much of it is another: the norm of the change over that of the tensor before.
double relative(const Tensor& tensor) {
  if (tensor.norm[0] > 0) return tensor.change / tensor.norm[0];
  return tensor.change > 0 ? 1 : 0;
}

/// Of an optimizer's state, by the names that torch.optim and those who save it give: its moments change by more than
/// their own size between any two saves.
bool is_optimizer(std::string_view name) {
  constexpr std::array<std::string_view, 6> kMarks = {"exp_avg", "momentum_buffer", "max_exp_avg",
                                                      "optim.",  "optim_",          "optimizer"};
  constexpr std::array<std::string_view, 2> kWeights = {"fp32_flat_groups.", "single_partition_of_fp32_groups."};
  // Megatron's rank has both in one file, whose name speaks of the optimizer.
  constexpr std::string_view kBoth = "model_optim_rng.pt:";
  if (const size_t both = name.find(kBoth); both != std::string_view::npos) name.remove_prefix(both + kBoth.size());
  const auto is_in = [name](std::string_view part) { return contains(name, part); };
  if (std::any_of(kWeights.begin(), kWeights.end(), is_in)) return false;  // DeepSpeed keeps them with it
  return std::any_of(kMarks.begin(), kMarks.end(), [name](std::string_view mark) { return contains(name, mark); });
}

/// How many steps it did: no part of what was learnt.
bool is_counter(std::string_view name) {
  return is_optimizer(name) && (name.ends_with(".step") || name.ends_with(":step"));
}

/// What a person looks at first: NaN, then what is in one only or has another shape, then the weights, by their
/// change, the optimizer's moments and its counters.
int rank(const Tensor& tensor) {
  if (tensor.not_finite[0] + tensor.not_finite[1] > 0) return 0;
  if (!tensor.compared) return 1;
  if (tensor.changed == 0) return 5;
  if (is_counter(tensor.name)) return 4;
  return is_optimizer(tensor.name) ? 3 : 2;
}

/// By how much all together changed, of the weights or of the optimizer's state.
std::string all_together(const TensorsAnswer& answer, bool optimizer, std::string_view what) {
  double before = 0, change = 0;
  for (const Tensor& tensor : answer.tensors) {
    if (!tensor.compared || is_optimizer(tensor.name) != optimizer || is_counter(tensor.name)) continue;
    before += tensor.norm[0] * tensor.norm[0];
    change += tensor.change * tensor.change;
  }
  return before > 0 ? cat("; ", what, " changed by ", format_short(100 * std::sqrt(change / before), 3), " %") : "";
}

std::string what_of(const Tensor& tensor) {
  std::string out;
  if (tensor.not_finite[0] + tensor.not_finite[1] > 0)
    out = cat(tensor.not_finite[0], " → ", tensor.not_finite[1], " NaN or infinite; ");
  if (tensor.dtype[0].empty()) return cat(out, "only in the second, ", tensor.dtype[1], " ", tensor.shape[1]);
  if (tensor.dtype[1].empty()) return cat(out, "only in the first, ", tensor.dtype[0], " ", tensor.shape[0]);
  if (!tensor.compared)
    return cat(out, tensor.dtype[0], " ", tensor.shape[0], " → ", tensor.dtype[1], " ", tensor.shape[1]);
  if (tensor.changed == 0) return cat(out, "the same, norm ", format_short(tensor.norm[0]));
  if (tensor.norm[0] + tensor.norm[1] == 0) return cat(out, tensor.changed, " of ", tensor.numbers, " changed");
  return cat(out, "norm ", format_short(tensor.norm[0]), " → ", format_short(tensor.norm[1]), ", changed by ",
             format_short(100 * relative(tensor), 3), " % (", tensor.changed, " of ", tensor.numbers, ", largest ",
             format_short(tensor.largest), ")");
}

void put(JsonWriter& json, const Tensor& tensor) {
  json.begin_object().key("name").string(tensor.name).key("compared").boolean(tensor.compared);
  constexpr std::string_view kSides[2] = {"before", "after"};
  for (size_t side = 0; side < 2; ++side) {
    json.key(kSides[side]);
    if (tensor.dtype[side].empty()) {
      json.null();
      continue;
    }
    json.begin_object().key("dtype").string(tensor.dtype[side]).key("shape").string(tensor.shape[side]);
    json.key("norm")
        .number(tensor.norm[side])
        .key("not_finite")
        .integer(static_cast<int64_t>(tensor.not_finite[side]))
        .end_object();
  }
  if (tensor.compared) {
    json.key("numbers")
        .integer(static_cast<int64_t>(tensor.numbers))
        .key("changed")
        .integer(static_cast<int64_t>(tensor.changed));
    json.key("change_norm").number(tensor.change).key("largest_change").number(tensor.largest);
  }
  json.end_object();
}

}  // namespace

std::string tensors_json(const TensorsAnswer& answer) {
  std::string out;
  {
    JsonWriter json(out);
    json.begin_object().key("schema").string("midwatch.tensors/1");
    json.key("before").string(answer.paths[0]).key("after").string(answer.paths[1]);
    json.key("same")
        .integer(static_cast<int64_t>(answer.same))
        .key("changed")
        .integer(static_cast<int64_t>(answer.changed));
    json.key("only_before")
        .integer(static_cast<int64_t>(answer.only[0]))
        .key("only_after")
        .integer(static_cast<int64_t>(answer.only[1]));
    json.key("reshaped").integer(static_cast<int64_t>(answer.reshaped));
    json.key("not_finite_before").integer(static_cast<int64_t>(answer.not_finite[0]));
    json.key("not_finite_after").integer(static_cast<int64_t>(answer.not_finite[1])).key("unread").begin_array();
    for (const std::string& file : answer.unread) json.string(file);
    json.end_array().key("notes").begin_array();
    for (const std::string& note : answer.notes) json.string(note);
    json.end_array().key("tensors").begin_array();
    for (const Tensor& tensor : answer.tensors) put(json, tensor);
    json.end_array().end_object();
  }
  return out + "\n";
}

std::string tensors_text(const TensorsAnswer& answer, bool all, const Console& console) {
  const Painter paint(console);
  std::string summary =
      cat(answer.tensors.size(), " tensors: ", answer.changed, " changed, ", answer.same, " the same");
  if (answer.only[0] > 0) summary += cat(", ", answer.only[0], " only in the first");
  if (answer.only[1] > 0) summary += cat(", ", answer.only[1], " only in the second");
  if (answer.reshaped > 0) summary += cat(", ", answer.reshaped, " of another shape or kind");
  for (size_t side = 0; side < 2; ++side) {
    if (answer.not_finite[side] > 0)
      summary += cat("; ", answer.not_finite[side], " with NaN or infinities in the ", side == 0 ? "first" : "second");
  }
  summary += all_together(answer, false, "the weights together") + all_together(answer, true, "the optimizer's state");
  std::vector<const Tensor*> order;
  for (const Tensor& tensor : answer.tensors) order.push_back(&tensor);
  std::string out = cat(paint.bold(cat(escape_terminal(answer.paths[0]), "\n", escape_terminal(answer.paths[1]))), "\n",
                        paint.hanging("", summary, 4));
  for (const std::string& file : answer.unread)
    out += paint.hanging("not compared: ", cat(file, ". midwatch checkpoint verify says more"), 3, &Painter::red);
  for (const std::string& note : answer.notes) out += paint.hanging("note: ", note, 3);
  std::stable_sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return rank(*a) != rank(*b) ? rank(*a) < rank(*b) : relative(*a) > relative(*b);
  });
  for (size_t i = 0; i < order.size() && (all || i < kShown); ++i) {
    out += paint.hanging("  ", order[i]->name, 2);
    out += paint.hanging("      ", what_of(*order[i]), 3, rank(*order[i]) == 0 ? &Painter::red : nullptr);
  }
  if (!all && order.size() > kShown) out += cat("  … and ", order.size() - kShown, " more (--all shows them)\n");
  return out;
}

}  // namespace mw
