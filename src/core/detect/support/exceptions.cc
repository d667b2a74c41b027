// What a Python exception says by its type alone.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/detect/support/exception_words.h"
#include "core/detect/support/failure_chain.h"
#include "core/detect/support/hub_answers.h"
#include "core/trace_frame.h"

namespace mw::detect {
namespace {

struct Row {
  std::string_view name;     // bare exception name
  std::string_view message;  // lower-case part that the message must have, "" for any
  ExceptionClass is;
};

// First row that fits wins. The types are those of the Python library reference ("Built-in Exceptions"), of PyTorch,
// Ray, huggingface_hub, omegaconf/hydra and pydantic.
constexpr std::array kRows = {
    // memory
    Row{"OutOfMemoryError", "node running low on memory", {"host-out-of-memory", "ray-memory-monitor-kill", false}},
    Row{"OutOfMemoryError", "task was killed due to", {"host-out-of-memory", "ray-memory-monitor-kill", false}},
    Row{"OutOfMemoryError", "", {"gpu-out-of-memory", "cuda-oom-trainer", false}},
    Row{"RuntimeError", "out of memory", {"gpu-out-of-memory", "cuda-oom-trainer", false}},
    Row{"MemoryError", "", {"host-out-of-memory", "errno-12-cannot-allocate", false}},
    Row{"_ArrayMemoryError", "", {"host-out-of-memory", "errno-12-cannot-allocate", false}},
    Row{"ArrowMemoryError", "", {"host-out-of-memory", "errno-12-cannot-allocate", false}},
    Row{"RuntimeError", "defaultcpuallocator", {"host-out-of-memory", "errno-12-cannot-allocate", false}},
    Row{"RuntimeError", "cannot allocate memory", {"host-out-of-memory", "errno-12-cannot-allocate", false}},
    Row{"OSError", "cannot allocate memory", {"host-out-of-memory", "errno-12-cannot-allocate", false}},
    Row{"BlockingIOError",
        "resource temporarily unavailable",
        {"resource-limit", "resource-temporarily-unavailable-eagain", false}},
    // accelerator
    Row{"AcceleratorError", "illegal memory access", {"gpu-fault", "cuda-illegal-memory-access", false}},
    Row{"RuntimeError", "illegal memory access", {"gpu-fault", "cuda-illegal-memory-access", false}},
    Row{"RuntimeError", "device-side assert", {"gpu-fault", "cuda-device-side-assert", false}},
    Row{"AcceleratorError", "", {"gpu-fault", "cuda-unspecified-launch-failure", false}},
    Row{"RuntimeError", "no cuda gpus are available", {"config-error", "no-nvidia-driver", false}},
    Row{"RuntimeError", "cuda driver initialization failed", {"gpu-fault", "no-nvidia-driver", false}},
    // the interpreter itself, as faulthandler has it
    Row{"Fatal Python error", "aborted", {"crash", "cpp-terminate", true}},
    Row{"Fatal Python error", "", {"crash", "python-interpreter-fatal", false}},
    // people and schedulers
    Row{"KeyboardInterrupt", "", {"interrupted", "user-cancelled", false}},
    Row{"SystemExit", "", {"crash", "exit-status", true}},
    // the environment of the program
    Row{"ModuleNotFoundError", "", {"dependency-broken", "module-not-found", false}},
    Row{"ImportError", "undefined symbol", {"dependency-broken", "abi-undefined-symbol", false}},
    Row{"ImportError", "", {"dependency-broken", "import-error-version", false}},
    Row{"RuntimeError", "error building extension", {"dependency-broken", "extension-build-failed", false}},
    Row{"RuntimeError", "failed to import", {"dependency-broken", "import-error-version", false}},
    Row{"CUDAMismatchException", "", {"dependency-broken", "deepspeed-cuda-version-mismatch", false}},
    Row{"VersionConflict", "", {"dependency-broken", "import-error-version", false}},
    Row{"ContextualVersionConflict", "", {"dependency-broken", "import-error-version", false}},
    Row{"PackageNotFoundError", "", {"dependency-broken", "module-not-found", false}},
    Row{"DistributionNotFound", "", {"dependency-broken", "module-not-found", false}},
    // disk and limits
    Row{"OSError", "no space left on device", {"disk-full", "enospc-generic", false}},
    Row{"OSError", "disk quota exceeded", {"disk-full", "quota-exceeded", false}},
    Row{"OSError", "too many open files", {"resource-limit", "emfile-too-many-open-files", false}},
    Row{"OSError", "address already in use", {"resource-limit", "port-in-use", false}},
    Row{"OSError",
        "resource temporarily unavailable",
        {"resource-limit", "resource-temporarily-unavailable-eagain", false}},
    Row{"RuntimeError", "too many open files", {"resource-limit", "emfile-too-many-open-files", false}},
    Row{"ValueError", "less than total desired gpus", {"config-error", "gpus-requested-more-than-present", false}},
    Row{"OSError", "unable to load weights", {"checkpoint-failed", "state-dict-load-error", false}},
    Row{"ValueError", "this looks incorrect", {"checkpoint-failed", "state-dict-load-error", false}},
    Row{"EOFError", "ran out of input", {"checkpoint-incomplete", "torch-zip-corrupt", false}},
    Row{"UnpicklingError", "weights only", {"checkpoint-failed", "trust-weights-only-unpickle", false}},
    Row{"UnpicklingError", "", {"checkpoint-incomplete", "torch-zip-corrupt", false}},
    Row{"RuntimeError", "parent directory", {"checkpoint-failed", "torch-writer-failed", false}},
    Row{"OSError", "couldn't connect to", {"network", "hf-hub-unreachable", false}},
    Row{"OSError", "can't load", {"config-error", "hf-invalid-model-identifier", false}},
    Row{"OSError", "is not a valid model identifier", {"config-error", "hf-repo-not-found", false}},
    Row{"OSError", "gated repo", {"credentials", "hf-gated-repo", false}},
    Row{"OSError", "stale file handle", {"checkpoint-failed", "nfs-stale-file-handle", false}},
    Row{"OSError", "input/output error", {"checkpoint-failed", "eio-input-output-error", false}},
    Row{"OSError", "read-only file system", {"disk-full", "read-only-filesystem", false}},
    Row{"SafetensorError", "no space left", {"disk-full", "enospc-generic", false}},
    Row{"SafetensorError", "serializ", {"checkpoint-failed", "torch-writer-failed", false}},
    Row{"PermissionError", "", {"resource-limit", "permission-denied", false}},
    // network and keys
    Row{"LocalEntryNotFoundError", "", {"network", "hf-hub-unreachable", false}},
    Row{"OfflineModeIsEnabled", "", {"network", "hf-offline-mode", false}},
    Row{"GatedRepoError", "", {"credentials", "hf-gated-repo", false}},
    Row{"RepositoryNotFoundError", "", {"credentials", "hf-repo-not-found", false}},
    Row{"AuthenticationError", "", {"credentials", "openai-auth-error", false}},
    Row{"UsageError", "api_key", {"credentials", "wandb-api-key-missing", false}},
    Row{"UsageError", "api key", {"credentials", "wandb-api-key-missing", false}},
    Row{"HTTPError", "403", {"credentials", "openai-auth-error", false}},
    Row{"HTTPError", "401", {"credentials", "openai-auth-error", false}},
    Row{"_InactiveRpcError", "", {"network", "connection-refused", false}},
    Row{"OpenAIError", "api_key", {"credentials", "openai-auth-error", false}},
    Row{"ValueError", "invalid token", {"credentials", "hf-token-refused", false}},
    Row{"timeout", "timed out", {"network", "remote-read-timeout", false}},
    Row{"OverloadedError", "", {"environment-fault", "judge-api-rate-limit", false}},
    Row{"SandboxTimeoutError", "", {"environment-fault", "sandbox-oom-or-timeout", false}},
    Row{"SandboxException", "", {"environment-fault", "sandbox-execution-failed", false}},
    Row{"SandboxError", "", {"environment-fault", "sandbox-execution-failed", false}},
    Row{"DaytonaError", "", {"environment-fault", "sandbox-creation-failed", false}},
    Row{"TimeoutException", "sandbox", {"environment-fault", "sandbox-oom-or-timeout", false}},
    Row{"RuntimeError", "environment reset failed", {"environment-fault", "sandbox-service-down", false}},
    Row{"InternalServerError", "enginecore", {"engine-dead", "vllm-engine-dead", true}},
    Row{"InternalServerError", "", {"engine-dead", "vllm-http-500-burst", true}},
    Row{"RemoteProtocolError", "", {"network", "connection-reset-by-peer", true}},
    Row{"ContextTerminated", "", {"engine-dead", "vllm-engine-dead", true}},
    Row{"RuntimeError", "engine is not running", {"engine-dead", "vllm-engine-dead", false}},
    Row{"RuntimeError", "server failed to start", {"engine-dead", "sglang-server-launch-timeout", false}},
    Row{"RuntimeError", "health check failed", {"engine-dead", "sglang-health-check-failed", false}},
    Row{"TimeoutError", "server did not", {"engine-dead", "sglang-server-launch-timeout", false}},
    Row{"RuntimeError", "initializing process group", {"collective-timeout", "torch-rendezvous-timeout", false}},
    Row{"RuntimeError", "communicator was aborted", {"collective-timeout", "nccl-watchdog-timeout", true}},
    Row{"RuntimeError", "exited with code", {"worker-lost", "worker-exited", true}},
    Row{"CommError", "network", {"network", "wandb-init-timeout", false}},
    Row{"CommError", "permission", {"credentials", "wandb-permission-denied", false}},
    Row{"RateLimitError", "insufficient_quota", {"environment-fault", "judge-quota-exhausted", false}},
    Row{"RateLimitError", "", {"environment-fault", "judge-api-rate-limit", false}},
    Row{"NotFoundError", "error code: 404", {"config-error", "http-not-found", false}},
    Row{"BadRequestError", "maximum context length", {"data-error", "context-length-exceeded-prompt", false}},
    Row{"BadRequestError", "", {"code-error", "http-400-bad-request", false}},
    Row{"UnprocessableEntityError", "", {"code-error", "http-400-bad-request", false}},
    Row{"ClientError", "accessdenied", {"credentials", "credential-invalid-object-store", false}},
    Row{"S3UploadFailedError", "access", {"credentials", "credential-invalid-object-store", false}},
    Row{"S3UploadFailedError", "", {"network", "http-retries-exhausted", false}},
    Row{"EndpointConnectionError", "", {"network", "connection-refused", false}},
    Row{"NameResolutionError", "", {"network", "dns-failure", false}},
    Row{"gaierror", "", {"network", "dns-failure", false}},
    Row{"SSLError", "", {"network", "tls-certificate-error", false}},
    Row{"ConnectionError", "name resolution", {"network", "dns-failure", false}},
    Row{"MaxRetryError", "name resolution", {"network", "dns-failure", false}},
    Row{"LocalTokenNotFoundError", "", {"credentials", "hf-token-refused", false}},
    Row{"NoCredentialsError", "", {"credentials", "credential-invalid-object-store", false}},
    Row{"PermissionDeniedError", "", {"credentials", "openai-auth-error", false}},
    Row{"WandbAttachFailedError", "", {"network", "wandb-init-timeout", false}},
    Row{"PoolTimeout", "", {"network", "remote-read-timeout", false}},
    Row{"APITimeoutError", "", {"network", "remote-read-timeout", false}},
    Row{"IncompleteRead", "", {"network", "hf-download-incomplete", false}},
    Row{"ChunkedEncodingError", "", {"network", "hf-download-incomplete", false}},
    Row{"ReadTimeout", "", {"network", "remote-read-timeout", false}},
    Row{"ReadTimeoutError", "", {"network", "remote-read-timeout", false}},
    Row{"ConnectTimeout", "", {"network", "remote-read-timeout", false}},
    Row{"ConnectTimeoutError", "", {"network", "remote-read-timeout", false}},
    Row{"DistNetworkError", "address already in use", {"resource-limit", "port-in-use", false}},
    Row{"DistNetworkError", "got 0 bytes", {"worker-lost", "tcpstore-broken-pipe", true}},
    Row{"DistNetworkError", "connection reset", {"worker-lost", "tcpstore-broken-pipe", true}},
    Row{"DistNetworkError", "broken pipe", {"worker-lost", "tcpstore-broken-pipe", true}},
    Row{"DistNetworkError", "", {"network", "torch-rendezvous-timeout", false}},
    Row{"DistStoreError", "", {"network", "torch-rendezvous-timeout", false}},
    // echoes of a failure elsewhere
    Row{"ConnectionRefusedError", "", {"network", "connection-refused", true}},
    Row{"ConnectionResetError", "", {"network", "connection-reset-by-peer", true}},
    Row{"ConnectError", "", {"network", "connection-refused", true}},
    Row{"ConnectionError", "could not find any running ray", {"worker-lost", "ray-gcs-unreachable", false}},
    Row{"ConnectionError", "", {"network", "connection-refused", true}},
    Row{"ClientConnectorError", "", {"network", "connection-refused", true}},
    Row{"ServerDisconnectedError", "", {"network", "connection-reset-by-peer", true}},
    Row{"APIConnectionError", "", {"network", "api-connection-error-all-rollouts", true}},
    Row{"RemoteDisconnected", "", {"network", "connection-reset-by-peer", true}},
    Row{"BrokenPipeError", "", {"worker-lost", "pipe-reader-gone", true}},
    Row{"BdbQuit", "", {"code-error", "breakpoint-left-in-code", false}},
    Row{"EOFError", "eof when reading a line", {"config-error", "waits-for-input", false}},
    Row{"EOFError", "", {"worker-lost", "connection-reset-by-peer", true}},
    Row{"CancelledError", "", {"crash", "task-cancelled", true}},
    Row{"RayActorError", "", {"worker-lost", "ray-actor-died", true}},
    Row{"ActorDiedError", "", {"worker-lost", "ray-actor-died", true}},
    Row{"ActorUnavailableError", "", {"worker-lost", "ray-actor-unavailable", true}},
    Row{"WorkerCrashedError", "", {"worker-lost", "ray-worker-died-unexpectedly", true}},
    Row{"NodeDiedError", "", {"worker-lost", "ray-node-dead-heartbeat", true}},
    Row{"ObjectLostError", "", {"worker-lost", "ray-object-lost", true}},
    Row{"ChildFailedError", "", {"crash", "torchelastic-child-failed", true}},
    Row{"ProcessExitedException", "", {"worker-lost", "worker-exited", true}},
    Row{"ProcessRaisedException", "", {"crash", "worker-exited", true}},
    Row{"CalledProcessError", "", {"crash", "subprocess-failed", true}},
    Row{"SignalException", "", {"interrupted", "torchelastic-sigterm", true}},
    Row{"EngineDeadError", "", {"engine-dead", "vllm-engine-dead", true}},
    Row{"JobException", "", {"crash", "launcher-job-failed", true}},
    Row{"DistBackendError", "", {"collective-timeout", "nccl-unhandled-cuda-error", true}},
    // settings
    Row{"ConfigKeyError", "", {"config-error", "hydra-config-key-error", false}},
    Row{"ConfigAttributeError", "", {"config-error", "hydra-config-key-error", false}},
    Row{"ConfigCompositionException", "", {"config-error", "hydra-config-key-error", false}},
    Row{"MissingMandatoryValue", "", {"config-error", "mandatory-setting-missing", false}},
    Row{"ValidationError", "", {"config-error", "pydantic-config-validation", false}},
    Row{"ArgumentError", "", {"config-error", "argparse-unrecognized", false}},
    Row{"FileNotFoundError", "", {"config-error", "file-not-found", false}},
    Row{"NotADirectoryError", "", {"config-error", "file-not-found", false}},
    Row{"HFValidationError", "", {"config-error", "hf-invalid-model-identifier", false}},
    Row{"YAMLError", "", {"config-error", "config-file-syntax", false}},
    Row{"InterpolationKeyError", "", {"config-error", "hydra-config-key-error", false}},
    Row{"UnsupportedValueType", "", {"config-error", "hydra-config-key-error", false}},
    Row{"InterpolationResolutionError", "", {"config-error", "hydra-config-key-error", false}},
    Row{"AssertionError", "divisible", {"config-error", "batch-size-not-divisible", false}},
    Row{"AssertionError", " in rope_scaling", {"dependency-broken", "rope-scaling-unknown", false}},
    Row{"AssertionError", "lr_decay_steps > 0", {"config-error", "no-training-steps", false}},
    Row{"AssertionError", "set(t.dtype for", {"config-error", "dtype-mismatch", false}},
    Row{"AssertionError", "must be set", {"config-error", "assertion-error", false}},
    Row{"AssertionError", "must be specified", {"config-error", "assertion-error", false}},
    Row{"AssertionError", "zero_stage", {"config-error", "assertion-error", false}},
    Row{"KeyError", "'rope_type'", {"dependency-broken", "rope-scaling-unknown", false}},
    Row{"KeyError", "unknown config", {"config-error", "key-error", false}},
    Row{"ValueError", "greater than the derived max_model_len", {"config-error", "value-error", false}},
    Row{"ValueError", "is not compatible with", {"config-error", "value-error", false}},
    Row{"ValueError", "8-bit or 4-bit precision", {"config-error", "quantized-model-on-another-device", false}},
    Row{"ValueError", "purely quantized models", {"config-error", "quantized-without-adapter", false}},
    Row{"ValueError", "unscale fp16 gradients", {"config-error", "fp16-gradients-unscaled", false}},
    Row{"ValueError", "did not return a loss", {"config-error", "value-error", false}},
    Row{"ValueError", "target modules", {"config-error", "adapter-target-modules", false}},
    Row{"ValueError", "target_modules", {"config-error", "adapter-target-modules", false}},
    Row{"ValueError", "unknown url type", {"config-error", "value-error", false}},
    Row{"ValueError", "mutually exclusive", {"config-error", "settings-exclude-each-other", false}},
    Row{"ValueError", "not be both ", {"config-error", "settings-exclude-each-other", false}},
    Row{"ValueError", "please specify", {"config-error", "value-error", false}},
    Row{"ValueError", "must be specified", {"config-error", "value-error", false}},
    Row{"ValueError", "must be set", {"config-error", "value-error", false}},
    Row{"ValueError", "must be one of", {"config-error", "value-error", false}},
    Row{"ValueError", "should be one of", {"config-error", "value-error", false}},
    Row{"ValueError", "must be greater", {"config-error", "value-error", false}},
    Row{"ValueError", "must be positive", {"config-error", "value-error", false}},
    Row{"ValueError", "must be less", {"config-error", "value-error", false}},
    Row{"ValueError", "must be a multiple", {"config-error", "value-error", false}},
    Row{"ValueError", "is not supported", {"config-error", "value-error", false}},
    Row{"ValueError", "unsupported", {"config-error", "value-error", false}},
    Row{"NotImplementedError", "is not supported", {"config-error", "not-implemented-error", false}},
    Row{"ValueError", "not in the dataset", {"data-error", "dataset-column-missing", false}},
    Row{"ValueError", "expected sequence of length", {"data-error", "rows-differ-in-length", false}},
    Row{"ValueError", "unable to create tensor", {"data-error", "rows-differ-in-length", false}},
    Row{"RuntimeError", "stack expects each tensor", {"data-error", "rows-differ-in-length", false}},
    Row{"ArrowNotImplementedError", "", {"data-error", "dataset-corrupt-arrow", false}},
    Row{"CastError", "", {"data-error", "dataset-rows-differ-in-type", false}},
    Row{"FloatingPointError", "", {"non-finite", "nan-loss", false}},
    Row{"RuntimeError", "returned nan values", {"non-finite", "nan-loss", false}},
    Row{"DatasetGenerationError", "", {"data-error", "dataset-corrupt-arrow", false}},
    Row{"DataFilesNotFoundError", "", {"data-error", "dataset-not-found", false}},
    Row{"EmptyDatasetError", "", {"data-error", "dataset-not-found", false}},
    Row{"UndefinedError", "", {"data-error", "chat-template-error", false}},
    Row{"DatasetNotFoundError", "", {"data-error", "dataset-not-found", false}},
    Row{"TemplateError", "", {"data-error", "chat-template-missing", false}},
    Row{"JSONDecodeError", "", {"data-error", "dataset-bad-row-json", false}},
    Row{"UnicodeDecodeError", "", {"data-error", "unicode-decode-error", false}},
    Row{"UnicodeEncodeError", "", {"data-error", "unicode-decode-error", false}},
    Row{"ArrowInvalid", ") changed from ", {"data-error", "dataset-rows-differ-in-type", false}},
    Row{"ArrowInvalid", "", {"data-error", "dataset-corrupt-arrow", false}},
    // programs
    Row{"TypeError", "instances of 'float' and 'str'", {"config-error", "setting-is-text", false}},
    Row{"TypeError", "not json serializable", {"code-error", "results-not-json-serializable", false}},
    Row{"TypeError", "unexpected keyword argument", {"code-error", "python-api-drift-typeerror", false}},
    Row{"TypeError", "required positional argument", {"code-error", "python-api-drift-typeerror", false}},
    Row{"TypeError", "required keyword-only argument", {"code-error", "python-api-drift-typeerror", false}},
    Row{"TypeError", "positional arguments but", {"code-error", "python-api-drift-typeerror", false}},
    Row{"TypeError", "", {"code-error", "type-error", false}},
    Row{"AttributeError", "'_opnamespace'", {"dependency-broken", "abi-undefined-symbol", false}},
    Row{"AttributeError", "trainer' object has no attribute", {"code-error", "python-api-drift-typeerror", false}},
    Row{"AttributeError", "forcausallm' object has no attribute", {"code-error", "python-api-drift-typeerror", false}},
    Row{"AttributeError", "valuehead' object has no attribute", {"code-error", "python-api-drift-typeerror", false}},
    Row{"AttributeError", "tokenizer has no attribute", {"code-error", "python-api-drift-typeerror", false}},
    Row{"AttributeError", "tokenizerfast has no attribute", {"code-error", "python-api-drift-typeerror", false}},
    Row{"AttributeError", "", {"code-error", "attribute-error", false}},
    Row{"LookupError", "resource", {"config-error", "file-not-found", false}},
    Row{"KeyError", "", {"code-error", "key-error", false}},
    Row{"IndexError", "out of range in self", {"code-error", "embedding-index-out-of-range", false}},
    Row{"IndexError", "", {"code-error", "index-error", false}},
    Row{"NameError", "", {"code-error", "name-error", false}},
    Row{"UnboundLocalError", "", {"code-error", "name-error", false}},
    Row{"AssertionError", "", {"code-error", "assertion-error", false}},
    Row{"NotImplementedError", "", {"code-error", "not-implemented-error", false}},
    Row{"ZeroDivisionError", "", {"code-error", "zero-division-error", false}},
    Row{"RecursionError", "", {"code-error", "recursion-error", false}},
    Row{"SyntaxError", "", {"code-error", "python-syntax-error", false}},
    Row{"IndentationError", "", {"code-error", "python-syntax-error", false}},
    Row{"StopIteration", "", {"code-error", "stop-iteration", false}},
    Row{"ValueError", "divisible", {"config-error", "batch-size-not-divisible", false}},
    Row{"ValueError", "", {"crash", "value-error", false}},
    Row{"TimeoutError", "", {"crash", "timeout-error", false}},
    Row{"RuntimeError", "cuda error:", {"gpu-fault", "cuda-unspecified-launch-failure", false}},
    Row{"RuntimeError", "hip error:", {"gpu-fault", "cuda-unspecified-launch-failure", false}},
    Row{"RuntimeError", "must match the size", {"code-error", "runtime-error", false}},
    Row{"RuntimeError", "size mismatch", {"code-error", "runtime-error", false}},
    Row{"RuntimeError", "shape mismatch", {"code-error", "runtime-error", false}},
    Row{"RuntimeError", "shapes cannot be multiplied", {"code-error", "runtime-error", false}},
    Row{"RuntimeError", "invalid for input of size", {"code-error", "runtime-error", false}},
    Row{"RuntimeError", "expected a floating point", {"code-error", "dtype-mismatch", false}},
    Row{"RuntimeError", "expected scalar type", {"code-error", "dtype-mismatch", false}},
    Row{"RuntimeError", "", {"crash", "runtime-error", false}},
};

/// A frame that checks settings: its file or its function is named after them.
bool speaks_of_settings(std::string_view frame) {
  const size_t slash = frame.rfind('/');
  const std::string_view place = slash == std::string_view::npos ? frame : frame.substr(slash + 1);
  constexpr std::array<std::string_view, 7> kParts = {"config",   "arguments", "_args",        "_cfg",
                                                      "settings", "validate_", "__post_init__"};
  return std::any_of(kParts.begin(), kParts.end(), [place](auto part) { return contains_folded(place, part); });
}

/// A frame that reads data: its file or its function is named after them.
bool speaks_of_data(std::string_view frame) {
  const size_t slash = frame.rfind('/');
  const std::string_view place = slash == std::string_view::npos ? frame : frame.substr(slash + 1);
  return contains_folded(place, "dataset") || contains_folded(place, "collat") || contains_folded(place, "dataloader");
}

/// What a frame that saves or loads checkpoints does; nothing of another. Checkpointing of activations is something
/// else.
std::optional<ExceptionClass> checkpoint_class(std::string_view frame) {
  const size_t in = frame.find(" in ");
  const std::string_view path = frame.substr(0, in);
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const std::string_view function = in == std::string_view::npos ? std::string_view() : frame.substr(in + 4);
  if (contains(path, "/utils/checkpoint.py") || contains_folded(path, "activation")) return std::nullopt;
  const bool saves = contains_folded(function, "save"), loads = contains_folded(function, "load");
  const bool file_speaks = contains_folded(file, "checkpoint") || contains(path, "/distributed/checkpoint/") ||
                           contains(path, "dist_checkpointing/");
  const bool function_speaks =
      (saves || loads) && (contains_folded(function, "checkpoint") || contains_folded(function, "ckpt") ||
                           contains_folded(function, "state_dict"));
  if (!file_speaks && !function_speaks) return std::nullopt;
  return ExceptionClass{"checkpoint-failed", saves && !loads ? "checkpoint-save-failed" : "state-dict-load-error",
                        false};
}

/// What says nothing of itself and was raised where checkpoints are saved or loaded.
ExceptionClass of_a_checkpoint(const ExceptionClass& is, std::string_view frame) {
  const bool program = is.kind == "code-error" || is.kind == "crash";
  if (!program || !says_little(is)) return is;
  return checkpoint_class(raising_frame(frame)).value_or(is);
}

/// What is missing there was the save's own to make or to remove, no path that a person gave.
bool saves_checkpoint(std::string_view frame) {
  const auto is = checkpoint_class(frame);
  return is && is->cause == "checkpoint-save-failed";
}

/// A function that asks a service and reads what it answers, by its name.
bool reads_an_answer(std::string_view frame) {
  const size_t in = frame.find(" in ");
  const std::string_view function = in == std::string_view::npos ? std::string_view() : frame.substr(in + 4);
  return contains_folded(function, "search") || contains_folded(function, "retriev") ||
         contains_folded(function, "fetch");
}

/// The frame without the folders above the file's own: they name the project, not what the code does.
std::string_view short_frame(std::string_view frame) {
  const size_t file = frame.rfind('/');
  const size_t folder = file == std::string_view::npos || file == 0 ? file : frame.rfind('/', file - 1);
  return folder == std::string_view::npos ? frame : frame.substr(folder + 1);
}

/// The exception comes out of a reward function: it was raised in one, or in what one of the run's own calls.
bool is_rewards(std::string_view frame) {
  const std::string_view own = own_frame(frame);
  if (contains_folded(frame, "reward_trainer") || contains_folded(frame, "reward_model")) return false;  // no scorer
  if (raising_frame(frame).ends_with(" in __init__")) return false;  // nothing is scored yet
  return contains_folded(short_frame(raising_frame(frame)), "reward") ||
         contains_folded(own.substr(own.rfind('/') + 1), "reward");
}

/// click's questions at a terminal.
bool asks_a_person(std::string_view frame) {
  return contains(frame, "termui.py") && (frame.ends_with(" in confirm") || frame.ends_with(" in prompt"));
}

/// The class by the words of the message where that of the type says little.
ExceptionClass sharpened(const ExceptionClass& is, std::string_view exception, std::string_view message) {
  if (!says_little(is)) return is;
  std::optional<ExceptionClass> words = class_by_words(exception, message);
  if (!words) return is;
  if (words->cause.empty()) words->cause = is.cause;
  return *words;
}

/// An HTTP client's exception whose message has a status from 500 to 599 (RFC 9110, 15.6) or says "server error".
bool server_failed(std::string_view bare, std::string_view message) {
  constexpr std::array<std::string_view, 4> kClients{"HTTPError", "HTTPStatusError", "APIStatusError",
                                                     "ClientResponseError"};
  if (std::find(kClients.begin(), kClients.end(), bare) == kClients.end()) return false;
  if (contains_folded(message, "server error")) return true;
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kInsideNumber = "0123456789:.";  // 503 is no status in ":503", "1503" and "10.503"
  for (size_t at = message.find('5'); at != std::string_view::npos; at = message.find('5', at + 1)) {
    const size_t end = std::min(message.find_first_not_of(kDigits, at), message.size());
    const bool whole = at == 0 || kInsideNumber.find(message[at - 1]) == std::string_view::npos;
    if (whole && end - at == 3) return true;
  }
  return false;
}

/// "No such file or directory: '/out/checkpoint-60/trainer_state.json'": a file within the folder of one step's
/// checkpoint, by the names that trainers give it.
bool lacks_checkpoint_file(std::string_view message) {
  constexpr std::array<std::string_view, 7> kFolders = {"/checkpoint-", "/checkpoint_", "/global_step",    "/iter_",
                                                        "/step_",       "/step-",       "/checkpoint/step"};
  return std::any_of(kFolders.begin(), kFolders.end(), [message](std::string_view folder) {
    const size_t at = message.find(folder);
    if (at == std::string_view::npos) return false;
    size_t end = at + folder.size();
    if (end < message.size() && message[end] == '_') ++end;
    const size_t digits = end;
    while (end < message.size() && message[end] >= '0' && message[end] <= '9') ++end;
    return end > digits && end + 1 < message.size() && message[end] == '/';
  });
}

/// "2 validation errors for GradeAnswer": what pydantic refused is no settings by its name, nor where it was made. It
/// is an answer or a row of data then.
bool refuses_data(std::string_view bare, std::string_view message, std::string_view frame) {
  constexpr std::array<std::string_view, 6> kSettings = {"config", "settings", "args", "argument", "option", "param"};
  constexpr std::string_view kFor = " for ";
  const size_t model = find_part(message, kFor);
  if (bare != "ValidationError" || !contains(message, " validation error") || model == std::string_view::npos)
    return false;
  const std::string_view name = message.substr(model, message.find('\n') - model);
  return !speaks_of_settings(frame) &&
         std::none_of(kSettings.begin(), kSettings.end(), [name](auto word) { return contains_folded(name, word); });
}

/// The program wrote to one that is gone: which one, the frames say, if anything does.
ExceptionClass of_a_pipe(const ExceptionClass& is, std::string_view frame) {
  if (is.cause != "pipe-reader-gone") return is;
  if (contains(frame, "torch/distributed/")) return {is.kind, "tcpstore-broken-pipe", true};
  if (contains(frame, "/wandb/")) return {is.kind, "wandb-service-dead", true};
  return is;
}

/// Of a file of a model that does not exist the Hub says that nobody may read it: it does not say what is private.
bool unknown_to_hub(std::string_view message) {
  const size_t hub = message.find("huggingface.co/");
  return hub != std::string_view::npos && contains(message.substr(0, hub), "401") &&
         contains(message.substr(hub), "/resolve/");
}

}  // namespace

std::string_view bare_exception(std::string_view exception) {
  const size_t open = exception.rfind('(');
  if (open != std::string_view::npos && exception.back() == ')') {
    exception = exception.substr(open + 1, exception.size() - open - 2);
  }
  const size_t dot = exception.rfind('.');
  return dot == std::string_view::npos ? exception : exception.substr(dot + 1);
}

bool says_little(const ExceptionClass& is) {
  constexpr std::array<std::string_view, 5> kPlain{"unhandled-exception", "value-error", "runtime-error",
                                                   "assertion-error", "not-implemented-error"};
  return !is.consequence && std::find(kPlain.begin(), kPlain.end(), is.cause) != kPlain.end();
}

ExceptionClass classify_exception(std::string_view exception, std::string_view message, std::string_view frame) {
  if (contains(frame, "shm_broadcast.py")) return {"engine-dead", "vllm-shm-broadcast-stall", false};
  const std::string_view bare = bare_exception(exception);
  if (bare == "RetryError") {  // tenacity: "RetryError[<Future at 0x7f1c state=finished raised APITimeoutError>]"
    constexpr std::string_view kRaised = " raised ";
    const size_t at = message.rfind(kRaised);
    const std::string_view last = at == std::string_view::npos ? "" : message.substr(at + kRaised.size());
    if (!last.empty()) return classify_exception(last.substr(0, last.find('>')), "", frame);
  }
  if (unknown_to_hub(message)) return {"config-error", "hf-repo-not-found", false};
  if (const auto answer = hub_answer(exception, message)) return *answer;
  if (bare == "FileNotFoundError" && lacks_checkpoint_file(message))
    return {"checkpoint-incomplete", "ckpt-file-missing", false};
  if (bare == "OSError" && asks_a_person(raising_frame(frame))) return {"config-error", "waits-for-input", false};
  if (refuses_data(bare, message, frame)) return classify_exception("ValueError", "", frame);
  for (const Row& row : kRows) {
    if (row.name != bare || (!row.message.empty() && !contains_folded(message, row.message))) continue;
    const ExceptionClass is = sharpened(row.is, exception, message);
    const bool program = is.kind == "code-error" || is.kind == "crash";
    const bool refusal = is.kind == "config-error" && says_little(is);
    if ((program || refusal) && !is.consequence && is_rewards(frame)) {
      return {"code-error", "reward-function-exception", false};
    }
    const bool refused = bare == "ValueError" || bare == "AssertionError";
    if (program && refused && speaks_of_settings(raising_frame(frame))) return {"config-error", is.cause, false};
    if (is.cause == "waits-for-input" && contains(frame, "trust_remote_code"))
      return {"config-error", "trust-remote-code", false};
    if (bare == "NameError" && contains(raising_frame(frame), "-packages/"))  // a library's own code names it
      return {"dependency-broken", "import-error-version", false};
    if (bare == "KeyError" && speaks_of_data(raising_frame(frame)))
      return {"data-error", "dataset-column-missing", false};
    if (bare == "StopIteration" && speaks_of_data(raising_frame(frame)))
      return {"data-error", "dataset-exhausted", false};
    if (bare == "KeyError" && reads_an_answer(raising_frame(frame)))
      return {"code-error", "retriever-error-response", false};
    if (is.cause == "file-not-found" && saves_checkpoint(own_frame(frame)))
      return {"checkpoint-failed", "checkpoint-save-failed", false};
    return of_a_checkpoint(of_a_pipe(is, frame), frame);
  }
  if (server_failed(bare, message)) return {"network", "http-server-error", false};
  return of_a_checkpoint(of_a_pipe(sharpened({"crash", "unhandled-exception", false}, exception, message), frame),
                         frame);
}

}  // namespace mw::detect
