// Does what trainer and engine need fit into the GPUs' memory?
#include "base/numbers.h"
#include "base/text.h"
#include "core/preflight/estimate.h"
#include "core/preflight/layout.h"
#include "core/preflight/lint.h"
#include "core/preflight/values.h"

namespace mw::preflight {
namespace {

constexpr double kReserved = 1.5e9;  // bytes that CUDA, NCCL and the allocator's fragments take beside what is counted
constexpr double kSure = 0.9;        // of what the engine needs: less is an error, more a warning

std::string gigabytes(double bytes) { return cat(format_short(bytes / 1e9, 3), " GB"); }

std::string of_model(const Facts& facts) {
  return cat(facts.model->name, ", ", format_short(facts.model->parameters / 1e9, 3), " billion parameters");
}

/// Advice, the most useful first, of what the settings have not got yet.
std::string advice(const Facts& facts, const TrainerMemory& memory, bool shared) {
  std::string out;
  const auto add = [&](std::string_view one) { out += cat(out.empty() ? "" : "; or ", one); };
  const Value recompute = value_of(facts, "recompute");
  if (!truth_of(facts, "recompute").value_or(true) && memory.activations > kReserved && !recompute.key.empty()) {
    add(cat("turn activation checkpointing on (", recompute.key, ")"));
  }
  if (shared) add(cat("lower ", value_of(facts, "engine_memory").key));
  const Value length = value_of(facts, "train_length");
  if (memory.activations + memory.logits > memory.states / 4 && !length.key.empty()) add(cat("lower ", length.key));
  if (memory.trains_all && !value_of(facts, "lora").key.empty())
    add(cat("train adapters (", value_of(facts, "lora").key, ")"));
  add("use more GPUs for the trainer, larger ones, or a smaller model");
  return out;
}

void check_trainer(const Facts& facts, double gpu, const Lint& lint, std::vector<Finding>& out) {
  const auto memory = trainer_memory(facts);
  const Layout layout = layout_of(facts);
  if (!memory.has_value()) return;
  const double share = number_of(facts, "engine_memory").value_or(0);
  const bool beside = layout.shared && !layout.takes_turns;
  const double engine = beside ? share * gpu : 0;
  const double all = memory->states + memory->activations + memory->logits + engine + kReserved;
  if (all <= gpu || memory->states <= 0) return;
  const bool sure = memory->states + engine + kReserved > gpu;  // activations depend on more than is known here
  std::string parts =
      cat(gigabytes(memory->states), " of weights", memory->trains_all ? ", gradients and optimizer" : "", " (",
          of_model(facts), ", ", format_short(memory->per_parameter), " bytes each",
          memory->gpus > 1 ? cat(", over ", memory->gpus, " GPUs") : "", ")");
  if (memory->activations + memory->logits > 1e9)
    parts += cat(", ", gigabytes(memory->activations + memory->logits), " of activations");
  if (engine > 0) parts += cat(", ", gigabytes(engine), " for the engine on the same GPU");
  out.push_back(
      finding_at(lint, sure ? Level::kError : Level::kWarning, value_of(facts, "model").setting,
                 cat("the trainer needs about ", gigabytes(all), " of a GPU with ", gigabytes(gpu), ": ", parts),
                 advice(facts, *memory, beside)));
}

void check_engine(const Facts& facts, double gpu, const Lint& lint, std::vector<Finding>& out) {
  const auto need = engine_memory(facts);
  const auto share = number_of(facts, "engine_memory");
  if (!need.has_value() || !share.has_value() || *share <= 0 || *share > 1) return;
  const double has = *share * gpu;
  if (*need <= has) return;
  const Value tensor = value_of(facts, "tensor_parallel"), memory = value_of(facts, "engine_memory");
  out.push_back(finding_at(
      lint, *need * kSure > has ? Level::kError : Level::kWarning, value_of(facts, "model").setting,
      cat("the engine may take ", gigabytes(has), " of a GPU (", memory.key, " = ", memory.text, " of ", gigabytes(gpu),
          ") and needs ", gigabytes(*need), " for weights and one full sequence (", of_model(facts), ")"),
      cat("raise ", memory.key, tensor.key.empty() ? "" : cat(" or ", tensor.key), ", or take a smaller model")));
}

void check_memory(const Facts& facts, const Lint& lint, std::vector<Finding>& out) {
  const auto gpu = gpu_bytes(facts);
  if (!gpu.has_value() || facts.framework == nullptr) return;
  check_trainer(facts, *gpu, lint, out);
  check_engine(facts, *gpu, lint, out);
}

}  // namespace

namespace lints {
extern const Lint gpu_memory;
const Lint gpu_memory = {
    "gpu-memory",
    Level::kError,
    "Weights, optimizer, activations and the engine do not fit into the GPUs that are there.",
    "CUDA out of memory, in the first step or when the engine starts. The estimate counts the "
    "states by the framework's types "
    "and one sequence of full length; it is an error where the states and the engine alone are too much.",
    "Rajbhandari et al. 2020 (ZeRO) for states, Korthikanti et al. 2022 for activations; "
    "measured: 7B with LoRA and full "
    "activation checkpointing beside an engine at 0.5 took 72 of 81 GB",
    check_memory};
}  // namespace lints

}  // namespace mw::preflight
