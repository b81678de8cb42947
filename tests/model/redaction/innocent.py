"""Lines without secrets, made from a seed: what agents read and write all day, random and about secrets as it may be.

Code that handles passwords, lock files, hashes, ids, images, minified scripts, logs, diffs and documentation. Each
generator gives one line or a few; none was written from a rule.
"""

import base64
import json
import string
from collections.abc import Callable, Iterator

from tests.model.redaction.planted import ALNUM, HEX, URL, Maker


def _words(text: str) -> list[str]:
    return text.split()


_NOUNS = _words(
    "user session token password account order invoice request response header cookie cache buffer parser index "
    "worker queue branch commit message event schema column window cursor secret key auth client server handler"
)
_VERBS = _words("get set make load parse read write check build send fetch store verify reset refresh validate encode")
_PACKAGES = _words("left-pad requests serde tokio react lodash numpy click rich anyio attrs jsonschema webpack chalk")
_EXTENSIONS = _words("py ts go rs md json yaml css sql toml")


class Innocent(Maker):
    """Draws words, names and hashes."""

    def word(self) -> str:
        return self.random.choice(_NOUNS)

    def name(self) -> str:
        """As in Python: reset_token, user_cache_index."""
        return "_".join([self.random.choice(_VERBS), *self.random.sample(_NOUNS, self.random.randint(1, 2))])

    def camel(self) -> str:
        first, *rest = self.name().split("_")
        return first + "".join(part.title() for part in rest)

    def path(self) -> str:
        return f"src/{self.word()}/{self.name()}.{self.random.choice(_EXTENSIONS)}"

    def number(self, low: int = 0, high: int = 9999) -> int:
        return self.random.randint(low, high)

    def package(self) -> str:
        return self.random.choice(_PACKAGES)

    def version(self) -> str:
        return f"{self.number(0, 9)}.{self.number(0, 40)}.{self.number(0, 20)}"

    def sri(self) -> str:
        """A hash as package managers write it."""
        return f"sha512-{self.base64(64)}"

    def time(self) -> str:
        return (
            f"2026-{self.number(1, 12):02}-{self.number(1, 28):02}T{self.number(0, 23):02}:{self.number(0, 59):02}:00Z"
        )


def code() -> dict[str, Callable[[Innocent], str]]:
    """Code about secrets that has none."""
    return {
        "Python": lambda m: m.random.choice(
            [
                f"    {m.word()} = {m.name()}({m.word()}_{m.word()})",
                f"    def {m.name()}(self, password: str, token: str | None = None) -> {m.word().title()}:",
                f"    password = settings.{m.name()}.password",
                f'    token = os.environ["{m.name().upper()}"]',
                f"    self._api_key = api_key or {m.name()}()",
                f'    raise Invalid{m.word().title()}(f"{{{m.word()}}} has no password", key={m.word()}_key)',
                f"    assert response.headers['Authorization'] == {m.name()}(token)",
                f"    max_tokens = {m.number()}  # tokens per request",
                f"    for key, value in {m.word()}s.items():",
                f"    secret = getpass.getpass('{m.word().title()} password: ')",
                f"    {m.word()}_id = '{m.uuid()}'",
                f"    parser.add_argument('--{m.word()}-token', help='the token of the {m.word()}')",
            ]
        ),
        "TypeScript": lambda m: m.random.choice(
            [
                f"const {m.camel()} = await {m.camel()}(req.headers.authorization);",
                f"  password: z.string().min({m.number(8, 12)}),",
                f"export function {m.camel()}({{ token, {m.word()} }}: {m.word().title()}Props) {{",
                f"  const apiKey = process.env.{m.name().upper()};",
                f"  if (!token) throw new Error('{m.word()} token is missing');",
                f"  [AuthGuard.KEY]: {m.camel()},",
                f"  key={{{m.word()}.id}} password={{state.{m.camel()}}}",
                f"  accessToken: string;  refreshToken?: {m.word().title()}Token;",
            ]
        ),
        "Go": lambda m: m.random.choice(
            [
                f"\tif err := {m.word()}.{m.camel()}(ctx, token); err != nil {{",
                f'\tPassword string `json:"password" yaml:"{m.name()}"`',
                f"\tsecret, ok := {m.word()}.Data[corev1.{m.camel().title()}]",
                f"\tkey := {m.word()}Key{{{m.word()}: {m.number()}}}",
            ]
        ),
        "Rust": lambda m: m.random.choice(
            [
                f"    let token = self.{m.name()}(&{m.word()})?;",
                f"    pub password: Option<Secret<{m.word().title()}>>,",
                f"    match key {{ Key::{m.word().title()}(ref k) => k.{m.name()}(), _ => None }}",
            ]
        ),
        "SQL": lambda m: m.random.choice(
            [
                f"select {m.word()}_id, token_count from {m.word()}s where key = $1 and {m.word()} = $2;",
                f"alter table {m.word()}s add column password_hash text not null default '';",
            ]
        ),
        "Terraform": lambda m: m.random.choice(
            [
                f"  password = var.{m.name()}_password",
                f"  secret_key = data.vault_generic_secret.{m.name()}.data",
                f'  key_name = "{m.word()}-{m.number()}"',
            ]
        ),
        "Kubernetes": lambda m: (
            f"        - name: {m.name().upper()}\n          valueFrom:\n            secretKeyRef:\n"
            f"              name: {m.word()}-secrets\n              key: {m.word()}-password"
        ),
        "workflow": lambda m: f"          {m.name().upper()}: ${{{{ secrets.{m.name().upper()} }}}}",
        "shell": lambda m: m.random.choice(
            [
                f'{m.name().upper()}="$({m.word()} get --key {m.word()})"',
                f'curl -H "Authorization: Bearer $TOKEN" https://api.test/{m.word()}s/{m.number()}',
                f"docker run -e PASSWORD=$PASSWORD -p {m.number()}:80 {m.package()}:{m.version()}",
            ]
        ),
        "CSS": lambda m: (
            f".{m.word()}-{m.of(ALNUM, 6)} {{ color: #{m.of(HEX, 6)}; grid-template: {m.number()}px auto }}"
        ),
        "regular expression": lambda m: (
            rf'    _{m.word()} = re.compile(r"(?:token|key)=[A-Za-z0-9]{{{m.number(8, 40)}}}")'
        ),
    }


