"""Made-up secrets of the forms that people have, in the contexts in which they come into logs. All are made from a seed when
the test runs: nothing here is, or was, anybody's, and no text of this file has the form of one."""
import base64
import json
import random
import string
import urllib.parse

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
MIXED = LOWER + UPPER + DIGITS


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def some(self, letters, count):
        """Of each class of letters that there is, at least one, as issuers' generators nearly always give."""
        while True:
            text = "".join(self.random.choice(letters) for _ in range(count))
            classes = [c for c in (LOWER, UPPER, DIGITS) if set(c) <= set(letters)]
            if count < 8 or all(set(text) & set(c) for c in classes):
                return text

    def mixed(self, count):
        return self.some(MIXED, count)

    def hex(self, count):
        return self.some("0123456789abcdef", count)

    def wide(self, count):
        return self.some(MIXED + "+/", count)

    def url(self, count):
        return self.some(MIXED + "-_", count)


def jwt(make):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    return part({"kid": make.mixed(9), "alg": "RS256"}) + "." + part({"sub": make.mixed(24)}) + "." + make.url(43)


# name of the kind -> (variable that holds it, how one is made)
KINDS = {
    "openai": ("OPENAI_API_KEY", lambda m: "s" + "k-" + m.mixed(48)),
    "openai-project": ("OPENAI_API_KEY", lambda m: "s" + "k-proj-" + m.url(60)),
    "anthropic": ("ANTHROPIC_API_KEY", lambda m: "s" + "k-ant-api03-" + m.url(80) + "AA"),
    "openrouter": ("OPENROUTER_API_KEY", lambda m: "s" + "k-or-v1-" + m.hex(64)),
    "huggingface": ("HF_TOKEN", lambda m: "h" + "f_" + m.some(LOWER + UPPER, 34)),
    "wandb": ("WANDB_API_KEY", lambda m: m.hex(40)),
    "github": ("GITHUB_TOKEN", lambda m: "gh" + "p_" + m.mixed(36)),
    "github-oauth": ("GH_TOKEN", lambda m: "gh" + "o_" + m.mixed(36)),
    "github-server": ("GITHUB_TOKEN", lambda m: "gh" + "s_" + m.mixed(36)),
    "github-fine": ("GITHUB_PAT", lambda m: "github" + "_pat_" + m.mixed(22) + "_" + m.mixed(59)),
    "gitlab": ("GITLAB_TOKEN", lambda m: "gl" + "pat-" + m.url(20)),
    "aws-id": ("AWS_ACCESS_KEY_ID", lambda m: "AK" + "IA" + m.some(UPPER + DIGITS, 16)),
    "aws-session-id": ("AWS_ACCESS_KEY_ID", lambda m: "AS" + "IA" + m.some(UPPER + DIGITS, 16)),
    "aws-secret": ("AWS_SECRET_ACCESS_KEY", lambda m: m.wide(40)),
    "aws-session": ("AWS_SESSION_TOKEN", lambda m: "IQoJ" + m.wide(312) + "=="),
    "google-api": ("GOOGLE_API_KEY", lambda m: "AI" + "za" + m.url(35)),
    "google-oauth": ("GOOGLE_OAUTH_TOKEN", lambda m: "ya" + "29." + m.url(80)),
    "azure-storage": ("AZURE_STORAGE_KEY", lambda m: m.wide(86) + "=="),
    "slack-bot": ("SLACK_BOT_TOKEN", lambda m: "xo" + "xb-" + m.some(DIGITS, 12) + "-" + m.some(DIGITS, 12) + "-" + m.mixed(24)),
    "slack-app": ("SLACK_APP_TOKEN", lambda m: "xa" + "pp-1-" + m.some(UPPER + DIGITS, 11) + "-" + m.hex(64)),
    "discord-bot": ("DISCORD_TOKEN", lambda m: "M" + m.mixed(25) + "." + m.mixed(6) + "." + m.url(38)),
    "telegram": ("TELEGRAM_BOT_TOKEN", lambda m: "7" + m.some(DIGITS, 9) + ":AA" + m.url(33)),
    "ntfy": ("NTFY_TOKEN", lambda m: "t" + "k_" + m.some(LOWER + DIGITS, 29)),
    "vast": ("VAST_API_KEY", lambda m: m.hex(64)),
    "runpod": ("RUNPOD_API_KEY", lambda m: "rp" + "a_" + m.some(UPPER + DIGITS, 40)),
    "lambda": ("LAMBDA_API_KEY", lambda m: "sec" + "ret_" + "train_" + m.hex(32) + "." + m.mixed(32)),
    "mlflow": ("MLFLOW_TRACKING_PASSWORD", lambda m: m.mixed(18)),
    "comet": ("COMET_API_KEY", lambda m: m.mixed(25)),
    "neptune": ("NEPTUNE_API_TOKEN", lambda m: base64.b64encode(json.dumps(
        {"api_address": "https://app.neptune.invalid", "api_key": m.hex(36)}).encode()).decode()),
    "jwt": ("ACCESS_TOKEN", jwt),
    "npm": ("NPM_TOKEN", lambda m: "np" + "m_" + m.mixed(36)),
    "pypi": ("PYPI_TOKEN", lambda m: "py" + "pi-AgEIcHlwaS5vcmc" + m.url(120)),
    "stripe": ("STRIPE_SECRET_KEY", lambda m: "s" + "k_live_" + m.mixed(24)),
    "twilio": ("TWILIO_API_KEY", lambda m: "S" + "K" + m.hex(32)),
    "twilio-auth": ("TWILIO_AUTH_TOKEN", lambda m: m.hex(32)),
    "sendgrid": ("SENDGRID_API_KEY", lambda m: "S" + "G." + m.url(22) + "." + m.url(43)),
    "docker": ("DOCKER_TOKEN", lambda m: "dckr" + "_pat_" + m.url(27)),
    "digitalocean": ("DO_TOKEN", lambda m: "do" + "p_v1_" + m.hex(64)),
    "nvidia": ("NVIDIA_API_KEY", lambda m: "nv" + "api-" + m.url(64)),
    "groq": ("GROQ_API_KEY", lambda m: "gs" + "k_" + m.mixed(52)),
    "replicate": ("REPLICATE_API_TOKEN", lambda m: "r" + "8_" + m.mixed(37)),
    "databricks": ("DATABRICKS_TOKEN", lambda m: "da" + "pi" + m.hex(32)),
    "vault": ("VAULT_TOKEN", lambda m: "hv" + "s." + m.url(90)),
    "password": ("DB_PASSWORD", lambda m: m.mixed(14) + "!"),
    "unknown-mixed": ("INTERNAL_SERVICE_SECRET", lambda m: m.mixed(40)),
    "unknown-url": ("JUDGE_KEY", lambda m: m.url(43)),
}
# Kinds whose form gives them away: they must not stay even where nothing names them. The others are hashes, or short.
NAMELESS = {kind for kind in KINDS if kind not in (
    "wandb", "vast", "twilio-auth", "mlflow", "comet", "password", "unknown-url")}

