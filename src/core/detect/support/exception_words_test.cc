// What libraries and trainers put into words, and what it means: each line holds one row of the tables beside this.
#include "core/detect/support/exception_words.h"

#include <doctest/doctest.h>

#include <string>

#include "base/text.h"

namespace mw::detect {
namespace {

struct Example {
  std::string_view exception, message, kind, cause;
};

constexpr Example kExamples[] = {
    // system errors, by number and by name
    {"OSError", "[Errno 1] Operation not permitted: '/dev/shm'", "resource-limit", "permission-denied"},
    {"Exception", "open failed: [Errno 2] No such file or directory", "config-error", "file-not-found"},
    {"OSError", "[Errno 5] Input/output error", "checkpoint-failed", "eio-input-output-error"},
    {"OSError", "[Errno 11] Resource temporarily unavailable", "resource-limit",
     "resource-temporarily-unavailable-eagain"},
    {"acme.ForkFailed", "fork: ENOMEM", "host-out-of-memory", "errno-12-cannot-allocate"},
    {"Exception", "[Errno 13] Permission denied: '/out'", "resource-limit", "permission-denied"},
    {"OSError", "[Errno 23] Too many open files in system", "resource-limit", "emfile-too-many-open-files"},
    {"acme.NoSocket", "socket: EMFILE", "resource-limit", "emfile-too-many-open-files"},
    {"acme.WriteFailed", "IoError(Os { code: 28, kind: StorageFull })", "disk-full", "enospc-generic"},
    {"RuntimeError", "write failed: Read-only file system (os error 30)", "disk-full", "read-only-filesystem"},
    {"OSError", "[Errno 32] Broken pipe", "worker-lost", "tcpstore-broken-pipe"},
    {"OSError", "[Errno 37] No locks available", "resource-limit", "no-locks-available"},
    {"RuntimeError", "failed to bind to [::]:29500 (errno: 98 - Address already in use)", "resource-limit",
     "port-in-use"},
    {"OSError", "[Errno 101] Network is unreachable", "network", "network-unreachable"},
    {"OSError", "[Errno 104] Connection reset by peer", "network", "connection-reset-by-peer"},
    {"OSError", "[Errno 107] Transport endpoint is not connected: '/mnt'", "disk-full",
     "transport-endpoint-not-connected"},
    {"OSError", "[Errno 110] Connection timed out", "network", "remote-read-timeout"},
    {"OSError", "[Errno 111] Connect call failed", "network", "connection-refused"},
    {"OSError", "[Errno 113] No route to host", "network", "network-unreachable"},
    {"OSError", "[Errno 116] Stale file handle", "checkpoint-failed", "nfs-stale-file-handle"},
    {"acme.SaveFailed", "cannot write: EDQUOT", "disk-full", "quota-exceeded"},
    // statuses of HTTP
    {"Exception", "Request failed: 401, {\"detail\":\"no\"}", "credentials", "openai-auth-error"},
    {"acme.ApiError", "HTTP 402: payment required", "environment-fault", "judge-quota-exhausted"},
    {"RuntimeError", "server answered with status code 403", "credentials", "openai-auth-error"},
    {"Exception", "Request failed: 404, {\"detail\":\"Not Found\"}", "config-error", "http-not-found"},
    {"requests.exceptions.HTTPError", "404 Client Error: Not Found for url: http://10.0.0.5:503/5000", "config-error",
     "http-not-found"},
    {"acme.ApiError", "status=407", "credentials", "openai-auth-error"},
    {"acme.ApiError", "HTTP 408", "network", "remote-read-timeout"},
    {"acme.ApiError", "error code: 429", "environment-fault", "judge-api-rate-limit"},
    {"openai.APIStatusError", "Error code: 422", "code-error", "http-400-bad-request"},
    {"RuntimeError", "engine answered <Response [503]>", "network", "http-server-error"},
    // packages
    {"docker.errors.ImageNotFound", "no such image", "environment-fault", "sandbox-creation-failed"},
    {"kubernetes.client.exceptions.ApiException", "conflict", "environment-fault", "sandbox-creation-failed"},
    {"playwright._impl._errors.Error", "page closed", "environment-fault", "sandbox-execution-failed"},
    {"selenium.common.exceptions.WebDriverException", "gone", "environment-fault", "sandbox-execution-failed"},
    {"botocore.exceptions.ReadTimeoutError", "on endpoint", "network", "remote-read-timeout"},
    {"google.auth.exceptions.RefreshError", "expired", "credentials", "credential-invalid-object-store"},
    {"hydra.errors.InstantiationException", "Error locating target", "config-error", "hydra-config-key-error"},
    {"omegaconf.errors.GrammarParseError", "token recognition", "config-error", "hydra-config-key-error"},
    {"yaml.scanner.ScannerError", "mapping values", "config-error", "config-file-syntax"},
    {"tomllib.TOMLDecodeError", "Expected '='", "config-error", "config-file-syntax"},
    {"jinja2.exceptions.TemplateAssertionError", "no filter", "data-error", "chat-template-error"},
    {"datasets.table.TableError", "cast", "data-error", "dataset-corrupt-arrow"},
    {"pyarrow.lib.ArrowKeyError", "x", "data-error", "dataset-corrupt-arrow"},
    {"triton.compiler.errors.CompilationError", "at 3:4", "dependency-broken", "triton-compile-failure"},
    {"torch._dynamo.exc.InternalTorchDynamoError", "x", "dependency-broken", "torch-compile-inductor-failure"},
    {"torch._inductor.exc.InductorError", "x", "dependency-broken", "torch-compile-inductor-failure"},
    {"torch.distributed.checkpoint.api.CheckpointException", "ranks:dict_keys([0])", "checkpoint-failed",
     "state-dict-load-error"},
    {"torch.distributed.elastic.rendezvous.api.RendezvousConnectionError", "The store has failed", "network",
     "torch-rendezvous-timeout"},
    {"megatron.core.dist_checkpointing.core.CheckpointingException", "no metadata", "checkpoint-failed",
     "state-dict-load-error"},
    {"safetensors_rust.Odd", "x", "checkpoint-failed", "state-dict-load-error"},
    {"ray.exceptions.RuntimeEnvSetupError", "x", "dependency-broken", "ray-runtime-env-setup-failed"},
    {"ray.exceptions.GetTimeoutError", "x", "crash", "ray-get-timeout"},
    {"ray.exceptions.OutOfDiskError", "x", "disk-full", "ray-spill-failure"},
    {"ray.exceptions.ObjectStoreFullError", "x", "host-out-of-memory", "ray-object-store-full"},
    {"ray.exceptions.LocalRayletDiedError", "x", "worker-lost", "ray-local-raylet-died"},
    {"ray.exceptions.OwnerDiedError", "x", "worker-lost", "ray-object-lost"},
    // phrases
    {"ValueError", "NaN values found in the loss", "non-finite", "nan-loss"},
    {"RuntimeError", "loss has NaN or Inf", "non-finite", "nan-loss"},
    {"RuntimeError", "advantage has Inf or NaN", "non-finite", "nan-loss"},
    {"RuntimeError", "probabilities with `inf, nan` or below zero", "non-finite", "nan-loss"},
    {"RuntimeError", "the norm is non-finite", "non-finite", "nan-loss"},
    {"AssertionError", "ratio is not finite", "non-finite", "nan-loss"},
    {"AssertionError", "policy loss is nan", "non-finite", "nan-loss"},
    {"ValueError", "found NaN in batch", "non-finite", "nan-loss"},
    {"acme.Guard", "NaN detected at layer 3", "non-finite", "nan-loss"},
    {"AssertionError", "Torch not compiled with CUDA enabled", "dependency-broken", "torch-without-cuda"},
    {"RuntimeError", "torch.cuda.is_available() is False", "gpu-fault", "no-nvidia-driver"},
    {"RuntimeError", "/x/y.so: undefined symbol: _ZN1a", "dependency-broken", "abi-undefined-symbol"},
    {"Exception", "'_OpNamespace' '_C' object has no attribute 'f'", "dependency-broken", "abi-undefined-symbol"},
    {"OSError", "libc.so.6: version `GLIBC_2.38' not found", "dependency-broken", "glibc-or-libstdcxx-version"},
    {"RuntimeError", "Failed to find C compiler.", "dependency-broken", "triton-compile-failure"},
    {"OSError", "CUDA_HOME is unset", "dependency-broken", "extension-build-failed"},
    {"RuntimeError", "run `pip install x -U`", "dependency-broken", "import-error-version"},
    {"RuntimeError", "flash attention is not installed", "dependency-broken", "module-not-found"},
    {"ValueError", "please install peft", "dependency-broken", "module-not-found"},
    {"ValueError", "please upgrade vllm", "dependency-broken", "import-error-version"},
    {"ValueError", "version 2.0 of x is required", "dependency-broken", "import-error-version"},
    {"RuntimeError", "x requires torch 2.8 or newer", "dependency-broken", "import-error-version"},
    {"RuntimeError", "x requires torch 2.8 or higher", "dependency-broken", "import-error-version"},
    {"RuntimeError", "torch 2.6 or higher is required to use x", "dependency-broken", "import-error-version"},
    {"AssertionError", "fp8 needs CUDA arch 89", "config-error", "kernel-not-for-this-gpu"},
    {"ValueError", "compute capability 7.0 is too low", "config-error", "kernel-not-for-this-gpu"},
    {"AssertionError", "this backend requires SM>=90", "config-error", "kernel-not-for-this-gpu"},
    {"RuntimeError", "Ampere cards do not support it", "config-error", "kernel-not-for-this-gpu"},
    {"RuntimeError", "supported on Hopper alone", "config-error", "kernel-not-for-this-gpu"},
    {"RuntimeError", "Attention only support fp16 and bf16 data type", "config-error", "dtype-mismatch"},
    {"RuntimeError", "Attention only supports fp16 and bf16", "config-error", "dtype-mismatch"},
    {"RuntimeError", "query and key need the same dtype", "config-error", "dtype-mismatch"},
    {"RuntimeError", "dtype mismatch", "config-error", "dtype-mismatch"},
    {"AssertionError", "probs dtype float32 does not match bfloat16", "config-error", "dtype-mismatch"},
    {"RuntimeError", "expected dtype half but got float", "config-error", "dtype-mismatch"},
    {"RuntimeError", "tensors are not on the same device", "code-error", "device-mismatch"},
    {"RuntimeError", "cuDNN error: CUDNN_STATUS_BAD", "gpu-fault", "cuda-unspecified-launch-failure"},
    {"RuntimeError", "CUBLAS_STATUS_BAD", "gpu-fault", "cublas-execution-failed"},
    {"RuntimeError", "HCCL function error", "collective-timeout", "hccl-communication-timeout"},
    {"RuntimeError", "NCCL error: bad", "collective-timeout", "nccl-unhandled-cuda-error"},
    {"AssertionError", "Error in memory profiling.", "engine-dead", "vllm-memory-profiling-race"},
    {"RuntimeError", "Not enough memory.", "gpu-out-of-memory", "cuda-oom-trainer"},
    {"RuntimeError", "insufficient memory on the card", "gpu-out-of-memory", "cuda-oom-trainer"},
    {"ValueError", "No available memory for blocks", "gpu-out-of-memory", "vllm-no-kv-blocks"},
    {"RuntimeError", "can't start new thread", "resource-limit", "resource-temporarily-unavailable-eagain"},
    {"ValueError", "loaded state dict contains a parameter group of another size", "checkpoint-failed",
     "state-dict-load-error"},
    {"Exception", "while loading state_dict", "checkpoint-failed", "state-dict-load-error"},
    {"ValueError", "keys of the checkpoint are missing", "checkpoint-failed", "state-dict-load-error"},
    {"ValueError", "checkpoint mismatch", "checkpoint-failed", "state-dict-load-error"},
    {"ValueError", "the checkpoint is corrupt", "checkpoint-failed", "state-dict-load-error"},
    {"ValueError", "checkpoint was not found", "checkpoint-failed", "ckpt-dir-vanished"},
    {"ValueError", "checkpoint /x does not exist", "checkpoint-failed", "ckpt-dir-vanished"},
    {"ValueError", "Can't find a valid checkpoint at /x", "checkpoint-failed", "ckpt-dir-vanished"},
    {"Exception", "Weights only load failed.", "checkpoint-failed", "trust-weights-only-unpickle"},
    {"ValueError", "a must match the size of b", "code-error", ""},
    {"ValueError", "shape mismatch in loss", "code-error", ""},
    {"ValueError", "bad shape (3,), expected (4,)", "code-error", ""},
    {"ValueError", "size mismatch, 3 and 4", "code-error", ""},
    {"RuntimeError", "Sizes of tensors differ", "code-error", ""},
    {"ValueError", "could not broadcast array of shape (3,)", "code-error", ""},
    {"Exception", "Dimension out of range", "code-error", ""},
    {"RuntimeError", "expected a non-empty list of Tensors", "code-error", ""},
    {"RuntimeError", "still have inflight params", "code-error", ""},
    {"RuntimeError", "Expected to have finished reduction in the prior iteration", "code-error", ""},
    {"ValueError", "unsupported pickle protocol: 9", "dependency-broken", "import-error-version"},
    {"ValueError", "images and tokens do not match", "code-error", ""},
    {"ValueError", "the count does not match", "code-error", ""},
    {"ValueError", "row mismatch", "code-error", ""},
    {"RuntimeError", "Some tensors share memory", "checkpoint-failed", "checkpoint-save-failed"},
    {"ValueError", "the node has no GPU available", "resource-limit", "gpus-requested-more-than-present"},
    {"", "bash: ./run.sh: Permission denied", "resource-limit", "permission-denied"},
    {"", "bash: torchrun: command not found", "dependency-broken", "command-not-found"},
    {"", "bash: run.sh: No such file or directory", "config-error", "file-not-found"},
    {"RuntimeError", "cannot pickle a lock", "code-error", ""},
    {"RuntimeError", "This event loop is already running", "code-error", ""},
    {"ValueError", "no chat template", "config-error", "chat-template-missing"},
    {"ValueError", "chat_template is unset", "config-error", "chat-template-missing"},
    {"ValueError", "the tokenizer has no padding token", "config-error", "pad-token-missing"},
    {"ValueError", "pad_token is None", "config-error", "pad-token-missing"},
    {"ValueError", "prompt is longer than the maximum model length", "data-error", "context-length-exceeded-prompt"},
    {"RuntimeError", "sequence_length=9 is larger than max_length=8", "data-error", "context-length-exceeded-prompt"},
    {"ValueError", "maximum context length is 8", "data-error", "context-length-exceeded-prompt"},
    {"ValueError", "Couldn't cast a: string", "data-error", "dataset-corrupt-arrow"},
    {"ValueError", "column names differ", "data-error", "dataset-column-missing"},
    {"ValueError", "the dataset is empty", "data-error", "train-dataloader-empty"},
    {"ValueError", "empty dataset", "data-error", "train-dataloader-empty"},
    {"AssertionError", "Train dataloader is empty!", "data-error", "train-dataloader-empty"},
    {"ValueError", "num_samples should be positive, but got num_samples=0", "data-error", "train-dataloader-empty"},
    {"ValueError", "dataset has no column 'x'", "data-error", "dataset-column-missing"},
    {"ValueError", "text input must be of type `str`", "data-error", "dataset-bad-row-json"},
    {"RuntimeError", "address already in use", "resource-limit", "port-in-use"},
    {"RuntimeError", "Temporary failure in name resolution", "network", "dns-failure"},
    {"RuntimeError", "Name or service not known", "network", "dns-failure"},
    {"Exception", "certificate verify failed", "network", "tls-certificate-error"},
    {"RuntimeError", "Connection refused", "network", "connection-refused"},
    {"RuntimeError", "Connection reset", "network", "connection-reset-by-peer"},
    {"Exception", "Could not find any running Ray instance", "worker-lost", "ray-gcs-unreachable"},
    {"RuntimeError", "CAS service error: Request failed after 5 retries", "network", "http-retries-exhausted"},
    {"RuntimeError", "upload failed after 3 attempts", "network", "http-retries-exhausted"},
    {"Exception", "Max retries exceeded", "network", "http-retries-exhausted"},
    {"Exception", "rate limit reached", "environment-fault", "judge-api-rate-limit"},
    {"Exception", "insufficient_quota", "environment-fault", "judge-quota-exhausted"},
    {"ValueError", "no API key", "credentials", "api-key-missing"},
    {"ValueError", "api_key is empty", "credentials", "api-key-missing"},
    {"Exception", "Unauthorized", "credentials", "openai-auth-error"},
    {"Exception", "you are not logged in", "credentials", "openai-auth-error"},
    {"RuntimeError", "an engine died", "engine-dead", "vllm-engine-dead"},
    {"RuntimeError", "the engine is dead", "engine-dead", "vllm-engine-dead"},
    {"RuntimeError", "Engine core initialization failed.", "engine-dead", "vllm-engine-init-failed"},
    {"RuntimeError", "server did not become ready", "engine-dead", "sglang-server-launch-timeout"},
    {"RuntimeError", "server unhealthy", "engine-dead", "sglang-health-check-failed"},
    {"RuntimeError", "a worker died", "worker-lost", "worker-exited"},
    {"RuntimeError", "DataLoader worker (pid(s) 3) exited unexpectedly", "worker-lost", "dataloader-worker-exited"},
    {"acme.Gate", "timed out waiting for an answer", "crash", "timeout-error"},
    {"AssertionError", "FlashAttention v3 backend requires SM>=80", "dependency-broken", "flash-attn-unavailable"},
    {"ValueError", "FlashAttention does not support this head size", "dependency-broken", "flash-attn-unavailable"},
    {"RuntimeError", "the env process has died", "worker-lost", "worker-exited"},
    {"RuntimeError", "the helper exited with code 3", "worker-lost", "worker-exited"},
    {"RuntimeError", "refit timed out after 300 s", "crash", "timeout-error"},
    {"RuntimeError", "torch.distributed is not initialized", "code-error", ""},
    {"RuntimeError", "start() must be called before use", "code-error", ""},
    {"RuntimeError", "layer 9 is out of range", "code-error", ""},
    {"RuntimeError", "server failed to start", "engine-dead", "sglang-server-launch-timeout"},
    {"RuntimeError", "server did not start on port 9", "engine-dead", "sglang-server-launch-timeout"},
    {"RuntimeError", "no placement group in 180 s", "resource-limit", "ray-resources-pending"},
    {"ValueError", "cannot allocate workers with the available resources", "resource-limit", "ray-resources-pending"},
    {"acme.NoRoom", "4 GPUs wanted but only 2 are there", "resource-limit", "gpus-requested-more-than-present"},
    {"RuntimeError", "docker build failed: no", "environment-fault", "sandbox-creation-failed"},
    {"RuntimeError", "sandbox setup failed", "environment-fault", "sandbox-execution-failed"},
    {"RuntimeError", "sandbox call timed out", "environment-fault", "sandbox-oom-or-timeout"},
    {"RuntimeError", "the judge returned no verdict", "environment-fault", "judge-api-error"},
    {"RuntimeError", "heartbeat is stale", "worker-lost", "worker-exited"},
    {"RuntimeError", "Gateway returned 503: busy", "network", "http-server-error"},
    {"RuntimeError", "background checkpoint finalization failed", "checkpoint-failed", "checkpoint-save-failed"},
    {"RuntimeError", "missing keys in weights: lm_head", "checkpoint-failed", "state-dict-load-error"},
    {"RuntimeError", "missing key in the state", "checkpoint-failed", "state-dict-load-error"},
    {"RuntimeError", "missing key while loading w.safetensors", "checkpoint-failed", "state-dict-load-error"},
    {"RuntimeError", "needs transformer-engine>=2.6.0", "dependency-broken", "import-error-version"},
    {"ValueError", "a vLLM version must be greater than 0.8", "dependency-broken", "import-error-version"},
    {"ValueError", "'x' is already used by a Transformers config", "dependency-broken", "import-error-version"},
    {"RuntimeError", "the extra is missing. Install it with: uv sync", "dependency-broken", "module-not-found"},
    {"ValueError", "training dataset 'a' tokenized to 0 examples", "data-error", "train-dataloader-empty"},
    {"ValueError", "the dataset has no examples", "data-error", "train-dataloader-empty"},
    {"ValueError", "the dataset has no samples left", "data-error", "train-dataloader-empty"},
    {"ValueError", "eval dataset is empty", "data-error", "train-dataloader-empty"},
    {"ValueError", "output directory out already exists", "config-error", ""},
    // names
    {"acme.ReplyTimeout", "no answer", "crash", "timeout-error"},
    {"acme.PoolTimedOut", "no answer", "crash", "timeout-error"},
    {"acme.RateLimited", "slow down", "environment-fault", "judge-api-rate-limit"},
    {"acme.QuotaUsed", "none left", "environment-fault", "judge-quota-exhausted"},
    {"acme.UnauthorizedAccess", "no", "credentials", "openai-auth-error"},
    {"acme.AuthenticationFailed", "no", "credentials", "openai-auth-error"},
    {"modal.exception.AuthError", "Token missing.", "credentials", "openai-auth-error"},
    {"acme.ForbiddenCall", "no", "credentials", "openai-auth-error"},
    {"acme.AccessDenied", "no", "credentials", "openai-auth-error"},
    {"acme.PermissionDeniedError", "no", "credentials", "openai-auth-error"},
    {"acme.CredentialProblem", "no", "credentials", "openai-auth-error"},
    {"acme.ConfigurationProblem", "bad", "config-error", ""},
    {"acme.ConfigError", "bad", "config-error", ""},
    {"acme.ConfigException", "bad", "config-error", ""},
    {"click.exceptions.UsageError", "bad", "config-error", "argparse-unrecognized"},
    {"click.exceptions.BadParameter", "bad", "config-error", "argparse-unrecognized"},
    {"click.exceptions.NoSuchOption", "bad", "config-error", "argparse-unrecognized"},
    {"acme.CheckpointProblem", "bad", "checkpoint-failed", "state-dict-load-error"},
    {"acme.SandboxProblem", "bad", "environment-fault", "sandbox-execution-failed"},
    {"acme.ContainerProblem", "bad", "environment-fault", "sandbox-execution-failed"},
    {"acme.NonFiniteLoss", "step 3", "non-finite", "nan-loss"},
    {"acme.ConnectionProblem", "bad", "network", "connection-refused"},
    {"RayTaskError(CompilationError)", "at 3:4", "dependency-broken", "triton-compile-failure"},
    {"acme.DatasetProblem", "bad", "data-error", "dataset-corrupt-arrow"},
};

}  // namespace

TEST_CASE("an exception whose type says little is known by its words") {
  for (const Example& example : kExamples) {
    const std::string name = cat(example.exception, ": ", example.message);
    CAPTURE(name);
    const auto is = class_by_words(example.exception, example.message);
    REQUIRE(is.has_value());
    CHECK(is->kind == example.kind);
    CHECK(is->cause == example.cause);
  }
}

TEST_CASE("a refusal is one of the settings, whoever phrases it") {
  for (const char* words : {"mode must be either 'a' or 'b'",
                            "x must be one of a, b",
                            "x must be set",
                            "x must be specified",
                            "x must be provided",
                            "x should be one of a, b",
                            "x should be set",
                            "x should be either a or b",
                            "x 0 should be larger than 0",
                            "x has to be set",
                            "x has to be positive",
                            "x is not supported",
                            "x not supported",
                            "Unsupported x",
                            "x does not support y",
                            "x only supports y",
                            "x only support y",
                            "x is only supported with y",
                            "x can only be used with y",
                            "x cannot be used with y",
                            "x is not compatible",
                            "x and y are incompatible",
                            "y is required for x",
                            "y is required when x",
                            "x and y are required",
                            "Please set x",
                            "Please specify x",
                            "Please provide x",
                            "x is not a valid y",
                            "x is not a valid argument",
                            "invalid choice: x",
                            "Some keys are not used",
                            "environment variable X",
                            "x require setting y",
                            "5 is not divisible by 3",
                            "x is larger than the limit",
                            "not used by the HfArgumentParser",
                            "tensor parallel size 3",
                            "Cannot find any weights",
                            "Could not find x",
                            "couldn't find x",
                            "can't find x",
                            "x does not exist",
                            "x is greater than y",
                            "x exceeds the y",
                            "No adapter found for x"}) {
    const std::string text = words;
    CAPTURE(text);
    const auto is = class_by_words("ValueError", words);
    REQUIRE(is.has_value());
    CHECK(is->kind == "config-error");
    CHECK(is->cause.empty());
  }
}

TEST_CASE("a setting that is named and of which something is wanted is refused") {
  for (const char* words : {"--delta requires --disk",
                            "actor.ppo_epochs must exceed 0",
                            "ACME_MAX_BYTES should grow",
                            "num_bits needs more",
                            "n_samples must exceed 1",
                            "max_model_len (8) should be less",
                            "min_p cannot exceed 1",
                            "use_x missing",
                            "enable_x not set",
                            "disable_x expected false",
                            "total_epochs must exceed 0",
                            "save_best must go",
                            "load_x must go",
                            "resume_from must go",
                            "batch_size must be >= 4",
                            "warmup_steps must fall",
                            "model_path must exist",
                            "out_dir must exist",
                            "test_freq must fall",
                            "clip_ratio must fall",
                            "kl_coef must fall",
                            "seq_len must fall",
                            "loss_mode must fall",
                            "optim_type must fall",
                            "rollout_gpus must fall",
                            "tensor_parallel must fall",
                            "train_nodes must fall",
                            "data_workers must fall",
                            "batch_per_gpu must fall",
                            "gpus_per_node must fall",
                            "attn_backend must fall",
                            "ckpt_strategy must fall",
                            "adv_estimator must fall",
                            "Invalid reduction: x",
                            "unknown dtype: x",
                            "Unrecognized mode x"}) {
    const std::string text = words;
    CAPTURE(text);
    const auto is = class_by_words("ValueError", words);
    REQUIRE(is.has_value());
    CHECK(is->kind == "config-error");
  }
  for (const char* words : {"response_mask must contain a token", "the agent must go first", "max_steps reached",
                            "a-b must go", "x.y must go", "loss was invalid"}) {
    const std::string text = words;
    CAPTURE(text);
    CHECK_FALSE(class_by_words("ValueError", words).has_value());
  }
}

TEST_CASE("a value that is shown refuses nothing, and a bound is no version") {
  const auto kind = [](std::string_view message) {
    const auto is = class_by_words("AssertionError", message);
    return is ? std::string(is->kind) : "";
  };
  CHECK(kind("{'id': 3, 'ds_tensor.shape': (4,), 'requires_grad': True, 'missing': 0}").empty());
  CHECK(kind("[rank 3] needs n >= 2").empty());
  CHECK(kind("it needs mcore >= 0.13.0") == "dependency-broken");
}

TEST_CASE("a number is a status only where words say so, and no word means nothing") {
  for (const char* words : {"step 404 failed", "http://10.0.0.5:503/x", "took 10.503 s", "1503 tokens", "code 9404",
                            "no browser free after 300s", "banana split", ""}) {
    const std::string text = words;
    CAPTURE(text);
    CHECK_FALSE(class_by_words("acme.Odd", words).has_value());
  }
}

}  // namespace mw::detect
