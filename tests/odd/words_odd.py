"""Healthy runs that say frightening things: errors that were retried, warnings, and samples full of other people's errors."""
import json
import re
import textwrap

import catalogue
from script import Script, for_frameworks

LINES = 8  # of the catalogue, in a run
TRACEBACK = '''Traceback (most recent call last):
  File "/workspace/solution.py", line 12, in <module>
    print(solve(int(input())))
  File "/workspace/solution.py", line 7, in solve
    return total / count
ZeroDivisionError: division by zero'''
TORCH = '''Traceback (most recent call last):
  File "train.py", line 88, in <module>
    loss.backward()
  File "/usr/lib/python3/dist-packages/torch/_tensor.py", line 581, in backward
    torch.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.2 GiB is free.'''
CUDA = ("RuntimeError: CUDA error: device-side assert triggered", "CUDA error: an illegal memory access was encountered",
        "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1691, unhandled cuda error",
        "NVRM: Xid (PCI:0000:17:00): 79, GPU has fallen off the bus.", "Segmentation fault (core dumped)")
QUESTIONS = ("why is my loss = nan after 200 steps?", "My training prints loss: nan and reward: 0.0, what is wrong?",
             "grad_norm is nan. reward is nan. Please fix my code.", "loss=nan grad_norm=inf kl=nan",
             "{'loss': nan, 'grad_norm': nan, 'reward': 0.0}", "step:7 - actor/grad_norm:nan - critic/score/mean:0.0")
ENGINES = ("SGLang server http://10.0.0.4:30000 exits, returncode=-9", "vllm.v1.engine.exceptions.EngineDeadError: "
           "EngineCore encountered an issue. See stack trace (above) for the root cause.",
           "ERROR 01-04 08:11:02 [core.py:398] EngineCore encountered a fatal error.",
           "Received sigquit from a child process. It usually means the child failed.",
           "openai.APIConnectionError: Connection error.", "Cannot connect to host 127.0.0.1:30000 ssl:default")


def sampled(rng, texts, how=lambda log, text: log.sample(text)):
    """A script with these texts, each printed as a sample before a step of its own."""
    script = Script(rng)
    for text in texts:
        at = script.middle(4, 3)
        script.before[at].append(lambda log, text=text: how(log, text))
    return script


def bare(log, text):
    log.put(text)


# --- errors that were dealt with

def retried_judge(rng, log):
    """A request to the judge failed once and was retried."""
    script = Script(rng)
    script.say_before(script.middle(), rng.choice((
        "judge request failed: openai.APIConnectionError: Connection error. Retrying in 0.8 s (attempt 1/5)",
        "openai.APIConnectionError: Connection error.", "Retrying request to /chat/completions in 0.47 seconds",
        "LLM judge: APIConnectionError('Connection error.'), will retry")), "WARNING")
    return script


def retried_engine(rng, log):
    """A request to an engine, or its health check, timed out once or twice and then went through."""
    script = Script(rng)
    at = script.middle()
    for attempt in range(1, rng.randint(2, 3)):
        script.say_before(at, rng.choice((
            f"HTTP request to 127.0.0.1:30417/generate failed with TimeoutError:  (attempt {attempt}/3)",
            f"health check of rollout server 3 timed out after 5 s, trying again ({attempt}/3)",
            f"request to 127.0.0.1:8000 failed: aiohttp.client_exceptions.ServerDisconnectedError, retry {attempt}/3")),
            "WARNING")
    return script


def retried_bursts(rng, log):
    """Bursts of 429 and 502 from the judge and the sandbox, all retried within a step."""
    script = Script(rng)
    for at in rng.sample(range(4, len(script) - 3), 4):
        for attempt in range(1, rng.randint(3, 12)):
            script.say_before(at, rng.choice((
                f"HTTP 502 Bad Gateway from http://judge:8000/v1/chat/completions, retrying (attempt {attempt}/20)",
                f"openai.RateLimitError: Error code: 429 - rate limit reached, retrying in {attempt} s",
                f"sandbox: HTTPStatusError: Server error '502 Bad Gateway' for url 'http://sandbox:8080/run' ({attempt}/20)",
                "httpx.ReadTimeout: timed out, retrying")), "WARNING")
    return script