# A context is a function of variable and secret; it gives lines of text.
NAMED = {
    "assignment": lambda v, s: [f"{v}={s}"],
    "export": lambda v, s: [f"+ export {v}={s}"],
    "before-command": lambda v, s: [f"+ {v}={s} python train.py --lr 1e-6"],
    "argv-space": lambda v, s: [f"python train.py --{option(v)} {s} --lr 1e-6"],
    "argv-equals": lambda v, s: [f"python train.py --{option(v)}={s} --lr 1e-6"],
    "argv-list": lambda v, s: [f"subprocess ['python', 'train.py', '--{option(v)}', '{s}', '--lr', '1e-6'] failed"],
    "json": lambda v, s: [json.dumps({"model": "m", v: s, "lr": 1e-6})],
    "json-lower": lambda v, s: [json.dumps({"config": {v.lower(): s, "max_tokens": 512}})],
    "json-escaped": lambda v, s: ["body: " + json.dumps(json.dumps({v: s, "n": 1}))],
    "dict": lambda v, s: [f"environ({{'PATH': '/usr/bin', '{v}': '{s}', 'HOME': '/root'}})"],
    "tuple": lambda v, s: [f"[('PATH', '/usr/bin'), ('{v}', '{s}')]"],
    "bytes": lambda v, s: [f"{{b'{v}': b'{s}'}}"],
    "yaml": lambda v, s: [f"  {v.lower()}: {s}"],
    "yaml-quoted": lambda v, s: [f"  {v}: \"{s}\"  # mine"],
    "toml": lambda v, s: [f"{v.lower()} = \"{s}\""],
    "kwargs": lambda v, s: [f"client = Client(url='http://x', {v.lower()}='{s}', retries=3)"],
    "environ-item": lambda v, s: [f"os.environ[\"{v}\"] = \"{s}\""],
    "hydra": lambda v, s: [f"trainer.logger.{v.lower()}={s} trainer.total_epochs=15"],
    "dockerfile": lambda v, s: [f"ENV {v} {s}"],
    "xml": lambda v, s: [f"<{v.lower()}>{s}</{v.lower()}>"],
    "prefixed": lambda v, s: [f"(TaskRunner pid=4711, ip=10.0.0.1) {v}={s}"],
    "query": lambda v, s: [f"https://api.host.invalid/v1/x?page=2&{v.lower()}={quoted(s)}&n=1"],
}
BARE = {
    "header": lambda s: [f"Authorization: Bearer {s}"],
    "header-dict": lambda s: [f"{{'Authorization': 'Bearer {s}', 'Accept': '*/*'}}"],
    "header-bytes": lambda s: [f"(b'authorization', b'Bearer {s}')"],
    "api-header": lambda s: [f"X-Api-Key: {s}"],
    "basic": lambda s: ["Authorization: Basic " + base64.b64encode(("user:" + s).encode()).decode()],
    "basic-dict": lambda s: [f"headers={{'Authorization': 'Basic {base64.b64encode(('user:' + s).encode()).decode()}'}}"],
    "docker-auths": lambda s: [json.dumps({"auths": {"index.docker.invalid": {
        "auth": base64.b64encode(("user:" + s).encode()).decode()}}})],
    "curl-header": lambda s: [f"curl -H \"Authorization: Bearer {s}\" https://host.invalid/v1/models"],
    "curl-user": lambda s: [f"curl -u user:{s} https://host.invalid/v1/models"],
    "url-password": lambda s: [f"git clone https://user:{quoted(s)}@git.host.invalid/a/b.git"],
    "url-oauth": lambda s: [f"fatal: unable to access 'https://oauth2:{quoted(s)}@git.host.invalid/a/b.git/'"],
    "database": lambda s: [f"postgresql+psycopg2://trainer:{quoted(s)}@db.host.invalid:5432/runs"],
    "redis": lambda s: [f"redis://:{quoted(s)}@10.0.0.7:6379/0"],
    "query-token": lambda s: [f"GET https://api.host.invalid/v1/x?token={quoted(s)}&n=1 failed"],
    "query-relative": lambda s: [f"\"GET /v1/x?n=1&access_token={quoted(s)} HTTP/1.1\" 401"],
    "fragment": lambda s: [f"https://login.host.invalid/cb#access_token={quoted(s)}&type=bearer"],
    "option-token": lambda s: [f"midwatchling --token {s} --verbose"],
    "option-key": lambda s: [f"python judge.py --api-key {s}"],
    "netrc": lambda s: [f"machine api.wandb.invalid login user password {s}"],
    "cookie": lambda s: [f"Cookie: theme=dark; session={s}; csrf=1"],
    "message": lambda s: [f"Incorrect API key provided: {s}. You can find your API key at https://host.invalid"],
    "source-line": lambda s: [f"    client = Client(api_key=\"{s}\")"],
    "npmrc": lambda s: [f"//registry.npm.invalid/:_authToken={s}"],
    "connection": lambda s: [f"DefaultEndpointsProtocol=https;AccountName=runs;AccountKey={s};EndpointSuffix=x"],
    "password-yaml": lambda s: [f"password: {s}"],
}
NOWHERE = {  # nothing but the secret's own form
    "alone": lambda s: [f"cannot log in with {s}"],
    "quoted": lambda s: [f"KeyError: '{s}'"],
    "url-user": lambda s: [f"fatal: could not read from https://{quoted(s)}@github.invalid/a/b.git"],
    "path-in-url": lambda s: [f"POST https://api.host.invalid/v1/use/{quoted(s)}/x 500"],
}