def files() -> dict[str, Callable[[Innocent], str]]:
    """Lock files, hashes, ids, images and what programs print."""
    return {
        "package-lock.json": lambda m: (
            f'    "node_modules/{m.package()}": {{\n      "version": "{m.version()}",\n'
            f'      "resolved": "https://registry.npmjs.org/{m.package()}/-/{m.package()}-{m.version()}.tgz",\n'
            f'      "integrity": "{m.sri()}",'
        ),
        "yarn.lock": lambda m: f"{m.package()}@^{m.version()}:\n  integrity {m.sri()}",
        "poetry.lock": lambda m: (
            f'    {{file = "{m.package()}-{m.version()}.tar.gz", hash = "sha256:{m.of(HEX, 64)}"}},'
        ),
        "requirements.txt": lambda m: f"{m.package()}=={m.version()} \\\n    --hash=sha256:{m.of(HEX, 64)}",
        "Cargo.lock": lambda m: f'name = "{m.package()}"\nversion = "{m.version()}"\nchecksum = "{m.of(HEX, 64)}"',
        "go.sum": lambda m: f"github.com/{m.word()}/{m.package()} v{m.version()} h1:{m.base64(32)}",
        "flake.lock": lambda m: f'        "narHash": "sha256-{m.base64(32)}",\n        "rev": "{m.of(HEX, 40)}",',
        "git log": lambda m: f"{m.of(HEX, 40)} {m.random.choice(_VERBS).title()} the {m.word()} of a {m.word()}",
        "sha256sum": lambda m: f"{m.of(HEX, 64)}  {m.path()}",
        "image digest": lambda m: f"registry.test/{m.word()}/{m.package()}@sha256:{m.of(HEX, 64)}",
        "UUID": lambda m: json.dumps({"id": m.uuid(), f"{m.word()}_id": m.uuid(), "n": m.number()}),
        "agent's ids": lambda m: json.dumps(
            {"tool_use_id": f"toolu_01{m.of(ALNUM, 22)}", "message_id": f"msg_01{m.of(ALNUM, 22)}", "uuid": m.uuid()}
        ),
        "usage": lambda m: json.dumps(
            {"input_tokens": m.number(), "output_tokens": m.number(), "cache_read_input_tokens": m.number(0, 10**6)}
        ),
        "image": lambda m: f'<img src="data:image/png;base64,{m.base64(m.number(60, 600))}" alt="{m.word()}">',
        "image in JSON": lambda m: json.dumps({"type": "image", "data": m.base64(m.number(200, 900))}),
        "base 64 in lines": lambda m: "\n".join(m.base64(57) for _ in range(4)),
        "certificate": lambda m: (
            f"-----BEGIN CERTIFICATE-----\n{m.base64(48)}\n{m.base64(48)}\n{m.base64(30)}\n-----END CERTIFICATE-----"
        ),
        "public key": lambda m: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{m.base64(33)} {m.word()}@{m.word()}",
        "minified": _minified,
        "source map": lambda m: (
            '"mappings":"' + ";".join(m.of(ALNUM, 4) + "," + m.of(ALNUM, 5) for _ in range(20)) + '"'
        ),
        "hex dump": lambda m: f"{m.number():08x}  {' '.join(m.of(HEX, 2) for _ in range(16))}  |{m.of(ALNUM, 16)}|",
        "query": lambda m: f"https://x.test/{m.word()}s?page={m.number()}&sort={m.word()}%3Aasc&id={m.uuid()}",
        "address": lambda m: f"http://{m.word()}.test:{m.number(1024)}/{m.word()}@{m.version()}/index.js",
        "ETag": lambda m: f'ETag: "{m.of(HEX, 32)}"\nContent-Length: {m.number()}\nX-Request-Id: {m.uuid()}',
        "coverage": lambda m: f"{m.path():50} {m.number()} {m.number(0, 99)} {m.number(0, 100)}%",
    }