def wandb_errors(rng, log):
    """W&B cannot be reached for a while; it keeps the figures and sends them later."""
    script = Script(rng)
    for at in (script.middle(4), script.middle(4)):
        for text in ("wandb: Network error (ConnectionError), entering retry loop.",
                     "wandb: ERROR Error while calling W&B API: context deadline exceeded (<Response [502]>)",
                     "wandb: WARNING A graphql request initiated by the public wandb API timed out (timeout=19 sec)."):
            script.before[at].append(lambda out, text=text: out.put(text))
    return script


def start_warnings(rng, log):
    """What NCCL, vLLM, Ray and torch warn of at each start."""
    script = Script(rng)
    said = ["[rank0]:[W{%m%d %H:%M:%S}.1 ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank 0] using GPU 0 to perform barrier as "
            "devices used by this process are currently unknown.",
            "NCCL WARN NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.",
            "WARNING {%m-%d %H:%M:%S} [interface.py:344] Using 'pin_memory=False' as WSL is detected. This may slow down the "
            "performance.", "WARNING {%m-%d %H:%M:%S} [config.py:487] Async output processing is not supported on this platform.",
            "(raylet) [{%Y-%m-%d %H:%M:%S}] file_system_monitor.cc:116: /tmp/ray is over 90% full, available space: 22 GB.",
            "Error in cpuinfo: prctl(PR_SVE_GET_VL) failed", "WARNING: Running pip as the 'root' user can result in broken "
            "permissions", "Flash Attention 2 only supports torch.float16 and torch.bfloat16 dtypes, but the current dype is "
            "torch.float32.", "FutureWarning: torch.cpu.amp.autocast(args...) is deprecated.",
            "[Gloo] Rank 0 is connected to 0 peer ranks. Expected number of connected peer ranks is : 0"]
    for text in rng.sample(said, rng.randint(4, len(said))):
        script.opening.append(lambda out, text=text: out.put(
            re.sub(r"\{(.*?)\}", lambda form: out.stamp(form.group(1)), text)))
    return script


def noise(rng, log):
    """Deprecation warnings and progress bars between all steps."""
    script = Script(rng)
    for at in range(len(script)):
        text = rng.choice((
            "/usr/lib/python3/site-packages/torch/utils/checkpoint.py:295: FutureWarning: `torch.cpu.amp.autocast` is deprecated.",
            "Token indices sequence length is longer than the specified maximum sequence length for this model (9812 > 8192).",
            "\rProcessed prompts:  41%|████      | 52/128 [00:08<00:11,  6.61it/s, est. speed input: 0.00 toks/s]",
            "Setting `pad_token_id` to `eos_token_id`:None for open-end generation.",
            "`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`."))
        script.before[at].append(lambda out, text=text: out.put(text))
    return script


def worker_restarts(rng, log):
    """A rollout worker dies; the framework says so, starts another and trains on."""
    script = Script(rng)
    at = script.middle()
    for text in ("Rollout worker 3 died (exit code 1), restarting it", "The node with node id 4f2a is being drained, moving 1 "
                 "actor", "Rollout worker 3 is back after 12.1 s, 8 of 8 workers are healthy"):
        script.say_before(at, text, "WARNING")
    return script


def sandbox_failures(rng, log):
    """The policy's programs fail in their sandbox, as wrong programs do: their errors are the answer, not the run's."""
    script = Script(rng)
    for at in rng.sample(range(3, len(script) - 2), 8):
        text = rng.choice(("sandbox: program exited with code 137 (memory limit)", "sandbox: TimeoutError after 10 s",
                           "sandbox: stderr: Segmentation fault (core dumped)", "sandbox: stderr: " + TRACEBACK,
                           "tool call failed: ConnectionError: [Errno 111] Connection refused"))
        script.before[at].append(lambda out, text=text: out.say(text.split("\n")[-1]))
    return script


# --- samples