def option(variable):
    return variable.lower().replace("_", "-")


def quoted(secret):
    return urllib.parse.quote(secret, safe="")


def webhook(make):
    return f"https://hooks.slack.com/services/T{make.some(UPPER + DIGITS, 8)}/B{make.some(UPPER + DIGITS, 10)}/{make.mixed(24)}"


def pem(make, kind):
    body = [make.wide(64) for _ in range(8)] + [make.wide(30) + "=="]
    return [f"-----BEGIN {kind}-----"[:50]] + body + [f"-----END {kind}-----"[:50]], body


def special(make):
    """(name, lines, secrets) of what is no variable's value."""
    hook, discord, mail = webhook(make), make.mixed(68), make.hex(32)
    yield "slack-webhook", [f"could not post to {hook}: 403"], [hook.rsplit("/", 1)[1], hook.split("/services/")[1]]
    yield "slack-webhook-env", [f"SLACK_WEBHOOK_URL={hook}"], [hook.rsplit("/", 1)[1]]
    yield "discord-webhook", [f"POST https://discord.com/api/webhooks/123456789012345678/{discord} 404"], [discord]
    bot = "7" + make.some(DIGITS, 9) + ":AA" + make.url(33)
    yield "telegram-url", [f"https://api.telegram.org/bot{bot}/sendMessage failed"], [bot, bot.split(":")[1]]
    topic = "runs-" + make.mixed(16)
    yield "ntfy-topic", [f"POST https://ntfy.sh/{topic} timed out"], [topic]
    sign, who = make.hex(64), "AK" + "IA" + make.some(UPPER + DIGITS, 16)
    yield "s3-presigned", [f"https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={who}%2F20260101%2Fus-east-1"
                           f"%2Fs3%2Faws4_request&X-Amz-Expires=3600&X-Amz-Signature={sign}"], [sign, who]
    sas = quoted(make.wide(43) + "=")
    yield "azure-sas", [f"https://runs.blob.core.windows.net/c/k?sv=2022-11-02&ss=b&srt=o&sp=r&se=2026-12-31&sig={sas}"], [sas]
    yield "sas-setting", [f"SharedAccessSignature=sv=2022-11-02&ss=b&sp=r&sig={sas}"], [sas]
    yield "sentry", [f"dsn https://{mail}@o1.ingest.sentry.io/42"], [mail]
    for kind in ("PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY"):
        lines, body = pem(make, kind)
        yield "pem " + kind, lines, body
        yield "pem prefixed " + kind, [f"(pid=9) {line}" for line in lines], body
    lines, body = pem(make, "PRIVATE KEY")
    account = {"type": "service_account", "project_id": "p", "private_key_id": make.hex(40), "private_key": "\n".join(lines) + "\n"}
    yield "gcp-account", [json.dumps(account)], body
    yield "gcp-account-dict", [str(account)], body
    kube = base64.b64encode(("-----BEGIN RSA PRIVATE KEY-----\n" + make.wide(200)).encode()).decode()
    yield "kube-key", [f"    client-key-data: {kube}"], [kube, kube[40:100]]
    yield from words(make)


