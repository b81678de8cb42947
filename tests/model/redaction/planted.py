"""Texts with secrets in them, made from a seed: tokens, keys and passwords, each in many framings.

The tokens are written here from what the services document, not from the rules, and some are of services that no rule
knows: those are secrets only because of their names. No token is in this file; each is made when it is asked for.
"""

import base64
import html
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

HEX = "0123456789abcdef"
ALNUM = string.ascii_letters + string.digits
URL = ALNUM + "-_"
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits


class Planted(NamedTuple):
    """A text, and what of it must not be found any more when it is redacted."""

    group: str
    """vendor, key, keyword or entropy."""
    source: str
    """What it is a token of, and how it is framed."""
    text: str
    marks: tuple[str, ...]
    """None of these may be left, in whichever framing."""


_COLOUR = re.compile(r"(?:\x1b|\\+u001b)\[[0-9;]*[A-Za-z]")


def is_left(planted: Planted, redacted: str) -> bool:
    """Whether a reader still finds the secret."""
    seen = html.unescape(unquote(_COLOUR.sub("", redacted).replace("\u200b", "")))
    return any(mark in text for mark in planted.marks for text in (redacted, seen))


class Maker:
    """Draws from one seeded source."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        """As many characters of an alphabet."""
        return "".join(self.random.choices(alphabet, k=length))

    def uuid(self) -> str:
        return "-".join(self.of(HEX, length) for length in (8, 4, 4, 4, 12))

    def base64(self, size: int) -> str:
        return base64.b64encode(self.random.randbytes(size)).decode()

    def expand(self, template: str) -> str:
        """A template: `{x24}` are 24 digits in base 16, `a` letters and digits, `b` those and -_, `l` those in lower
        case, `u` in upper case, `d` only digits, and `{uuid}` an id.
        """
        alphabets = {"x": HEX, "a": ALNUM, "b": URL, "l": LOWER, "u": UPPER, "d": string.digits}
        first, *rest = template.split("{")
        made = [first]
        for part in rest:
            field, _, after = part.partition("}")
            made += [self.uuid() if field == "uuid" else self.of(alphabets[field[0]], int(field[1:])), after]
        return "".join(made)


TOKENS = {
    "Anthropic": "sk-ant-api03-{b93}AA",
    "Anthropic admin": "sk-ant-admin01-{b93}AA",
    "OpenAI": "sk-{a20}T3BlbkFJ{a20}",
    "OpenAI project": "sk-proj-{b74}T3BlbkFJ{b74}",
    "OpenAI service": "sk-svcacct-{b60}T3BlbkFJ{b60}",
    "OpenRouter": "sk-or-v1-{x64}",
    "DeepSeek": "sk-{x32}",
    "ElevenLabs": "sk_{x48}",
    "xAI": "xai-{a80}",
    "Groq": "gsk_{a52}",
    "Perplexity": "pplx-{a48}",
    "Replicate": "r8_{a37}",
    "Hugging Face": "hf_{a34}",
    "NVIDIA": "nvapi-{b64}",
    "Cerebras": "csk-{l48}",
    "LangSmith": "lsv2_pt_{x32}_{x10}",
    "Pinecone": "pcsk_{a5}_{a63}",
    "Tavily": "tvly-dev-{a32}",
    "Firecrawl": "fc-{x32}",
    "GitHub personal": "ghp_{a36}",
    "GitHub OAuth": "gho_{a36}",
    "GitHub app": "ghu_{a36}",
    "GitHub server": "ghs_{a36}",
    "GitHub refresh": "ghr_{a76}",
    "GitHub fine-grained": "github_pat_{a22}_{a59}",
    "GitLab": "glpat-{b20}",
    "GitLab routable": "glpat-{b27}.{l9}",
    "GitLab runner": "glrt-{b20}",
    "GitLab deploy": "gldt-{b20}",
    "GitLab trigger": "glptt-{x40}",
    "Bitbucket": "ATBB{a32}",
    "Atlassian": "ATATT3xFfGF0{b170}={x8}",
    "npm": "npm_{a36}",
    "PyPI": "pypi-AgEIcHlwaS5vcmc{b100}",
    "RubyGems": "rubygems_{x48}",
    "crates.io": "cio{a32}",
    "NuGet": "oy2{l43}",
    "Docker Hub": "dckr_pat_{b27}",
    "Docker organisation": "dckr_oat_{b32}",
    "Docker Swarm": "SWMTKN-1-{l50}-{l25}",
    "Postman": "PMAK-{x24}-{x34}",
    "Sentry": "sntrys_eyJ{a100}_{a43}",
    "Sentry user": "sntryu_{x64}",
    "SonarQube": "squ_{x40}",
    "CircleCI": "CCIPAT_{a22}_{x40}",
    "Buildkite": "bkua_{x40}",
    "JFrog": "AKCp{a69}",
    "AWS": "AKIA{u16}",
    "AWS session": "ASIA{u16}",
    "Google": "AIza{b35}",
    "Google OAuth": "ya29.a0{b120}",
    "Google client": "GOCSPX-{b28}",
    "Google refresh": "1//0g{b60}",
    "Azure": "{a3}8Q~{b34}",
    "Alibaba": "LTAI5t{a18}",
    "DigitalOcean": "dop_v1_{x64}",
    "Cloudflare": "v1.0-{x24}-{x146}",
    "Fly": "fm2_{a120}",
    "Heroku": "HRKU-{uuid}",
    "Netlify": "nfp_{a36}",
    "Supabase": "sbp_{x40}",
    "PlanetScale": "pscale_tkn_{b43}",
    "Databricks": "dapi{x32}",
    "OpenShift": "sha256~{b43}",
    "Vault": "hvs.{b90}",
    "Terraform": "{a14}.atlasv1.{b67}",
    "Doppler": "dp.pt.{a43}",
    "Pulumi": "pul-{x40}",
    "1Password": "ops_eyJ{a250}",
    "age": "AGE-SECRET-KEY-1{u58}",
    "Tailscale": "tskey-auth-{a12}-{a32}",
    "Dynatrace": "dt0c01.{u24}.{u64}",
    "New Relic": "NRAK-{u27}",
    "Grafana": "glsa_{a32}_{x8}",
    "Grafana Cloud": "glc_{a120}",
    "LaunchDarkly": "sdk-{uuid}",
    "Slack bot": "xoxb-{d12}-{d13}-{a24}",
    "Slack user": "xoxp-{d12}-{d12}-{d13}-{x32}",
    "Slack app": "xapp-1-A{u10}-{d13}-{x64}",
    "Slack webhook": "https://hooks.slack.com/services/T{u10}/B{u10}/{a24}",
    "Discord": "M{a23}.{b6}.{b38}",
    "Discord webhook": "https://discord.com/api/webhooks/{d18}/{b68}",
    "Telegram": "{d10}:AA{b33}",
    "Twilio": "SK{x32}",
    "SendGrid": "SG.{b22}.{b43}",
    "Mailgun": "key-{x32}",
    "Mailchimp": "{x32}-us14",
    "Brevo": "xkeysib-{x64}-{a16}",
    "Resend": "re_{a8}_{a24}",
    "Stripe": "sk_live_{a24}",
    "Stripe long": "sk_live_{a99}",
    "Stripe restricted": "rk_live_{a24}",
    "Stripe webhook": "whsec_{a32}",
    "Square": "sq0atp-{b22}",
    "Shopify": "shpat_{x32}",
    "Braintree": "access_token$production${l16}${x32}",
    "Plaid": "access-production-{uuid}",
    "Shippo": "shippo_live_{x40}",
    "Notion": "ntn_{a46}",
    "Linear": "lin_api_{a40}",
    "Figma": "figd_{b40}",
    "Airtable": "pat{a14}.{x64}",
    "Asana": "1/{d16}:{x32}",
    "Typeform": "tfp_{b44}",
    "Contentful": "CFPAT-{b43}",
    "HubSpot": "pat-na1-{uuid}",
    "Facebook": "EAA{a180}",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJ{b60}.{b43}",
}
"""What services issue, as they document it."""

UNKNOWN = (
    "{a32}",
    "{b40}",
    "{x32}",
    "{x40}",
    "{x64}",
    "{uuid}",
    "{l24}",
    "acme-{a28}",
    "zrk1.{b22}.{b30}",
    "{u8}-{u8}-{u8}-{u8}",
    "mtk:{b44}",
)
"""Tokens of services that no rule knows: they are found by their names."""


def framings() -> dict[str, Callable[[str, Maker], str]]:
    """How a token is met in a text."""
    red, off = "\x1b[01;31m\x1b[K", "\x1b[m\x1b[K"
    return {
        "alone": lambda token, _: token,
        "in a line": lambda token, _: f"I used {token} for it.",
        "at a line start": lambda token, _: f"first\n{token}\nlast",
        "quoted": lambda token, _: f'deploy("{token}")',
        "in backticks": lambda token, _: f"Set it to `{token}`, then restart.",
        "in a tool call": lambda token, _: json.dumps({"command": f"cat > x <<EOF\n{token}\nEOF"}),
        "in JSON in JSON": lambda token, _: json.dumps({"log": json.dumps({"body": f"a\n{token}\tb"})}),
        "behind a tab": lambda token, _: f"12\t{token}",
        "behind a line number": lambda token, _: f"     1→# keys\n     2→{token}\n     3→",
        "in a diff": lambda token, _: f"@@ -1 +1 @@\n-old\n+{token}\n",
        "in colour": lambda token, _: f"{red}{token}{off} ok",
        "coloured in part": lambda token, _: f"{token[:3]}{red}{token[3:9]}{off}{token[9:]}",
        "coloured as text": lambda token, _: f"\\u001b[31m{token}\\u001b[0m",
        "in a query": lambda token, _: f"https://api.test/v1?x=1&v={quote(token, safe='')}&y=2",
        "percent-encoded": _percent,
        "behind a name": lambda token, _: f"GH_TOKEN_{token}",
        "with no width between": lambda token, _: f"{token[:6]}\u200b{token[6:]}",
        "in HTML": lambda token, _: f"<td title=&quot;{token}&quot;>&nbsp;</td>",
        "in a cell": lambda token, _: f"| deploy | {token} | yes |",
        "in a list": lambda token, _: f"[1, '{token}', None]",
        "behind an equals sign": lambda token, _: f"X={token}",
        "at the end": lambda token, _: f"ü → {token}",
    }


def _percent(token: str, maker: Maker) -> str:
    """Some of it, as careless encoders do, and its signs."""
    return "".join(f"%{ord(c):02X}" if not c.isalnum() or maker.random.random() < 0.1 else c for c in f"t={token}")


def plant_tokens(seed: int, each: int) -> Iterator[Planted]:
    """Every token in every framing, `each` times."""
    maker = Maker(seed)
    for name, template in TOKENS.items():
        for framing, frame in framings().items():
            for _ in range(each):
                token = maker.expand(template)
                yield Planted("vendor", f"{name}, {framing}", frame(token, maker), halves(token))


def halves(secret: str) -> tuple[str, str]:
    """Both halves of what is random in it: a rule that cuts a secret in two leaves one of them."""
    secret = secret[-48:]
    return secret[: len(secret) // 2], secret[len(secret) // 2 :]


# Private keys.


def _pem(maker: Maker, label: str, size: int, headers: str = "", width: int = 64) -> list[str]:
    data = maker.base64(size)
    lines = [data[at : at + width] for at in range(0, len(data), width)]
    return [f"-----BEGIN {label}-----", *(headers.split("\n") if headers else []), *lines, f"-----END {label}-----"]


def keys(maker: Maker) -> dict[str, list[str]]:
    """Private keys of each format, as lines."""
    encrypted = f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{maker.of(HEX, 32).upper()}\n"
    putty = [maker.base64(48) for _ in range(4)]
    return {
        "RSA": _pem(maker, "RSA PRIVATE KEY", 1190),
        "RSA 4096": _pem(maker, "RSA PRIVATE KEY", 2348),
        "PKCS 8": _pem(maker, "PRIVATE KEY", 1218),
        "EC": _pem(maker, "EC PRIVATE KEY", 118),
        "Ed25519": _pem(maker, "PRIVATE KEY", 48),
        "DSA": _pem(maker, "DSA PRIVATE KEY", 448),
        "OpenSSH": _pem(maker, "OPENSSH PRIVATE KEY", 399, width=70),
        "encrypted": _pem(maker, "RSA PRIVATE KEY", 1190, encrypted),
        "encrypted PKCS 8": _pem(maker, "ENCRYPTED PRIVATE KEY", 1300),
        "PGP": _pem(maker, "PGP PRIVATE KEY BLOCK", 900, "Version: GnuPG v2\nComment: made in a test\n"),
        "PuTTY": [
            "PuTTY-User-Key-File-3: ssh-ed25519",
            "Encryption: none",
            "Comment: someone@example.org",
            "Public-Lines: 2",
            *putty[:2],
            "Private-Lines: 2",
            *putty[2:],
            f"Private-MAC: {maker.of(HEX, 64)}",
        ],
        "SSH2": [
            "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
            'Comment: "a key"',
            *(maker.base64(51) for _ in range(5)),
            "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        ],
    }


def _numbered(lines: list[str]) -> str:
    return "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1))


KEY_FRAMINGS: dict[str, Callable[[list[str]], str]] = {
    "alone": "\n".join,
    "with Windows line ends": "\r\n".join,
    "indented": lambda lines: "key: |\n" + "\n".join(f"    {line}" for line in lines),
    "with Claude's line numbers": _numbered,
    "with tabbed line numbers": lambda lines: "\n".join(f"{n}\t{line}" for n, line in enumerate(lines, 118)),
    "with numbers and bars": lambda lines: "\n".join(f"{n:4} | {line}" for n, line in enumerate(lines, 1)),
    "found by grep": lambda lines: "\n".join(f"deploy/id_rsa:{n}:{line}" for n, line in enumerate(lines, 1)),
    "in a diff": lambda lines: "\n".join(f"+{line}" for line in lines),
    "quoted in mail": lambda lines: "\n".join(f"> {line}" for line in lines),
    "in JSON": lambda lines: json.dumps({"private_key": "\n".join(lines) + "\n", "x": 1}),
    "in JSON in JSON": lambda lines: json.dumps({"text": json.dumps({"k": "\n".join(lines)})}),
    "with line numbers in JSON": lambda lines: json.dumps(
        "\n".join(f"{n:6}→{line}" for n, line in enumerate(lines, 1))
    ),
    "in code": lambda lines: "key = (\n" + "\n".join(f'    "{line}\\n"' for line in lines) + "\n)",
    "joined in code": lambda lines: " +\n".join(f"  '{line}\\n'" for line in lines) + ";",
    "in one line": " ".join,
    "in .env": lambda lines: 'KEY="' + "\\n".join(lines) + '"',
    "without an end": lambda lines: "\n".join(lines[:-1]),
    "cut off": lambda lines: "\n".join(lines)[: len("\n".join(lines)) * 2 // 3],
    "in colour": lambda lines: "\n".join(f"\x1b[32m{line}\x1b[0m" for line in lines),
}


def plant_keys(seed: int, each: int) -> Iterator[Planted]:
    """Every kind of key in every framing."""
    maker = Maker(seed)
    for _ in range(each):
        for kind, lines in keys(maker).items():
            private = lines[7:-1] if kind == "PuTTY" else [line for line in lines[1:-1] if len(line) > 20]
            data = tuple(line for line in private if ": " not in line)
            for framing, frame in KEY_FRAMINGS.items():
                text = f"See:\n{frame(lines)}\nThat was it.\n"
                yield Planted("key", f"{kind}, {framing}", text, tuple(line[:24] for line in data if line[:24] in text))