def sampled_questions(rng, log):
    """People ask the policy why their loss is NaN."""
    return sampled(rng, rng.sample(QUESTIONS, 3))


def sampled_tracebacks(rng, log):
    """Tracebacks in the tasks and in the answers, as of a data set of bugs to fix."""
    return sampled(rng, [TRACEBACK, "The program fails:\n" + TORCH, f"```\n{TRACEBACK}\n```"])


def sampled_cuda(rng, log):
    """CUDA errors in the tasks."""
    return sampled(rng, [rng.choice(("My script says: ", "Explain this: ", "")) + text for text in rng.sample(CUDA, 3)])


def sampled_engines(rng, log):
    """What inference servers say when they die, in the tasks of an operations data set."""
    return sampled(rng, rng.sample(ENGINES, 3))


def printed_engines(rng, log):
    """The same, printed by a script between two steps, without any frame."""
    return sampled(rng, rng.sample(ENGINES, 2), lambda out, text: out.raw("prompt: " + text))


def catalogue_plain(rng, log):
    """Lines of the catalogue of failures between two steps, just so: a data set of logs, printed by print()."""
    return sampled(rng, catalogue.some(rng, LINES), bare if rng.random() < 0.5 else lambda out, text: out.raw(text))


def catalogue_indented(rng, log):
    """The same, indented below a heading."""
    def how(out, text):
        out.raw("Sample 0:\n" + textwrap.indent(text, "    "))
    return sampled(rng, catalogue.some(rng, LINES), how)


def catalogue_quoted(rng, log):
    """The same in quotes, as Python shows a string."""
    def how(out, text):
        out.raw(rng.choice(("completion: ", "'prompt': ", "Q: ")) + repr("Explain this line: " * (rng.random() < 0.5) + text))
    return sampled(rng, catalogue.some(rng, LINES), how)


def catalogue_blocks(rng, log):
    """The same in blocks of [prompt] and [response]."""
    def how(out, text):
        out.raw(f"[prompt] user\nWhat does this mean?\n{text}\nassistant\n[response] It says:\n{text}\n[ground_truth] 42\n"
                 "[score] 0.0")
    return sampled(rng, catalogue.some(rng, LINES), how)


def catalogue_tables(rng, log):
    """The same in the cells of a table, as rich draws it."""
    def how(out, text):
        cells = textwrap.wrap(text, 60) or [""]
        out.raw("\n".join(["┏━━━━━━━━━━┳" + "━" * 62 + "┳━━━━━━━━┓", "┃ Prompt   ┃ " + "Completion".ljust(60) + " ┃ Reward ┃",
                            *(f"│ {'Explain' if i == 0 else '':8s} │ {cell:60s} │ {'0.00' if i == 0 else '':6s} │"
                              for i, cell in enumerate(cells)), "└──────────┴" + "─" * 62 + "┴────────┘"]))
    return sampled(rng, catalogue.some(rng, LINES), how)


def catalogue_json(rng, log):
    """The same as strings of JSON: samples dumped by a script."""
    def how(out, text):
        out.raw(json.dumps({"prompt": "Explain: " + text, "completion": text, "score": 0.0}))
    return sampled(rng, catalogue.some(rng, LINES), how)


def catalogue_samples(rng, log):
    """The same as each framework prints its own samples."""
    return sampled(rng, catalogue.some(rng, LINES))


@for_frameworks("trl", "verl", "key-value", "openrlhf")
def numbered_list(rng, log):
    """An answer that lists errors, with numbers and bullets, over many lines."""
    text = "\n".join(f"{i + 1}. `{line}`" for i, line in enumerate(catalogue.some(rng, LINES)))
    return sampled(rng, ["The usual errors are:\n" + text])


FAMILIES = [retried_judge, retried_engine, retried_bursts, wandb_errors, start_warnings, noise, worker_restarts,
            sandbox_failures, sampled_questions, sampled_tracebacks, sampled_cuda, sampled_engines, printed_engines,
            catalogue_plain, catalogue_indented, catalogue_quoted, catalogue_blocks, catalogue_tables, catalogue_json,
            catalogue_samples, numbered_list]