def words(make):
    word = make.mixed(20)
    yield "kube-token", [f"    token: {word}"], [word]
    word = make.mixed(20)
    yield "password-words", ["password: correct " + word], [word]
    word = make.mixed(20)
    yield "env-dump", ["declare -x " + f"RUN_SIGNING_KEY=\"{word}\""], [word]
    word = make.mixed(20)
    yield "mysql", [f"mysql://root:{word}@10.0.0.3/db?charset=utf8"], [word]
    word = make.mixed(20)
    yield "smtp", [f"login failed for trainer@host.invalid, smtp_password='{word}'"], [word]
    word = make.mixed(20)
    yield "set-cookie", [f"Set-Cookie: sessionid={word}; Path=/; HttpOnly"], [word]
    word = make.mixed(20)
    yield "proxy", [f"ProxyError: http_proxy=http://me:{word}@proxy.host.invalid:3128"], [word]


def cases(seed=11):
    """(name, lines, secrets), each secret made for its case alone."""
    make = Maker(seed)
    for kind, (variable, one) in KINDS.items():
        for context, lines in NAMED.items():
            secret = one(make)
            yield f"{kind} in {context}", lines(variable, secret), forms(secret)
        for context, lines in BARE.items():
            secret = one(make)
            yield f"{kind} in {context}", lines(secret), forms(secret)
        for context, lines in NOWHERE.items():
            if kind not in NAMELESS or (kind.startswith("unknown") or kind in ("azure-storage", "aws-secret", "aws-session")) and context == "path-in-url":
                continue
            secret = one(make)
            yield f"{kind} in {context}", lines(secret), forms(secret)
    yield from special(make)


def forms(secret):
    """What must not be found: the secret, as written in an address, and in base64."""
    return list({secret, quoted(secret), base64.b64encode(("user:" + secret).encode()).decode()})


PART = 12  # bytes of a secret that are one


def parts(text):
    """All pieces of a text that long, to be asked for many secrets."""
    return {text[at:at + PART] for at in range(len(text) - PART + 1)}


def leaked(found, secrets):
    """Does one of the secrets stand in the text, whole or a piece of it? `found`: parts() of the text."""
    for secret in secrets:
        body = secret.split("://", 1)[-1]
        assert len(body) >= PART, "too short to be looked for"
        if any(body[at:at + PART] in found for at in range(len(body) - PART + 1)):
            return True
    return False
