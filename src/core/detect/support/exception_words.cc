// Libraries and trainers raise types of their own and put the reason into words. The words are far fewer than the
// types: system errors have numbers, HTTP has statuses, packages have one subject each, and refusals are phrased alike.
#include "core/detect/support/exception_words.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/detect/support/refusals.h"

namespace mw::detect {
namespace {

constexpr size_t kWordsBytes = 600;  // of a message: its first sentences say what is wrong
constexpr size_t kStatusReach = 24;  // bytes between a word such as "status" and the number
constexpr std::string_view kDigits = "0123456789";

struct SystemError {
  int number;
  std::string_view name;
  ExceptionClass is;
};

// Linux, errno(3).
constexpr std::array kSystemErrors = {
    SystemError{1, "EPERM", {"resource-limit", "permission-denied", false}},
    SystemError{2, "ENOENT", {"config-error", "file-not-found", false}},
    SystemError{5, "EIO", {"checkpoint-failed", "eio-input-output-error", false}},
    SystemError{11, "EAGAIN", {"resource-limit", "resource-temporarily-unavailable-eagain", false}},
    SystemError{12, "ENOMEM", {"host-out-of-memory", "errno-12-cannot-allocate", false}},
    SystemError{13, "EACCES", {"resource-limit", "permission-denied", false}},
    SystemError{21, "EISDIR", {"config-error", "file-not-found", false}},
    SystemError{23, "ENFILE", {"resource-limit", "emfile-too-many-open-files", false}},
    SystemError{24, "EMFILE", {"resource-limit", "emfile-too-many-open-files", false}},
    SystemError{27, "EFBIG", {"resource-limit", "file-size-limit", false}},
    SystemError{28, "ENOSPC", {"disk-full", "enospc-generic", false}},
    SystemError{30, "EROFS", {"disk-full", "read-only-filesystem", false}},
    SystemError{32, "EPIPE", {"worker-lost", "pipe-reader-gone", true}},
    SystemError{37, "ENOLCK", {"resource-limit", "no-locks-available", false}},
    SystemError{98, "EADDRINUSE", {"resource-limit", "port-in-use", false}},
    SystemError{101, "ENETUNREACH", {"network", "network-unreachable", false}},
    SystemError{104, "ECONNRESET", {"network", "connection-reset-by-peer", true}},
    SystemError{107, "ENOTCONN", {"disk-full", "transport-endpoint-not-connected", false}},
    SystemError{110, "ETIMEDOUT", {"network", "remote-read-timeout", false}},
    SystemError{111, "ECONNREFUSED", {"network", "connection-refused", true}},
    SystemError{113, "EHOSTUNREACH", {"network", "network-unreachable", false}},
    SystemError{116, "ESTALE", {"checkpoint-failed", "nfs-stale-file-handle", false}},
    SystemError{122, "EDQUOT", {"disk-full", "quota-exceeded", false}},
};

struct Status {
  int from, to;
  ExceptionClass is;
};

constexpr std::string_view kBadRequest = "http-400-bad-request";  // what is bad about it may stand in the message

// RFC 9110, 15; 429 is of RFC 6585.
constexpr std::array kStatuses = {
    Status{401, 401, {"credentials", "openai-auth-error", false}},
    Status{402, 402, {"environment-fault", "judge-quota-exhausted", false}},
    Status{403, 403, {"credentials", "openai-auth-error", false}},
    Status{404, 405, {"config-error", "http-not-found", false}},
    Status{407, 407, {"credentials", "openai-auth-error", false}},
    Status{408, 408, {"network", "remote-read-timeout", false}},
    Status{429, 429, {"environment-fault", "judge-api-rate-limit", false}},
    Status{400, 499, {"code-error", kBadRequest, false}},
    Status{500, 599, {"network", "http-server-error", false}},
};

struct Words {
  std::string_view first;   // of the folded text
  std::string_view second;  // as well; "": none
  ExceptionClass is;
};

// By where the type is defined: one package has one subject.
constexpr std::array kPackages = {
    Words{"docker.", "", {"environment-fault", "sandbox-creation-failed", false}},
    Words{"kubernetes.", "", {"environment-fault", "sandbox-creation-failed", false}},
    Words{"playwright.", "", {"environment-fault", "sandbox-execution-failed", false}},
    Words{"selenium.", "", {"environment-fault", "sandbox-execution-failed", false}},
    Words{"botocore.", "(slowdown)", {"network", "http-server-error", false}},
    Words{"botocore.", "(nosuchbucket)", {"config-error", "http-not-found", false}},
    Words{"botocore.", "(nosuchkey)", {"config-error", "http-not-found", false}},
    Words{"botocore.", "(invalidaccesskeyid)", {"credentials", "credential-invalid-object-store", false}},
    Words{"botocore.", "(signaturedoesnotmatch)", {"credentials", "credential-invalid-object-store", false}},
    Words{"botocore.", "(expiredtoken)", {"credentials", "credential-invalid-object-store", false}},
    Words{"wandb.errors.", "communicating with", {"network", "http-retries-exhausted", false}},
    Words{"botocore.", "timeout", {"network", "remote-read-timeout", false}},
    Words{"google.auth.", "", {"credentials", "credential-invalid-object-store", false}},
    Words{"hydra.", "", {"config-error", "hydra-config-key-error", false}},
    Words{"omegaconf.", "", {"config-error", "hydra-config-key-error", false}},
    Words{"yaml.", "", {"config-error", "config-file-syntax", false}},
    Words{"toml", "", {"config-error", "config-file-syntax", false}},
    Words{"jinja2.", "", {"data-error", "chat-template-error", false}},
    Words{"datasets.", "", {"data-error", "dataset-corrupt-arrow", false}},
    Words{"pyarrow.", "", {"data-error", "dataset-corrupt-arrow", false}},
    Words{"triton.", "", {"dependency-broken", "triton-compile-failure", false}},
    Words{"torch._dynamo.", "", {"dependency-broken", "torch-compile-inductor-failure", false}},
    Words{"torch._inductor.", "", {"dependency-broken", "torch-compile-inductor-failure", false}},
    Words{"torch.distributed.checkpoint.", "", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"torch.distributed.elastic.rendezvous.", "", {"network", "torch-rendezvous-timeout", false}},
    Words{"megatron.core.dist_checkpointing.", "", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"safetensors", "", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"ray.exceptions.runtimeenv", "", {"dependency-broken", "ray-runtime-env-setup-failed", false}},
    Words{"ray.exceptions.gettimeout", "", {"crash", "ray-get-timeout", false}},
    Words{"ray.exceptions.outofdisk", "", {"disk-full", "ray-spill-failure", false}},
    Words{"ray.exceptions.objectstorefull", "", {"host-out-of-memory", "ray-object-store-full", false}},
    Words{"ray.exceptions.localraylet", "", {"worker-lost", "ray-local-raylet-died", false}},
    Words{"ray.exceptions.ownerdied", "", {"worker-lost", "ray-object-lost", true}},
};

// What libraries say, whatever they raise. The first that fits wins: what is particular stands before what is common.
constexpr std::array kPhrases = {
    // numbers
    Words{"nan values", "", {"non-finite", "nan-loss", false}},
    Words{"nan or inf", "", {"non-finite", "nan-loss", false}},
    Words{"inf or nan", "", {"non-finite", "nan-loss", false}},
    Words{"inf, nan", "", {"non-finite", "nan-loss", false}},
    Words{"non-finite", "", {"non-finite", "nan-loss", false}},
    Words{"not finite", "", {"non-finite", "nan-loss", false}},
    Words{"loss is nan", "", {"non-finite", "nan-loss", false}},
    Words{"found nan", "", {"non-finite", "nan-loss", false}},
    Words{"nan detected", "", {"non-finite", "nan-loss", false}},
    // the build and the card
    Words{"not compiled with cuda", "", {"dependency-broken", "torch-without-cuda", false}},
    Words{"cuda.is_available() is false", "", {"gpu-fault", "no-nvidia-driver", false}},
    Words{"undefined symbol", "", {"dependency-broken", "abi-undefined-symbol", false}},
    Words{"'_opnamespace'", "has no attribute", {"dependency-broken", "abi-undefined-symbol", false}},
    Words{"`glibc", "not found", {"dependency-broken", "glibc-or-libstdcxx-version", false}},
    Words{"find c compiler", "", {"dependency-broken", "triton-compile-failure", false}},
    Words{"cuda_home", "", {"dependency-broken", "extension-build-failed", false}},
    Words{"install it with", "", {"dependency-broken", "module-not-found", false}},
    Words{"numpy is not available", "", {"dependency-broken", "numpy-abi-incompatible", false}},
    Words{"is already used by a", "", {"dependency-broken", "import-error-version", false}},
    Words{"jit load", "", {"dependency-broken", "extension-build-failed", false}},
    Words{"pip install", "", {"dependency-broken", "import-error-version", false}},
    Words{"is not available", "install", {"dependency-broken", "module-not-found", false}},
    Words{"is not installed", "", {"dependency-broken", "module-not-found", false}},
    Words{"please install", "", {"dependency-broken", "module-not-found", false}},
    Words{"please upgrade", "", {"dependency-broken", "import-error-version", false}},
    Words{"version", "must be", {"dependency-broken", "import-error-version", false}},
    Words{"version", "is required", {"dependency-broken", "import-error-version", false}},
    Words{" or higher", "requires", {"dependency-broken", "import-error-version", false}},
    Words{" or newer", "requires", {"dependency-broken", "import-error-version", false}},
    Words{" or higher is required", "", {"dependency-broken", "import-error-version", false}},
    Words{"only support fp16 and bf16", "", {"config-error", "dtype-mismatch", false}},
    Words{"only supports fp16 and bf16", "", {"config-error", "dtype-mismatch", false}},
    Words{"flashattention", "requires", {"dependency-broken", "flash-attn-unavailable", false}},
    Words{"flashattention", "support", {"dependency-broken", "flash-attn-unavailable", false}},
    Words{"cuda arch", "", {"config-error", "kernel-not-for-this-gpu", false}},
    Words{"compute capability", "", {"config-error", "kernel-not-for-this-gpu", false}},
    Words{"requires sm", "", {"config-error", "kernel-not-for-this-gpu", false}},
    Words{"ampere", "support", {"config-error", "kernel-not-for-this-gpu", false}},
    Words{"hopper", "support", {"config-error", "kernel-not-for-this-gpu", false}},
    Words{"same dtype", "", {"config-error", "dtype-mismatch", false}},
    Words{"dtype", "mismatch", {"config-error", "dtype-mismatch", false}},
    Words{"dtype", "does not match", {"config-error", "dtype-mismatch", false}},
    Words{"dtype", "but got", {"config-error", "dtype-mismatch", false}},
    Words{"on the same device", "", {"code-error", "device-mismatch", false}},
    Words{"cudnn error", "", {"gpu-fault", "cuda-unspecified-launch-failure", false}},
    Words{"cublas_status", "", {"gpu-fault", "cublas-execution-failed", false}},
    Words{"hccl", "error", {"collective-timeout", "hccl-communication-timeout", false}},
    Words{"nccl", "error", {"collective-timeout", "nccl-unhandled-cuda-error", true}},
    // memory
    Words{"memory profiling", "", {"engine-dead", "vllm-memory-profiling-race", false}},
    Words{"not enough memory", "", {"gpu-out-of-memory", "cuda-oom-trainer", false}},
    Words{"insufficient memory", "", {"gpu-out-of-memory", "cuda-oom-trainer", false}},
    Words{"no available memory", "", {"gpu-out-of-memory", "vllm-no-kv-blocks", false}},
    Words{"gpus", "but only", {"config-error", "gpus-requested-more-than-present", false}},
    Words{"available resources", "", {"resource-limit", "ray-resources-pending", false}},
    Words{"no gpu", "available", {"config-error", "gpus-requested-more-than-present", false}},
    Words{"start new thread", "", {"resource-limit", "resource-temporarily-unavailable-eagain", false}},
    // checkpoints
    Words{"state dict contains a parameter group", "", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"loading state_dict", "", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"checkpoint", "missing", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"checkpoint", "mismatch", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"checkpoint", "corrupt", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"checkpoint", "not found", {"checkpoint-failed", "ckpt-dir-vanished", false}},
    Words{"checkpoint", "does not exist", {"checkpoint-failed", "ckpt-dir-vanished", false}},
    Words{"find a valid checkpoint", "", {"checkpoint-failed", "ckpt-dir-vanished", false}},
    Words{"tensors share memory", "", {"checkpoint-failed", "checkpoint-save-failed", false}},
    Words{"checkpoint", "failed", {"checkpoint-failed", "checkpoint-save-failed", false}},
    Words{"missing key", "weight", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"missing key", "state", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"missing key", "while loading", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"weights only load failed", "", {"checkpoint-failed", "trust-weights-only-unpickle", false}},
    Words{" % ", " == 0", {"config-error", "batch-size-not-divisible", false}},
    // shapes
    Words{"must match the size", "", {"code-error", "tensor-shape-mismatch", false}},
    Words{"shape", "match", {"code-error", "tensor-shape-mismatch", false}},
    Words{"shape", "expected", {"code-error", "", false}},
    Words{"size mismatch", "", {"code-error", "tensor-shape-mismatch", false}},
    Words{"shapes cannot be multiplied", "", {"code-error", "tensor-shape-mismatch", false}},
    Words{"must match the existing size", "", {"code-error", "tensor-shape-mismatch", false}},
    Words{"invalid for input of size", "", {"code-error", "tensor-shape-mismatch", false}},
    Words{"sizes of tensors", "", {"code-error", "tensor-shape-mismatch", false}},
    Words{"broadcast", "shape", {"code-error", "tensor-shape-mismatch", false}},
    Words{"view size is not compatible", "", {"code-error", "tensor-not-contiguous", false}},
    Words{" value", "is ambiguous", {"code-error", "truth-of-many-values", false}},
    Words{"process group", "not been initialized", {"config-error", "process-group-missing", false}},
    Words{"dimension out of range", "", {"code-error", "", false}},
    Words{"same number of dimensions", "", {"code-error", "tensor-shape-mismatch", false}},
    Words{"inference tensor", "", {"code-error", "inference-tensor-trained", false}},
    Words{"backward through the graph", "", {"code-error", "backward-twice", false}},
    Words{"changed size during iteration", "", {"code-error", "", false}},
    Words{"not implemented for '", "", {"config-error", "dtype-mismatch", false}},
    Words{"non-empty list of tensors", "", {"code-error", "", false}},
    Words{"inflight params", "", {"code-error", "", false}},
    Words{"finished reduction in the prior iteration", "", {"code-error", "ddp-unused-parameters", false}},
    Words{"pickle protocol", "", {"dependency-broken", "import-error-version", false}},
    Words{"pickle", "", {"code-error", "", false}},
    Words{"do not match", "", {"code-error", "", false}},
    Words{"does not match", "", {"code-error", "", false}},
    Words{"mismatch", "", {"code-error", "", false}},
    Words{"event loop", "", {"code-error", "", false}},
    // tokenizer and data
    Words{"chat template", "", {"config-error", "chat-template-missing", false}},
    Words{"chat_template", "", {"config-error", "chat-template-missing", false}},
    Words{"padding token", "", {"config-error", "pad-token-missing", false}},
    Words{"pad_token", "", {"config-error", "pad-token-missing", false}},
    Words{"longer than the maximum model length", "", {"data-error", "context-length-exceeded-prompt", false}},
    Words{"prompt length", "is longer than", {"data-error", "context-length-exceeded-prompt", false}},
    Words{"is larger than max_length", "", {"data-error", "context-length-exceeded-prompt", false}},
    Words{"maximum context length", "", {"data-error", "context-length-exceeded-prompt", false}},
    Words{"couldn't cast", "", {"data-error", "dataset-corrupt-arrow", false}},
    Words{"column names", "", {"data-error", "dataset-column-missing", false}},
    Words{"dataset is empty", "", {"data-error", "train-dataloader-empty", false}},
    Words{"empty dataset", "", {"data-error", "train-dataloader-empty", false}},
    Words{"dataset", " 0 examples", {"data-error", "train-dataloader-empty", false}},
    Words{"dataset", "no examples", {"data-error", "train-dataloader-empty", false}},
    Words{"dataset", "no samples", {"data-error", "train-dataloader-empty", false}},
    Words{"dataset", "is empty", {"data-error", "train-dataloader-empty", false}},
    Words{"dataloader is empty", "", {"data-error", "train-dataloader-empty", false}},
    Words{"num_samples=0", "", {"data-error", "train-dataloader-empty", false}},
    Words{"dataset", "column", {"data-error", "dataset-column-missing", false}},
    Words{"text input must be of type", "", {"data-error", "dataset-bad-row-json", false}},
    // others
    Words{"permission denied", "", {"resource-limit", "permission-denied", false}},
    Words{"not found", "available", {"config-error", "", false}},
    Words{"directory", "already exists", {"config-error", "", false}},
    Words{"command not found", "", {"dependency-broken", "command-not-found", false}},
    Words{"no such file or directory", "", {"config-error", "file-not-found", false}},
    Words{"address already in use", "", {"resource-limit", "port-in-use", false}},
    Words{"name resolution", "", {"network", "dns-failure", false}},
    Words{"name or service not known", "", {"network", "dns-failure", false}},
    Words{"certificate verify failed", "", {"network", "tls-certificate-error", false}},
    Words{"connection refused", "", {"network", "connection-refused", true}},
    Words{"connection reset", "", {"network", "connection-reset-by-peer", true}},
    Words{"could not find any running ray", "", {"worker-lost", "ray-gcs-unreachable", false}},
    Words{"failed after", "retries", {"network", "http-retries-exhausted", false}},
    Words{"failed after", "attempts", {"network", "http-retries-exhausted", false}},
    Words{"max retries", "", {"network", "http-retries-exhausted", false}},
    Words{"rate limit", "", {"environment-fault", "judge-api-rate-limit", false}},
    Words{"insufficient_quota", "", {"environment-fault", "judge-quota-exhausted", false}},
    Words{"api key", "", {"credentials", "api-key-missing", false}},
    Words{"api_key", "", {"credentials", "api-key-missing", false}},
    Words{"unauthorized", "", {"credentials", "openai-auth-error", false}},
    Words{"not logged in", "", {"credentials", "openai-auth-error", false}},
    Words{"engine", "died", {"engine-dead", "vllm-engine-dead", true}},
    Words{"engine", "is dead", {"engine-dead", "vllm-engine-dead", true}},
    Words{"engine core initialization failed", "", {"engine-dead", "vllm-engine-init-failed", true}},
    Words{"server", "did not become", {"engine-dead", "sglang-server-launch-timeout", false}},
    Words{"server", "failed to start", {"engine-dead", "sglang-server-launch-timeout", false}},
    Words{"server", "did not start", {"engine-dead", "sglang-server-launch-timeout", false}},
    Words{"placement group", "", {"resource-limit", "ray-resources-pending", false}},
    Words{"docker", "failed", {"environment-fault", "sandbox-creation-failed", false}},
    Words{"sandbox", "failed", {"environment-fault", "sandbox-execution-failed", false}},
    Words{"sandbox", "timed out", {"environment-fault", "sandbox-oom-or-timeout", false}},
    Words{"judge", "returned no", {"environment-fault", "judge-api-error", false}},
    Words{"heartbeat", "stale", {"worker-lost", "worker-exited", false}},
    Words{"server", "unhealthy", {"engine-dead", "sglang-health-check-failed", false}},
    Words{"engine", "not responding", {"engine-dead", "sglang-health-check-failed", false}},
    Words{"server process exited", "", {"engine-dead", "vllm-engine-dead", true}},
    Words{"worker", "died", {"worker-lost", "worker-exited", true}},
    Words{"exited unexpectedly", "", {"worker-lost", "dataloader-worker-exited", true}},
    Words{"process", " died", {"worker-lost", "worker-exited", true}},
    Words{"exited with code", "", {"worker-lost", "worker-exited", true}},
    Words{"timed out", "", {"crash", "timeout-error", false}},
    Words{"not initialized", "", {"code-error", "", false}},
    Words{"must be called before", "", {"code-error", "", false}},
    Words{"out of range", "", {"code-error", "", false}},
};

// Parts of a name that somebody gave to an exception of his own.
constexpr std::array kNames = {
    Words{"timeout", "", {"crash", "timeout-error", false}},
    Words{"timedout", "", {"crash", "timeout-error", false}},
    Words{"ratelimit", "", {"environment-fault", "judge-api-rate-limit", false}},
    Words{"quota", "", {"environment-fault", "judge-quota-exhausted", false}},
    Words{"unauthori", "", {"credentials", "openai-auth-error", false}},
    Words{"authentication", "", {"credentials", "openai-auth-error", false}},
    Words{"autherror", "", {"credentials", "openai-auth-error", false}},
    Words{"forbidden", "", {"credentials", "openai-auth-error", false}},
    Words{"accessdenied", "", {"credentials", "openai-auth-error", false}},
    Words{"permissiondenied", "", {"credentials", "openai-auth-error", false}},
    Words{"credential", "", {"credentials", "openai-auth-error", false}},
    Words{"configuration", "", {"config-error", "", false}},
    Words{"configerror", "", {"config-error", "", false}},
    Words{"configexception", "", {"config-error", "", false}},
    Words{"usageerror", "", {"config-error", "argparse-unrecognized", false}},
    Words{"badparameter", "", {"config-error", "argparse-unrecognized", false}},
    Words{"nosuchoption", "", {"config-error", "argparse-unrecognized", false}},
    Words{"checkpoint", "", {"checkpoint-failed", "state-dict-load-error", false}},
    Words{"sandbox", "", {"environment-fault", "sandbox-execution-failed", false}},
    Words{"container", "", {"environment-fault", "sandbox-execution-failed", false}},
    Words{"overflowerror", "", {"code-error", "", false}},
    Words{"nonfinite", "", {"non-finite", "nan-loss", false}},
    Words{"connection", "", {"network", "connection-refused", true}},
    Words{"compil", "", {"dependency-broken", "triton-compile-failure", false}},
    Words{"dataset", "", {"data-error", "dataset-corrupt-arrow", false}},
};

bool digit(char c) { return c >= '0' && c <= '9'; }

/// The whole number that stands behind `word` in `text`, with no more than punctuation between; -1: none.
int number_behind(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    size_t begin = at + word.size();
    while (begin < text.size() && (text[begin] == ' ' || text[begin] == ':' || text[begin] == '=')) ++begin;
    int value = 0;
    size_t end = begin;
    while (end < text.size() && digit(text[end]) && end - begin < 4) value = value * 10 + (text[end++] - '0');
    if (end > begin) return value;
  }
  return -1;
}

std::optional<ExceptionClass> by_system_error(std::string_view message, std::string_view folded) {
  int number = number_behind(folded, "errno");
  if (number < 0) number = number_behind(folded, "os error");
  if (number < 0) number = number_behind(folded, "os { code");
  for (const SystemError& row : kSystemErrors) {
    if (row.number == number || (number < 0 && contains(message, row.name))) return row.is;
  }
  return std::nullopt;
}

/// Does a word that goes with a status stand before it, or behind it?
bool is_status(std::string_view folded, size_t at) {
  constexpr std::array<std::string_view, 7> kBefore = {"status",     "error code", "http",   "request failed",
                                                       "response [", "returned ",  "error '"};
  const size_t from = at > kStatusReach ? at - kStatusReach : 0;
  const std::string_view before = folded.substr(from, at - from), behind = folded.substr(at + 3);
  if (before.ends_with(':') && before.size() > 1 && digit(before[before.size() - 2])) return false;
  const bool port = before.ends_with(':') && !contains(before, "code:") && !contains(before, "status:");
  if (port) return false;
  return behind.starts_with(" client error") || behind.starts_with(" server error") ||
         behind.starts_with(", message=") ||
         std::any_of(kBefore.begin(), kBefore.end(), [before](auto word) { return contains(before, word); });
}

/// The first status of HTTP that the text names; 0: none.
int status_in(std::string_view folded) {
  constexpr std::string_view kInsideNumber = "0123456789.";
  for (size_t at = folded.find_first_of("45"); at != std::string_view::npos; at = folded.find_first_of("45", at + 1)) {
    const bool whole = at == 0 || !contains(kInsideNumber, folded.substr(at - 1, 1));
    const size_t end = std::min(folded.find_first_not_of(kDigits, at), folded.size());
    if (whole && end - at == 3 && is_status(folded, at)) {
      return (folded[at] - '0') * 100 + (folded[at + 1] - '0') * 10 + (folded[at + 2] - '0');
    }
  }
  return 0;
}

std::optional<ExceptionClass> by_status(std::string_view folded) {
  const int status = status_in(folded);
  for (const Status& row : kStatuses) {
    if (row.from <= status && status <= row.to) return row.is;
  }
  return std::nullopt;
}

std::optional<ExceptionClass> by_package(std::string_view type, std::string_view folded) {
  for (const Words& row : kPackages) {
    if (!type.starts_with(row.first)) continue;
    if (row.second.empty() || contains(type, row.second) || contains(folded, row.second)) return row.is;
  }
  return std::nullopt;
}

template <size_t N>
std::optional<ExceptionClass> by_table(const std::array<Words, N>& table, std::string_view text) {
  for (const Words& row : table) {
    if (contains(text, row.first) && (row.second.empty() || contains(text, row.second))) return row.is;
  }
  return std::nullopt;
}

/// "needs transformer-engine>=2.6.0", "requires a PyTorch >= 2.5": a version is wanted, with its number.
bool wants_version(std::string_view folded) {
  if (!contains(folded, "require") && !contains(folded, "need") && !contains(folded, "expect")) return false;
  for (size_t at = folded.find('>'); at != std::string_view::npos; at = folded.find('>', at + 1)) {
    size_t end = at + 1;
    while (end < folded.size() && (folded[end] == ' ' || folded[end] == '=' || folded[end] == 'v')) ++end;
    const size_t begin = end;
    while (end < folded.size() && digit(folded[end])) ++end;
    size_t parts = 1;
    while (end > begin && end + 1 < folded.size() && folded[end] == '.' && digit(folded[end + 1])) {
      ++parts;
      for (++end; end < folded.size() && digit(folded[end]);) ++end;
    }
    if (parts > 2 || (parts == 2 && folded[at + 1] == '=')) return true;  // "> 0.5" bounds a number
  }
  return false;
}

}  // namespace

std::optional<ExceptionClass> class_by_words(std::string_view exception, std::string_view message) {
  const std::string type = to_lower(exception), folded = to_lower(message.substr(0, kWordsBytes));
  if (auto is = by_system_error(message.substr(0, kWordsBytes), folded)) return is;
  if (auto is = by_package(type, folded)) return is;
  const auto by_number = by_status(folded), by_phrase = by_table(kPhrases, folded);
  if (by_number && (by_number->cause != kBadRequest || !by_phrase)) return by_number;
  if (by_phrase) return by_phrase;
  if (wants_version(folded)) return ExceptionClass{"dependency-broken", "import-error-version", false};
  if (refuses(message, folded)) {
    return ExceptionClass{"config-error", "", false};
  }
  return by_table(kNames, to_lower(bare_exception(exception)));
}

}  // namespace mw::detect
