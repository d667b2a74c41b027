#include "core/preflight/estimate.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/layout.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

// Bytes of a layer's activations for each token and hidden unit: 34 without recomputation where attention keeps no
// matrix of scores, 2 with full recomputation (Korthikanti et al. 2022, arXiv:2205.05198, sections 4 and 5).
constexpr double kActivation = 34, kRecomputed = 2;
constexpr double kLogit = 6;           // bytes: a bfloat16 of the model and a float32 of the loss
constexpr double kLongest = 16384;     // tokens: what is longer is computed in pieces
constexpr double kWeight = 2;          // bytes of a weight in the engine (bfloat16)
constexpr double kTrainedStates = 16;  // bytes: float32 weight, gradient and two moments of Adam
constexpr double kBillion = 1e9;

double parameters_of(const Facts& facts) { return facts.model.has_value() ? facts.model->parameters : 0; }

/// The name says that weights have fewer than 16 bits.
bool is_quantised(std::string_view name) {
  const std::string lower = to_lower(name);
  for (const std::string_view word : {"int4", "int8", "fp8", "fp4", "awq", "gptq", "4bit", "8bit"}) {
    if (contains(lower, word)) return true;
  }
  return false;
}

bool adapters_only(const Facts& facts) {
  const Value rank = value_of(facts, "lora");
  if (rank.number.has_value()) return rank.set && *rank.number > 0;
  return rank.set && truth_of(facts, "lora").value_or(false);
}

}  // namespace

std::optional<TrainerMemory> trainer_memory(const Facts& facts) {
  const double parameters = parameters_of(facts);
  if (parameters <= 0 || truth_of(facts, "cpu_offload").value_or(false)) return std::nullopt;
  TrainerMemory out;
  out.trains_all = !adapters_only(facts);
  out.per_parameter = out.trains_all ? number_of(facts, "bytes_per_trained").value_or(kTrainedStates)
                                     : number_of(facts, "bytes_per_frozen").value_or(kWeight);
  out.gpus = std::max(1.0, layout_of(facts).trainer_count.value_or(0) * number_of(facts, "nodes").value_or(1));
  if (layout_of(facts).trainer_count.value_or(0) <= 0) return std::nullopt;
  out.states = parameters * out.per_parameter / out.gpus;
  const ModelFacts& model = *facts.model;
  const double length = std::min(kLongest, number_of(facts, "train_length").value_or(0));
  const double split = std::max(1.0, number_of(facts, "context_parallel").value_or(1)) *
                       std::max(1.0, number_of(facts, "trainer_tensor_parallel").value_or(1));
  const bool recomputed = truth_of(facts, "recompute").value_or(false);
  out.activations = length / split * model.hidden * model.layers * (recomputed ? kRecomputed : kActivation);
  out.logits = length / split * model.vocabulary * kLogit;
  return out;
}

std::optional<double> engine_memory(const Facts& facts) {
  const double parameters = parameters_of(facts);
  if (parameters <= 0) return std::nullopt;
  const double parallel = std::max(1.0, number_of(facts, "tensor_parallel").value_or(1));
  const Value backend = value_of(facts, "engine_backend");
  if (backend.set && !contains(to_lower(backend.text), "vllm")) return std::nullopt;  // its settings are not these
  const Value type = value_of(facts, "engine_type");
  if (is_quantised(type.text) || is_quantised(facts.model->name)) return std::nullopt;
  const ModelFacts& model = *facts.model;
  const double context = number_of(facts, "engine_context").value_or(0);
  const double cache = 2 * kWeight * model.layers * model.kv_heads * model.head_size * context;
  return (parameters * kWeight + cache) / parallel;
}

std::optional<CheckpointSize> checkpoint_size(const Facts& facts) {
  CheckpointSize out;
  if (facts.measured.checkpoint_bytes.has_value()) {
    out.bytes = *facts.measured.checkpoint_bytes;
    out.measured = true;
    out.how = cat("measured in run ", facts.measured.run);
    return out;
  }
  const double parameters = parameters_of(facts);
  const bool adapters = adapters_only(facts);
  const auto each = number_of(facts, adapters ? "checkpoint_bytes_frozen" : "checkpoint_bytes_trained");
  if (parameters <= 0 || !each.has_value()) return std::nullopt;
  out.bytes = parameters * *each;
  out.how = cat(format_short(parameters / kBillion, 3), " billion parameters of ", format_short(*each), " bytes each",
                adapters ? "; adapters are trained, all are saved" : "");
  return out;
}

std::optional<bool> saves_checkpoints(const Facts& facts) {
  if (facts.framework == nullptr) return std::nullopt;
  const auto& meanings = facts.framework->meanings;
  if (meanings.find("checkpoint_on") != meanings.end()) {
    const auto on = truth_of(facts, "checkpoint_on");
    const Value value = value_of(facts, "checkpoint_on");
    if (!on.has_value() && !value.set) return false;
    return on;
  }
  if (meanings.find("checkpoint_every") == meanings.end()) return std::nullopt;
  const Value every = value_of(facts, "checkpoint_every");
  if (every.setting != nullptr && every.setting->unsure) return std::nullopt;
  return every.number.value_or(0) > 0;
}

}  // namespace mw::preflight
