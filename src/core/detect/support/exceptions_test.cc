// What the libraries raise, in their own words, and what each of it means: written down from their sources and issues,
// not from the table in exceptions.cc. Each line holds one row of that table.
#include <doctest/doctest.h>

#include <iterator>
#include <string>

#include "base/text.h"
#include "core/detect/support/failure_chain.h"

namespace mw::detect {
namespace {

struct Example {
  std::string_view exception, message, kind, cause;
};

/// Failures themselves.
constexpr Example kRoots[] = {
    // memory
    {"ray.exceptions.OutOfMemoryError", "Killed: the node running low on memory (threshold 0.95)", "host-out-of-memory",
     "ray-memory-monitor-kill"},
    {"ray.exceptions.OutOfMemoryError", "Task was killed due to memory pressure", "host-out-of-memory",
     "ray-memory-monitor-kill"},
    {"torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB", "gpu-out-of-memory",
     "cuda-oom-trainer"},
    {"RuntimeError", "CUDA error: out of memory", "gpu-out-of-memory", "cuda-oom-trainer"},
    {"MemoryError", "", "host-out-of-memory", "errno-12-cannot-allocate"},
    {"numpy.core._exceptions._ArrayMemoryError", "Unable to allocate 31.2 GiB for an array", "host-out-of-memory",
     "errno-12-cannot-allocate"},
    {"pyarrow.lib.ArrowMemoryError", "malloc of size 8589934592 failed", "host-out-of-memory",
     "errno-12-cannot-allocate"},
    {"RuntimeError", "[enforce fail at alloc_cpu.cpp:114] DefaultCPUAllocator: can't allocate", "host-out-of-memory",
     "errno-12-cannot-allocate"},
    {"RuntimeError", "unable to mmap 1024 bytes: Cannot allocate memory (12)", "host-out-of-memory",
     "errno-12-cannot-allocate"},
    {"OSError", "[Errno 12] Cannot allocate memory", "host-out-of-memory", "errno-12-cannot-allocate"},
    {"BlockingIOError", "[Errno 11] Resource temporarily unavailable", "resource-limit",
     "resource-temporarily-unavailable-eagain"},
    // accelerator
    {"torch.AcceleratorError", "CUDA error: an illegal memory access was encountered", "gpu-fault",
     "cuda-illegal-memory-access"},
    {"RuntimeError", "CUDA error: an illegal memory access was encountered", "gpu-fault", "cuda-illegal-memory-access"},
    {"RuntimeError", "CUDA error: device-side assert triggered", "gpu-fault", "cuda-device-side-assert"},
    {"torch.AcceleratorError", "CUDA error: unspecified launch failure", "gpu-fault",
     "cuda-unspecified-launch-failure"},
    {"RuntimeError", "No CUDA GPUs are available", "config-error", "no-nvidia-driver"},
    {"RuntimeError", "CUDA driver initialization failed, you might not have a CUDA gpu.", "gpu-fault",
     "no-nvidia-driver"},
    {"RuntimeError", "CUDA error: unspecified launch failure", "gpu-fault", "cuda-unspecified-launch-failure"},
    {"RuntimeError", "HIP error: invalid device function", "gpu-fault", "cuda-unspecified-launch-failure"},
    // a person
    {"KeyboardInterrupt", "", "interrupted", "user-cancelled"},
    // packages
    {"ModuleNotFoundError", "No module named 'flash_attn'", "dependency-broken", "module-not-found"},
    {"ImportError", "flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda", "dependency-broken",
     "abi-undefined-symbol"},
    {"ImportError", "cannot import name 'x' from 'transformers'", "dependency-broken", "import-error-version"},
    {"RuntimeError", "Error building extension 'cpu_adam'", "dependency-broken", "extension-build-failed"},
    {"RuntimeError", "Failed to import transformers.models.llama", "dependency-broken", "import-error-version"},
    {"deepspeed.ops.op_builder.builder.CUDAMismatchException", "Installed CUDA version 11.8 does not match",
     "dependency-broken", "deepspeed-cuda-version-mismatch"},
    {"pkg_resources.VersionConflict", "(numpy 2.0, Requirement.parse('numpy<2'))", "dependency-broken",
     "import-error-version"},
    {"pkg_resources.ContextualVersionConflict", "(tokenizers 0.15, ...)", "dependency-broken", "import-error-version"},
    {"importlib.metadata.PackageNotFoundError", "No package metadata was found for bitsandbytes", "dependency-broken",
     "module-not-found"},
    {"pkg_resources.DistributionNotFound", "The 'vllm' distribution was not found", "dependency-broken",
     "module-not-found"},
    // disk and limits
    {"OSError", "[Errno 28] No space left on device: '/ckpt'", "disk-full", "enospc-generic"},
    {"OSError", "[Errno 122] Disk quota exceeded", "disk-full", "quota-exceeded"},
    {"OSError", "[Errno 30] Read-only file system: '/data'", "disk-full", "read-only-filesystem"},
    {"safetensors_rust.SafetensorError", "Error: I/O error: No space left (os error 28)", "disk-full",
     "enospc-generic"},
    {"OSError", "[Errno 24] Too many open files", "resource-limit", "emfile-too-many-open-files"},
    {"OSError", "[Errno 98] Address already in use", "resource-limit", "port-in-use"},
    {"OSError", "[Errno 11] Resource temporarily unavailable", "resource-limit",
     "resource-temporarily-unavailable-eagain"},
    {"RuntimeError", "Too many open files. Communication with the workers is no longer possible.", "resource-limit",
     "emfile-too-many-open-files"},
    {"ValueError", "Total available GPUs 4 is less than total desired GPUs 8", "config-error",
     "gpus-requested-more-than-present"},
    {"PermissionError", "[Errno 13] Permission denied: '/data'", "resource-limit", "permission-denied"},
    {"torch.distributed.DistNetworkError", "EADDRINUSE: address already in use", "resource-limit", "port-in-use"},
    // checkpoints
    {"OSError", "Unable to load weights from pytorch checkpoint file", "checkpoint-failed", "state-dict-load-error"},
    {"ValueError", "Trying to set a tensor of shape [2] in \"weight\" (which has shape [4]), this looks incorrect.",
     "checkpoint-failed", "state-dict-load-error"},
    {"EOFError", "EOF when reading a line", "config-error", "waits-for-input"},
    {"EOFError", "Ran out of input", "checkpoint-incomplete", "torch-zip-corrupt"},
    {"_pickle.UnpicklingError", "Weights only load failed.", "checkpoint-failed", "trust-weights-only-unpickle"},
    {"_pickle.UnpicklingError", "invalid load key, 'v'.", "checkpoint-incomplete", "torch-zip-corrupt"},
    {"RuntimeError", "Parent directory /ckpt/step_10 does not exist.", "checkpoint-failed", "torch-writer-failed"},
    {"OSError", "[Errno 116] Stale file handle", "checkpoint-failed", "nfs-stale-file-handle"},
    {"OSError", "[Errno 5] Input/output error", "checkpoint-failed", "eio-input-output-error"},
    {"safetensors_rust.SafetensorError", "Error while serializing: IoError", "checkpoint-failed",
     "torch-writer-failed"},
    // network
    {"OSError", "We couldn't connect to 'https://huggingface.co' to load this file", "network", "hf-hub-unreachable"},
    {"huggingface_hub.errors.LocalEntryNotFoundError", "Cannot find the requested files in the disk cache", "network",
     "hf-hub-unreachable"},
    {"huggingface_hub.errors.OfflineModeIsEnabled", "Cannot reach hub: offline mode is enabled.", "network",
     "hf-offline-mode"},
    {"huggingface_hub.errors.HfHubHTTPError", "429 Client Error: Too Many Requests", "network", "hf-rate-limit"},
    {"botocore.exceptions.ConnectTimeoutError", "Connect timeout on endpoint URL", "network", "remote-read-timeout"},
    {"huggingface_hub.errors.HfHubHTTPError", "504 Server Error: Gateway Time-out", "network", "hf-hub-unreachable"},
    {"grpc._channel._InactiveRpcError", "StatusCode.UNAVAILABLE", "network", "connection-refused"},
    {"openai.APIStatusError", "Error code: 503", "network", "http-server-error"},
    {"openai.APIStatusError", "Error code: 422", "code-error", "http-400-bad-request"},
    {"requests.exceptions.HTTPError", "500 Server Error: for url", "network", "http-server-error"},
    {"requests.exceptions.HTTPError", "reward model returned HTTP 502 Bad Gateway", "network", "http-server-error"},
    {"requests.exceptions.HTTPError", "404 Client Error: Not Found for url: http://10.0.0.5:503/5000", "config-error",
     "http-not-found"},
    {"httpx.HTTPStatusError", "Server error '503 Service Unavailable' for url", "network", "http-server-error"},
    {"urllib.error.HTTPError", "HTTP Error 504: Gateway Timeout", "network", "http-server-error"},
    {"aiohttp.client_exceptions.ClientResponseError", "502, message='Bad Gateway'", "network", "http-server-error"},
    {"socket.timeout", "timed out", "network", "remote-read-timeout"},
    {"wandb.errors.CommError", "A network problem occurred", "network", "wandb-init-timeout"},
    {"wandb.errors.WandbAttachFailedError", "Failed to attach", "network", "wandb-init-timeout"},
    {"boto3.exceptions.S3UploadFailedError", "Failed to upload: connection reset", "network", "http-retries-exhausted"},
    {"botocore.exceptions.EndpointConnectionError", "Could not connect to the endpoint URL", "network",
     "connection-refused"},
    {"urllib3.exceptions.NameResolutionError", "Failed to resolve 'huggingface.co'", "network", "dns-failure"},
    {"socket.gaierror", "[Errno -3] Temporary failure", "network", "dns-failure"},
    {"requests.exceptions.SSLError", "certificate verify failed", "network", "tls-certificate-error"},
    {"requests.exceptions.ConnectionError", "Temporary failure in name resolution", "network", "dns-failure"},
    {"urllib3.exceptions.MaxRetryError", "Temporary failure in name resolution", "network", "dns-failure"},
    {"httpx.PoolTimeout", "", "network", "remote-read-timeout"},
    {"openai.APITimeoutError", "Request timed out.", "network", "remote-read-timeout"},
    {"http.client.IncompleteRead", "IncompleteRead(1024 bytes read)", "network", "hf-download-incomplete"},
    {"requests.exceptions.ChunkedEncodingError", "Connection broken", "network", "hf-download-incomplete"},
    {"requests.exceptions.ReadTimeout", "Read timed out.", "network", "remote-read-timeout"},
    {"urllib3.exceptions.ReadTimeoutError", "Read timed out.", "network", "remote-read-timeout"},
    {"requests.exceptions.ConnectTimeout", "Connection timed out", "network", "remote-read-timeout"},
    {"torch.distributed.DistNetworkError", "The client socket has timed out", "network", "torch-rendezvous-timeout"},
    {"torch.distributed.DistStoreError", "Timed out waiting for clients: 3/4 joined", "network",
     "torch-rendezvous-timeout"},
    // keys
    {"OSError", "You are trying to access a gated repo.", "credentials", "hf-gated-repo"},
    {"huggingface_hub.errors.GatedRepoError", "Access to the model is restricted", "credentials", "hf-gated-repo"},
    {"huggingface_hub.errors.RepositoryNotFoundError", "Repository Not Found for url", "credentials",
     "hf-repo-not-found"},
    {"openai.AuthenticationError", "Incorrect key provided", "credentials", "openai-auth-error"},
    {"wandb.errors.UsageError", "api_key not configured (no-tty)", "credentials", "wandb-api-key-missing"},
    {"wandb.errors.UsageError", "No API key configured", "credentials", "wandb-api-key-missing"},
    {"requests.exceptions.HTTPError", "403 Client Error: Forbidden", "credentials", "openai-auth-error"},
    {"requests.exceptions.HTTPError", "401 Client Error: Unauthorized", "credentials", "openai-auth-error"},
    {"huggingface_hub.errors.HfHubHTTPError",
     "413 Client Error: Payload Too Large for url: x (Request ID: Root=1-4034)", "resource-limit",
     "hf-upload-too-large"},
    {"huggingface_hub.errors.HfHubHTTPError", "Client error '413 Payload Too Large' for url", "resource-limit",
     "hf-upload-too-large"},
    {"huggingface_hub.errors.HfHubHTTPError",
     "400 Client Error: Bad Request for url: x\n\nYour proposed upload is over the limit of 100,000 files",
     "resource-limit", "hf-upload-too-large"},
    {"huggingface_hub.errors.HfHubHTTPError", "402 Client Error: Payment Required", "resource-limit",
     "hf-payment-required"},
    {"huggingface_hub.errors.HfHubHTTPError", "409 Client Error: Conflict", "config-error", "hf-commit-conflict"},
    {"huggingface_hub.errors.HfHubHTTPError", "412 Client Error: Precondition Failed", "config-error",
     "hf-commit-conflict"},
    {"huggingface_hub.errors.HfHubHTTPError", "422 Client Error: Unprocessable Entity", "config-error",
     "hf-request-refused"},
    {"huggingface_hub.errors.BadRequestError", "(Request ID: x) Bad request for commit endpoint:", "config-error",
     "hf-request-refused"},
    {"huggingface_hub.errors.HfHubHTTPError", "500 Server Error: for url: x (Request ID: Root=1-4034013)", "network",
     "hf-hub-unreachable"},
    {"huggingface_hub.errors.HfHubHTTPError", "403 Forbidden: the token cannot write", "credentials",
     "hf-token-refused"},
    {"huggingface_hub.errors.HfHubHTTPError", "401 Client Error: Unauthorized", "credentials", "hf-token-refused"},
    {"huggingface_hub.errors.HfHubHTTPError", "403 Forbidden: Private repository storage limit reached",
     "resource-limit", "hf-storage-full"},
    {"huggingface_hub.errors.HfHubHTTPError", "403 Forbidden: Please enable access to public gated repositories",
     "credentials", "hf-gated-repo"},
    {"openai.OpenAIError", "The api_key client option must be set", "credentials", "openai-auth-error"},
    {"ValueError", "Invalid token passed!", "credentials", "hf-token-refused"},
    {"wandb.errors.CommError", "Permission denied to access team/project", "credentials", "wandb-permission-denied"},
    {"botocore.exceptions.ClientError", "An error occurred (AccessDenied) when calling PutObject", "credentials",
     "credential-invalid-object-store"},
    {"boto3.exceptions.S3UploadFailedError", "An error occurred (AccessDenied)", "credentials",
     "credential-invalid-object-store"},
    {"huggingface_hub.errors.LocalTokenNotFoundError", "Token is required", "credentials", "hf-token-refused"},
    {"botocore.exceptions.NoCredentialsError", "Unable to locate credentials", "credentials",
     "credential-invalid-object-store"},
    {"openai.PermissionDeniedError", "Error code: 403", "credentials", "openai-auth-error"},
    // what gives answers and rewards
    {"openai.RateLimitError", "Error code: 429 - {'code': 'insufficient_quota'}", "environment-fault",
     "judge-quota-exhausted"},
    {"openai.NotFoundError", "Error code: 404 - {'message': 'The model `x` does not exist.'}", "config-error",
     "http-not-found"},
    {"openai.BadRequestError", "Error code: 400", "code-error", "http-400-bad-request"},
    {"openai.UnprocessableEntityError", "Error code: 422", "code-error", "http-400-bad-request"},
    {"anthropic.OverloadedError", "Overloaded", "environment-fault", "judge-api-rate-limit"},
    {"openai.RateLimitError", "Error code: 429", "environment-fault", "judge-api-rate-limit"},
    {"prime_sandboxes.SandboxTimeoutError", "", "environment-fault", "sandbox-oom-or-timeout"},
    {"e2b.SandboxException", "sandbox was not found", "environment-fault", "sandbox-execution-failed"},
    {"swerex.SandboxError", "exec failed", "environment-fault", "sandbox-execution-failed"},
    {"daytona.DaytonaError", "Failed to create", "environment-fault", "sandbox-creation-failed"},
    {"e2b.TimeoutException", "The sandbox was killed", "environment-fault", "sandbox-oom-or-timeout"},
    {"RuntimeError", "Environment reset failed: 500", "environment-fault", "sandbox-service-down"},
    {"RuntimeError", "Engine is not running", "engine-dead", "vllm-engine-dead"},
    {"RuntimeError", "Server failed to start", "engine-dead", "sglang-server-launch-timeout"},
    {"RuntimeError", "Health check failed", "engine-dead", "sglang-health-check-failed"},
    {"TimeoutError", "Server did not become healthy within 600 s", "engine-dead", "sglang-server-launch-timeout"},
    {"RuntimeError", "Timed out initializing process group in store based barrier", "collective-timeout",
     "torch-rendezvous-timeout"},
    // a checkpoint
    {"FileNotFoundError", "[Errno 2] No such file or directory: '/out/checkpoint-60/trainer_state.json'",
     "checkpoint-incomplete", "ckpt-file-missing"},
    {"FileNotFoundError", "[Errno 2] No such file or directory: 'ckpts/global_step_40/actor/model_0.pt'",
     "checkpoint-incomplete", "ckpt-file-missing"},
    {"FileNotFoundError", "[Errno 2] No such file or directory: '/out/checkpoint-60'", "config-error",
     "file-not-found"},
    {"FileNotFoundError", "[Errno 2] No such file or directory: '/data/step_by_step/train.json'", "config-error",
     "file-not-found"},
    // settings
    {"OSError", "Can't load tokenizer for 'x/y'", "config-error", "hf-invalid-model-identifier"},
    {"OSError", "x/y is not a local folder and is not a valid model identifier", "config-error", "hf-repo-not-found"},
    {"omegaconf.errors.ConfigKeyError", "Key 'x' is not in struct", "config-error", "hydra-config-key-error"},
    {"omegaconf.errors.ConfigAttributeError", "Missing key x", "config-error", "hydra-config-key-error"},
    {"hydra.errors.ConfigCompositionException", "Could not override", "config-error", "hydra-config-key-error"},
    {"omegaconf.errors.MissingMandatoryValue", "Missing mandatory value: model.path", "config-error",
     "mandatory-setting-missing"},
    {"pydantic_core._pydantic_core.ValidationError", "1 validation error for Config", "config-error",
     "pydantic-config-validation"},
    {"pydantic_core._pydantic_core.ValidationError", "2 validation errors for GradeAnswer", "crash", "value-error"},
    {"argparse.ArgumentError", "argument --lr: conflicting option string", "config-error", "argparse-unrecognized"},
    {"FileNotFoundError", "[Errno 2] No such file or directory: 'x'", "config-error", "file-not-found"},
    {"NotADirectoryError", "[Errno 20] Not a directory: 'x'", "config-error", "file-not-found"},
    {"huggingface_hub.errors.HFValidationError", "Repo id must be in the form", "config-error",
     "hf-invalid-model-identifier"},
    {"yaml.YAMLError", "mapping values are not allowed here", "config-error", "config-file-syntax"},
    {"omegaconf.errors.InterpolationKeyError", "Interpolation key 'x' not found", "config-error",
     "hydra-config-key-error"},
    {"omegaconf.errors.UnsupportedValueType", "Value 'x' is not a supported primitive type", "config-error",
     "hydra-config-key-error"},
    {"omegaconf.errors.InterpolationResolutionError", "recursive", "config-error", "hydra-config-key-error"},
    {"AssertionError", "train_batch_size must be divisible by 8", "config-error", "batch-size-not-divisible"},
    {"AssertionError", "reward_fn must be set", "config-error", "assertion-error"},
    {"AssertionError", "model.path must be specified", "config-error", "assertion-error"},
    {"AssertionError", "zero_stage == 3 is needed", "config-error", "assertion-error"},
    {"KeyError", "'unknown config name'", "config-error", "key-error"},
    {"ValueError", "max_model_len (32768) is greater than the derived max_model_len", "config-error", "value-error"},
    {"ValueError", "--sync is not compatible with --colocate", "config-error", "value-error"},
    {"ValueError", "You cannot train a model that was loaded in 8-bit or 4-bit precision", "config-error",
     "quantized-model-on-another-device"},
    {"ValueError", "Attempting to unscale FP16 gradients.", "config-error", "fp16-gradients-unscaled"},
    {"ValueError", "The model did not return a loss from the inputs", "config-error", "value-error"},
    {"ValueError", "Target modules {'q'} not found in the base model", "config-error", "adapter-target-modules"},
    {"ValueError", "Please give `target_modules` in the LoRA settings", "config-error", "adapter-target-modules"},
    {"ValueError", "unknown url type: 'localhost:8000'", "config-error", "value-error"},
    {"ValueError", "Please specify a backend", "config-error", "value-error"},
    {"ValueError", "`model` must be specified", "config-error", "value-error"},
    {"ValueError", "`pad_token` must be set", "config-error", "pad-token-missing"},
    {"ValueError", "loss_type must be one of ['grpo', 'bnpo']", "config-error", "value-error"},
    {"ValueError", "dtype should be one of float16, bfloat16", "config-error", "value-error"},
    {"ValueError", "num_generations must be greater than 1", "config-error", "value-error"},
    {"ValueError", "lr must be positive", "config-error", "value-error"},
    {"ValueError", "clip must be less than 1", "config-error", "value-error"},
    {"ValueError", "batch must be a multiple of num_generations", "config-error", "value-error"},
    {"ValueError", "Bfloat16 is not supported on this GPU", "config-error", "value-error"},
    {"ValueError", "Unsupported scheduler 'x'", "config-error", "value-error"},
    {"ValueError", "batch of 10 is not divisible by 4", "config-error", "batch-size-not-divisible"},
    {"NotImplementedError", "LoRA with DPO is not supported", "config-error", "not-implemented-error"},
    // data
    {"ValueError", "Column 'prompt' not in the dataset", "data-error", "dataset-column-missing"},
    {"ValueError", "expected sequence of length 4 at dim 1 (got 3)", "data-error", "rows-differ-in-length"},
    {"ValueError", "Unable to create tensor, you should probably activate truncation", "data-error",
     "rows-differ-in-length"},
    {"RuntimeError", "stack expects each tensor to be equal size", "data-error", "rows-differ-in-length"},
    {"pyarrow.lib.ArrowNotImplementedError", "Unsupported cast", "data-error", "dataset-corrupt-arrow"},
    {"datasets.table.CastError", "Couldn't cast", "data-error", "dataset-rows-differ-in-type"},
    {"pyarrow.lib.ArrowInvalid", "JSON parse error: Column(/a) changed from number to string in row 3", "data-error",
     "dataset-rows-differ-in-type"},
    {"datasets.exceptions.DatasetGenerationError", "An error occurred while generating the dataset", "data-error",
     "dataset-corrupt-arrow"},
    {"datasets.exceptions.DataFilesNotFoundError", "No (supported) data files found", "data-error",
     "dataset-not-found"},
    {"datasets.data_files.EmptyDatasetError", "The directory doesn't contain any data files", "data-error",
     "dataset-not-found"},
    {"jinja2.exceptions.UndefinedError", "'tools' is undefined", "data-error", "chat-template-error"},
    {"datasets.exceptions.DatasetNotFoundError", "Dataset 'x' doesn't exist", "data-error", "dataset-not-found"},
    {"jinja2.exceptions.TemplateError", "Conversation roles must alternate", "data-error", "chat-template-missing"},
    {"json.decoder.JSONDecodeError", "Expecting value: line 1 column 1 (char 0)", "data-error", "dataset-bad-row-json"},
    {"UnicodeDecodeError", "'utf-8' codec can't decode byte 0xff", "data-error", "unicode-decode-error"},
    {"UnicodeEncodeError", "'utf-8' codec can't encode characters: surrogates not allowed", "data-error",
     "unicode-decode-error"},
    {"pyarrow.lib.ArrowInvalid", "Not an Arrow file", "data-error", "dataset-corrupt-arrow"},
    // numbers
    {"FloatingPointError", "Minimum loss scale reached", "non-finite", "nan-loss"},
    {"RuntimeError", "Function 'MulBackward0' returned nan values in its 0th output.", "non-finite", "nan-loss"},
    // programs
    {"TypeError", "Object of type Tensor is not JSON serializable", "code-error", "results-not-json-serializable"},
    {"TypeError", "__init__() got an unexpected keyword argument 'x'", "code-error", "python-api-drift-typeerror"},
    {"TypeError", "f() missing 1 required positional argument: 'x'", "code-error", "python-api-drift-typeerror"},
    {"TypeError", "f() takes 2 positional arguments but 3 were given", "code-error", "python-api-drift-typeerror"},
    {"TypeError", "'NoneType' object is not iterable", "code-error", "type-error"},
    {"AttributeError", "'_OpNamespace' '_C' object has no attribute 'f'", "dependency-broken", "abi-undefined-symbol"},
    {"LookupError", "Resource punkt not found.", "config-error", "file-not-found"},
    {"ConnectionError", "Could not find any running Ray instance.", "worker-lost", "ray-gcs-unreachable"},
    {"AttributeError", "'PPOTrainer' object has no attribute 'x'", "code-error", "python-api-drift-typeerror"},
    {"AttributeError", "'list' object has no attribute 'get'", "code-error", "attribute-error"},
    {"AttributeError", "'AcmeForCausalLM' object has no attribute 'q'", "code-error", "python-api-drift-typeerror"},
    {"AttributeError", "'AcmeWithValueHead' object has no attribute 'q'", "code-error", "python-api-drift-typeerror"},
    {"AttributeError", "AcmeTokenizer has no attribute q", "code-error", "python-api-drift-typeerror"},
    {"AttributeError", "AcmeTokenizerFast has no attribute q", "code-error", "python-api-drift-typeerror"},
    {"AssertionError", "assert \"factor\" in rope_scaling", "dependency-broken", "rope-scaling-unknown"},
    {"AssertionError", "assert self.lr_decay_steps > 0", "config-error", "no-training-steps"},
    {"KeyError", "'rope_type'", "dependency-broken", "rope-scaling-unknown"},
    {"KeyError", "'answer'", "code-error", "key-error"},
    {"IndexError", "list index out of range", "code-error", "index-error"},
    {"tenacity.RetryError", "RetryError[<Future at 0x7f state=finished raised APITimeoutError>]", "network",
     "remote-read-timeout"},
    {"IndexError", "index out of range in self", "code-error", "embedding-index-out-of-range"},
    {"NameError", "name 'x' is not defined", "code-error", "name-error"},
    {"UnboundLocalError", "cannot access local variable 'x'", "code-error", "name-error"},
    {"AssertionError", "", "code-error", "assertion-error"},
    {"NotImplementedError", "", "code-error", "not-implemented-error"},
    {"ZeroDivisionError", "division by zero", "code-error", "zero-division-error"},
    {"RecursionError", "maximum recursion depth exceeded", "code-error", "recursion-error"},
    {"SyntaxError", "invalid syntax", "code-error", "python-syntax-error"},
    {"IndentationError", "unexpected indent", "code-error", "python-syntax-error"},
    {"StopIteration", "", "code-error", "stop-iteration"},
    {"ValueError", "You cannot perform fine-tuning on purely quantized models.", "config-error",
     "quantized-without-adapter"},
    {"TypeError", "f() missing 2 required keyword-only arguments: 'a' and 'b'", "code-error",
     "python-api-drift-typeerror"},
    {"RuntimeError", "The size of tensor a (4) must match the size of tensor b (8)", "code-error",
     "tensor-shape-mismatch"},
    {"RuntimeError", "Error(s) in loading state_dict: size mismatch for lm_head", "checkpoint-failed",
     "state-dict-load-error"},
    {"RuntimeError", "size mismatch, m1: [2 x 3], m2: [4 x 5]", "code-error", "tensor-shape-mismatch"},
    {"RuntimeError", "shape mismatch: value tensor of shape [2]", "code-error", "tensor-shape-mismatch"},
    {"RuntimeError", "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "code-error", "tensor-shape-mismatch"},
    {"RuntimeError", "shape '[2, 3]' is invalid for input of size 5", "code-error", "tensor-shape-mismatch"},
    {"RuntimeError", "expected scalar type BFloat16 but found Float", "code-error", "dtype-mismatch"},
    // what says no more than its type
    {"ValueError", "not enough values to unpack", "crash", "value-error"},
    {"TimeoutError", "", "crash", "timeout-error"},
    {"RuntimeError", "generator raised", "crash", "runtime-error"},
};

/// Echoes of a failure elsewhere.
constexpr Example kEchoes[] = {
    {"SystemExit", "1", "crash", "exit-status"},
    {"openai.InternalServerError", "Error code: 500 - EngineCore encountered an issue", "engine-dead",
     "vllm-engine-dead"},
    {"openai.InternalServerError", "Error code: 500", "engine-dead", "vllm-http-500-burst"},
    {"httpx.RemoteProtocolError", "Server disconnected", "network", "connection-reset-by-peer"},
    {"zmq.error.ContextTerminated", "Context was terminated", "engine-dead", "vllm-engine-dead"},
    {"vllm.v1.engine.exceptions.EngineDeadError", "EngineCore encountered an issue", "engine-dead", "vllm-engine-dead"},
    {"RuntimeError", "NCCL communicator was aborted on rank 3", "collective-timeout", "nccl-watchdog-timeout"},
    {"torch.distributed.DistBackendError", "NCCL error", "collective-timeout", "nccl-unhandled-cuda-error"},
    {"RuntimeError", "Worker 2 exited with code -9", "worker-lost", "worker-exited"},
    {"ConnectionRefusedError", "[Errno 111] Connection refused", "network", "connection-refused"},
    {"ConnectionResetError", "[Errno 104] Connection reset by peer", "network", "connection-reset-by-peer"},
    {"httpx.ConnectError", "All connection attempts failed", "network", "connection-refused"},
    {"requests.exceptions.ConnectionError", "Max retries exceeded", "network", "connection-refused"},
    {"aiohttp.client_exceptions.ClientConnectorError", "Cannot connect to host", "network", "connection-refused"},
    {"aiohttp.client_exceptions.ServerDisconnectedError", "Server disconnected", "network", "connection-reset-by-peer"},
    {"openai.APIConnectionError", "Connection error.", "network", "api-connection-error-all-rollouts"},
    {"http.client.RemoteDisconnected", "Remote end closed connection", "network", "connection-reset-by-peer"},
    {"BrokenPipeError", "[Errno 32] Broken pipe", "worker-lost", "pipe-reader-gone"},
    {"EOFError", "", "worker-lost", "connection-reset-by-peer"},
    {"asyncio.exceptions.CancelledError", "", "crash", "task-cancelled"},
    {"ray.exceptions.RayActorError", "The actor died unexpectedly", "worker-lost", "ray-actor-died"},
    {"ray.exceptions.ActorDiedError", "The actor died", "worker-lost", "ray-actor-died"},
    {"ray.exceptions.ActorUnavailableError", "The actor is temporarily unavailable", "worker-lost",
     "ray-actor-unavailable"},
    {"ray.exceptions.WorkerCrashedError", "The worker died unexpectedly", "worker-lost",
     "ray-worker-died-unexpectedly"},
    {"ray.exceptions.NodeDiedError", "Task failed due to the node dying.", "worker-lost", "ray-node-dead-heartbeat"},
    {"ray.exceptions.ObjectLostError", "Failed to retrieve object", "worker-lost", "ray-object-lost"},
    {"torch.distributed.elastic.multiprocessing.errors.ChildFailedError", "train.py FAILED", "crash",
     "torchelastic-child-failed"},
    {"torch.multiprocessing.spawn.ProcessExitedException", "process 1 terminated with signal SIGKILL", "worker-lost",
     "worker-exited"},
    {"torch.multiprocessing.spawn.ProcessRaisedException", "-- Process 0 terminated", "crash", "worker-exited"},
    {"subprocess.CalledProcessError", "returned non-zero exit status 1.", "crash", "subprocess-failed"},
    {"torch.distributed.elastic.multiprocessing.api.SignalException", "got signal: 15", "interrupted",
     "torchelastic-sigterm"},
    {"areal.scheduler.JobException", "job failed", "crash", "launcher-job-failed"},
};

void check(const Example& example, bool echo) {
  const std::string name = cat(example.exception, ": ", example.message);
  CAPTURE(name);
  const ExceptionClass is = classify_exception(example.exception, example.message, "train.py:10 in main");
  CHECK(is.kind == example.kind);
  CHECK(is.cause == example.cause);
  CHECK(is.consequence == echo);
}

}  // namespace

TEST_CASE("an exception is known by its type and its words") {
  for (const Example& example : kRoots) check(example, false);
  for (const Example& example : kEchoes) check(example, true);
}

TEST_CASE("an iterator that ends where data is read says that the data ran out") {
  const std::string frame = "/x/rerun.py:3 in __next__, raised in /v/torch/utils/data/dataloader.py:1 in _next_data";
  CHECK(classify_exception("StopIteration", "", frame).kind == "data-error");
  CHECK(classify_exception("StopIteration", "", frame).cause == "dataset-exhausted");
  CHECK(classify_exception("StopIteration", "", "/x/agent.py:3 in act").cause == "stop-iteration");
}

TEST_CASE("a missing key in a frame that reads data is one of the data, and a refusal by a reward function its own") {
  for (const char* frame : {"/x/rl_dataset.py:3 in __getitem__", "/x/data.py:9 in collate_fn", "dataloader.py:1 in f"})
    CHECK(classify_exception("KeyError", "'prompt'", frame).kind == "data-error");
  CHECK(classify_exception("FileNotFoundError", "'/out/step30'",
                           "/x/a.py:3 in save_ckpt, raised in /lib/shutil.py:7 in rmtree")
            .cause == "checkpoint-save-failed");
  CHECK(classify_exception("FileNotFoundError", "'/in'", "/x/a.py:3 in load_checkpoint").cause == "file-not-found");
  CHECK(classify_exception("KeyError", "'prompt'", "/dataset/train.py:3 in step").kind == "code-error");
  CHECK(classify_exception("ValueError", "x is not supported", "/x/reward.py:3 in score").cause ==
        "reward-function-exception");
  CHECK(classify_exception("RuntimeError", "Request failed: 404", "/x/reward.py:3 in score").cause == "http-not-found");
  CHECK(classify_exception("AttributeError", "no x", "/my-reward-run/verl/utils/io.py:3 in load").cause ==
        "attribute-error");  // only the project is named so
  // a name that a library's own code lacks is one of another version; one of the program's is the program's
  CHECK(classify_exception("NameError", "x", "/v/site-packages/a/b.py:3 in f").cause == "import-error-version");
}

TEST_CASE("a pipe that broke is that of whom the frames name, else of some process") {
  const auto cause = [](std::string_view frame) {
    return std::string(classify_exception("BrokenPipeError", "[Errno 32] Broken pipe", frame).cause);
  };
  CHECK(cause("/usr/lib/python3/site-packages/wandb/sdk/lib/sock_client.py:168 in send") == "wandb-service-dead");
  CHECK(cause("/usr/lib/python3/site-packages/torch/distributed/rendezvous.py:9 in f") == "tcpstore-broken-pipe");
  CHECK(cause("/workspace/env/bash_tool.py:88 in run") == "pipe-reader-gone");
  CHECK(cause("") == "pipe-reader-gone");
}

TEST_CASE("a number that is a text, a breakpoint, a question at a terminal") {
  CHECK(classify_exception("TypeError", "'<=' not supported between instances of 'float' and 'str'", "/x/a.py:3 in f")
            .cause == "setting-is-text");
  CHECK(classify_exception("bdb.BdbQuit", "", "/x/a.py:3 in f").cause == "breakpoint-left-in-code");
  CHECK(classify_exception("OSError", "[Errno 9] Bad file descriptor", "/x/termui.py:233 in confirm").cause ==
        "waits-for-input");
}

TEST_CASE("what says nothing of itself is of the checkpoint that was being saved or loaded") {
  const auto is = [](std::string_view frame) { return classify_exception("RuntimeError", "unexpected", frame); };
  for (const char* frame : {"/w/checkpoint.py:3 in save_all", "/w/trainer.py:9 in save_checkpoint",
                            "/v/torch/distributed/checkpoint/planner.py:3 in save"}) {
    CAPTURE(std::string(frame));
    CHECK(is(frame).cause == "checkpoint-save-failed");
  }
  for (const char* frame :
       {"/w/trainer.py:9 in load_ckpt", "/w/sampler.py:9 in load_state_dict",
        "/v/torch/distributed/checkpoint/x.py:3 in load", "/v/mcore/training/checkpointing.py:3 in _compare",
        "/v/mcore/dist_checkpointing/serialization.py:3 in load_common"}) {
    CAPTURE(std::string(frame));
    CHECK(is(frame).cause == "state-dict-load-error");
  }
  for (const char* frame : {"/v/torch/utils/checkpoint.py:3 in check", "/home/u/checkpoints/run/train.py:3 in step",
                            "/v/deepspeed/activation_checkpointing/checkpointing.py:3 in forward",
                            "/w/x.py:1 in checkpoint", "/w/state_dict_adapter.py:3 in split"}) {
    CAPTURE(std::string(frame));
    CHECK(is(frame).kind == "crash");
  }
  CHECK(classify_exception("OSError", "[Errno 28] No space left", "/w/checkpoint.py:3 in save").kind == "disk-full");
  CHECK(classify_exception("TypeError", "bad", "/w/checkpoint.py:3 in save").kind == "code-error");
}

TEST_CASE("a missing key in what a service answered is the answer's") {
  CHECK(classify_exception("KeyError", "'result'", "/w/gen.py:3 in batch_search").cause == "retriever-error-response");
  CHECK(classify_exception("KeyError", "'result'", "/w/gen.py:3 in _retrieve").cause == "retriever-error-response");
  CHECK(classify_exception("KeyError", "'result'", "/w/fetch/gen.py:3 in step").cause == "key-error");
}

TEST_CASE("a program's error in a frame that checks settings is one of the settings") {
  for (const char* frame : {"/x/trainer_config.py:3 in check", "/x/arguments.py:9 in parse", "train.py:1 in parse_args",
                            "/x/train_args.py:3 in f", "/x/setup.py:3 in check_cfg", "/x/settings.py:3 in f",
                            "/x/trainer.py:3 in validate_batch", "/x/opts.py:3 in __post_init__"}) {
    CAPTURE(std::string(frame));
    CHECK(classify_exception("ValueError", "no", frame).kind == "config-error");
    CHECK(classify_exception("AssertionError", "no", frame).kind == "config-error");
    CHECK(classify_exception("IndexError", "no", frame).kind == "code-error");
  }
  CHECK(classify_exception("ValueError", "no", "/config/train.py:3 in step").kind == "crash");
}

TEST_CASE("an exception is a reward function's by its own frame or the one that raised") {
  const auto cause = [](std::string_view frame) {
    return std::string(classify_exception("ValueError", "Expecting value", frame).cause);
  };
  CHECK(cause("/w/my_reward.py:3 in score, raised in /usr/lib/python3.12/json/decoder.py:9 in decode") ==
        "reward-function-exception");
  CHECK(cause("/v/site-packages/trl/reward_trainer.py:3 in step") == "value-error");
  CHECK(cause("/w/rewards/dapo.py:3 in __init__") == "value-error");
  CHECK(cause("/w/reward-study/train.py:3 in main, raised in /v/site-packages/x/engine.py:9 in step") !=
        "reward-function-exception");
  CHECK(cause("/w/train.py:3 in main, raised in /v/site-packages/x/rewards/math.py:9 in grade") ==
        "reward-function-exception");
}

}  // namespace mw::detect