def prints() -> dict[str, Callable[[Innocent], str]]:
    """Logs, tests, diffs and documentation."""
    return {
        "log": lambda m: (
            f"{m.time()} INFO {m.word()}.{m.name()} rows={m.number()} key={m.word()} took={m.number()}ms id={m.uuid()}"
        ),
        "test in colour": lambda m: f"\x1b[32mPASSED\x1b[0m tests/{m.path()}::test_{m.name()}[{m.number()}]",
        "traceback": lambda m: (
            f'  File "/app/{m.path()}", line {m.number()}, in {m.name()}\n    return {m.name()}(token)'
        ),
        "diff": lambda m: (
            f"diff --git a/{m.path()} b/{m.path()}\nindex {m.of(HEX, 10)}..{m.of(HEX, 10)} 100644\n"
            f"-    token = {m.name()}()\n+    token = {m.name()}(key={m.word()})"
        ),
        "with a line number": lambda m: f"{m.number():6}→    return {m.word()}.{m.name()}(password)",
        "found by grep": lambda m: f"{m.path()}:{m.number()}:    def {m.name()}(self, secret: Secret) -> None:",
        "documentation": lambda m: m.random.choice(
            [
                f"The password of a {m.word()} is set with `--password`, and the token with `{m.name().upper()}`.",
                f"Set `api_key` to the key of your {m.word()}; the default secret: none.",
                f"- **Token**: a {m.word()} token, which ends after {m.number()} seconds.",
                f"| `{m.name()}` | string | The {m.word()}'s key (default: `{m.word()}`). |",
                f"Basic authentication needs a {m.word()} and a password: see [{m.word()}](#{m.word()}-{m.number()}).",
                f"Bearer tokens are sent by the {m.word()}; token: the value from the {m.word()} page.",
            ]
        ),
        "tool call": lambda m: json.dumps(
            {"command": f"grep -rn 'password' {m.path()} | head -{m.number(1, 50)}", "description": f"Find {m.word()}"}
        ),
        "JSON in JSON": lambda m: json.dumps({"log": json.dumps({"key": m.word(), "n": m.number(), "path": m.path()})}),
        "HTML": lambda m: f'<input type="password" name="{m.name()}" placeholder="Your {m.word()} password" required>',
        "escaped HTML": lambda m: f"&lt;label for=&quot;{m.word()}&quot;&gt;{m.word().title()} token&lt;/label&gt;",
        "translation": lambda m: json.dumps({f"{m.word()}.password": f"Please enter the password of the {m.word()}"}),
        "placeholder": lambda m: m.random.choice(
            ["API_KEY=your-api-key-here", "PASSWORD=changeme", "token: <your token>", "SECRET_KEY=${SECRET_KEY}"]
        ),
        "words": lambda m: " ".join(m.random.choice([*_NOUNS, *_VERBS, "the", "a", "of"]) for _ in range(18)) + ".",
        "letters of the world": lambda m: (
            f"Schlüssel → {m.word()}, clé: {m.word()}, パスワード {m.number()}, пароль {m.word()}"
        ),
    }


def _minified(maker: Innocent) -> str:
    short = string.ascii_lowercase
    parts = [
        f"function {maker.of(short, 1)}({maker.of(short, 1)},{maker.of(short, 1)}){{return {maker.of(short, 1)}"
        f".{maker.camel()}?{maker.of(short, 1)}[{maker.number()}]:{{key:{maker.of(short, 1)},token:!0}}}}"
        for _ in range(12)
    ]
    return f'!{",".join(parts)};var {maker.of(URL[:52], 2)}="{base64.b64encode(maker.random.randbytes(9)).decode()}";'


def innocent_lines(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """At least so many lines without secrets, each with what it is."""
    maker = Innocent(seed)
    kinds = [*code().items(), *files().items(), *prints().items()]
    made = 0
    while made < count:
        for kind, make in kinds:
            text = make(maker)
            made += text.count("\n") + 1
            yield kind, text
