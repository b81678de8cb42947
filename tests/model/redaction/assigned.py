"""Texts in which a secret is one because of its name, made from a seed: passwords and tokens that have no shape."""

import base64
import json
import string
from collections.abc import Callable, Iterator
from urllib.parse import quote

from tests.model.redaction.planted import ALNUM, HEX, UNKNOWN, Maker, Planted, halves

_WORDS = ["summer", "winter", "dragon", "monkey", "harbor", "copper", "falcon", "velvet", "rocket", "planet", "tundra"]
_SIGNS = "!@#%^*-_+?"
_LEET = str.maketrans("eoa", "304")


def passwords() -> dict[str, Callable[[Maker], str]]:
    """What people and generators take for a password."""
    return {
        "word and year": lambda m: f"{m.random.choice(_WORDS).title()}{m.random.randint(1970, 2026)}{m.of(_SIGNS, 1)}",
        "word and number": lambda m: f"{m.random.choice(_WORDS)}{m.random.randint(10, 99999)}",
        "leet": lambda m: (
            m.random.choice(_WORDS).replace("e", "3").replace("o", "0").replace("a", "4") + m.of("0123456789", 2)
        ),
        "letters and digits": lambda m: m.of(ALNUM, m.random.randint(10, 24)) + "7x",
        "all signs": lambda m: m.of(ALNUM + _SIGNS, m.random.randint(12, 28)) + "8q!",
        "words": lambda m: "-".join(m.random.sample(_WORDS, 4)),
        "words and a number": lambda m: "-".join([*m.random.sample(_WORDS, 3), str(m.random.randint(2, 99))]),
        "small letters": lambda m: m.of(string.ascii_lowercase, m.random.randint(10, 16)),
        "base 16": lambda m: m.of(HEX, 32),
        "base 64": lambda m: base64.b64encode(m.random.randbytes(24)).decode(),
    }


STRONG: dict[str, Callable[[str], str]] = {
    ".env": lambda v: f"DB_HOST=localhost\nDB_PASSWORD={v}\nDB_PORT=5432\n",
    ".env, quoted": lambda v: f'SMTP_PASS="{v}"\n',
    "export": lambda v: f"export MYSQL_ROOT_PASSWORD='{v}'\n",
    "docker": lambda v: f"docker run -e POSTGRES_PASSWORD={v} -d postgres",
    "compose": lambda v: f"    environment:\n      - REDIS_PASSWORD={v}\n",
    "YAML": lambda v: f"database:\n  user: app\n  password: {v}\n  port: 5432\n",
    "YAML, quoted": lambda v: f'admin:\n  password: "{v}"\n',
    "JSON": lambda v: json.dumps({"user": "app", "password": v}, indent=2),
    "JSON, one line": lambda v: json.dumps({"db": {"dbPassword": v, "port": 1}}),
    "JSON in a tool call": lambda v: json.dumps({"content": json.dumps({"adminPassword": v}, indent=1)}),
    "Python": lambda v: f"conn = connect(host, user='app', password={v!r})\n",
    "Python constant": lambda v: f'SECRET_KEY = "{v}"\n',
    "Python, typed": lambda v: f'    password: str = "{v}"\n',
    "JavaScript": lambda v: f"const config = {{ user: 'app', password: '{v}' }};\n",
    "Go": lambda v: f'dbPassword := "{v}"\n',
    "Ruby": lambda v: f'  :password => "{v}",\n',
    "PHP": lambda v: f"    'password' => '{v}',\n",
    "Java properties": lambda v: f"spring.datasource.password={v}\n",
    "TOML": lambda v: f'[smtp]\npassword = "{v}"\n',
    "Terraform": lambda v: f'resource "db" {{\n  master_password = "{v}"\n}}\n',
    "XML": lambda v: f"<server><username>ci</username><password>{v}</password></server>",
    "XML attribute": lambda v: f'<add name="db" password="{v}" />',
    "name and value": lambda v: f"        - name: DB_PASSWORD\n          value: {json.dumps(v)}\n",
    "option": lambda v: f"mysqldump --user app --password {v} shop > dump.sql",
    "option, equals": lambda v: f"tool login --password={v} --verbose",
    "connection string": lambda v: f"Server=db;Database=shop;User Id=app;Password={v};Encrypt=true",
    "netrc": lambda v: f"machine git.test login bob password {v}\n",
    "curl": lambda v: f"curl -s -u bob:{v} https://api.test/v1",
    "URL": lambda v: f"postgresql://app:{quote(v, safe='')}@db.test:5432/shop",
    "URL, raw": lambda v: f"REDIS_URL=redis://:{v}@cache.test:6379/0",
    "log": lambda v: f"2026-01-02T03:04:05Z DEBUG login user=bob password={v} from=10.0.0.7",
    "call": lambda v: f'client.setPassword("{v}");',
    "PGPASSWORD": lambda v: f"PGPASSWORD={v} psql -h db.test -U app -c 'select 1'",
    "form": lambda v: f"POST /login\n\nusername=bob&password={quote(v, safe='')}&next=%2F",
    "percent-encoded": lambda v: (
        f"url=https%3A%2F%2Fx.test%2F%3Fpassword%3D{quote(quote(v, safe=''), safe='')}%26a%3D1"
    ),
    "in HTML": lambda v: f"<div data-x='{{&quot;password&quot;:&quot;{v}&quot;}}'>",
    "with a line number": lambda v: f"     7→DB_PASSWORD={v}\n     8→\n",
    "found by grep": lambda v: f".env:3:DB_PASSWORD={v}\n",
    "in colour": lambda v: f".env:\x1b[01;31m\x1b[KDB_PASSWORD\x1b[m\x1b[K={v}\n",
    "in a diff": lambda v: f"-DB_PASSWORD=\n+DB_PASSWORD={v}\n",
}
"""Where a password is named so."""

TOKENS: dict[str, Callable[[str], str]] = {
    "Authorization": lambda v: f"GET / HTTP/1.1\nHost: api.test\nAuthorization: Bearer {v}\n",
    "curl header": lambda v: f'curl -H "Authorization: Bearer {v}" https://api.test/v1',
    "header in JSON": lambda v: json.dumps({"headers": {"Authorization": f"token {v}"}}),
    "X-Api-Key": lambda v: f"X-Api-Key: {v}\nAccept: */*\n",
    "Private-Token": lambda v: f"PRIVATE-TOKEN: {v}\n",
    ".env": lambda v: f"API_URL=https://api.test\nAPI_TOKEN={v}\n",
    "API_KEY": lambda v: f"WEATHER_API_KEY={v}\n",
    "client secret": lambda v: f'"client_id": "app-1", "client_secret": "{v}"',
    "camel case": lambda v: f"const accessToken = '{v}';\n",
    "YAML": lambda v: f"  auth_token: {v}\n",
    "query": lambda v: f"https://api.test/v1/items?page=2&access_token={quote(v, safe='')}",
    "option": lambda v: f"deploy --token {v} --dry-run",
    "npmrc": lambda v: f"//registry.test/:_authToken={v}\n",
    "cookie": lambda v: f"Cookie: theme=dark; session={v}; lang=en\n",
    "signing key": lambda v: f'signingKey: "{v}",\n',
    "encryption key": lambda v: f"ENCRYPTION_KEY={v}\n",
    "tool call": lambda v: json.dumps({"args": ["--api-key", v], "env": {"SERVICE_TOKEN": v}}),
}
"""Where a token is named so."""

ENTROPY: dict[str, Callable[[str], str]] = {
    ".env": lambda v: f"ACME_CONF={v}\n",
    "quoted": lambda v: f'  acme_handle = "{v}"\n',
    "JSON": lambda v: json.dumps({"acme": v, "n": 1}),
    "YAML": lambda v: f"acme: {v}\n",
    "code": lambda v: f"    connect(acme='{v}')\n",
    "in a tool call": lambda v: json.dumps({"content": f'acme = "{v}"\nx = 1\n'}),
}
"""Where only its look says that it is one."""


def plant_assigned(seed: int, each: int) -> Iterator[Planted]:
    """Every kind of password and of unknown token behind every kind of name."""
    maker = Maker(seed)
    for _ in range(each):
        for kind, make in passwords().items():
            for framing, frame in STRONG.items():
                value = make(maker)
                yield Planted("keyword", f"{kind}, {framing}", frame(value), halves(value))
        for template in UNKNOWN:
            for framing, frame in TOKENS.items():
                value = maker.expand(template)
                yield Planted("keyword", f"{template}, {framing}", frame(value), halves(value))


def plant_random(seed: int, each: int) -> Iterator[Planted]:
    """Values as random as keys, behind names that say nothing."""
    maker = Maker(seed)
    for _ in range(each):
        for framing, frame in ENTROPY.items():
            for length in (24, 32, 40, 48, 64):
                for alphabet, name in ((ALNUM, "letters and digits"), (ALNUM + "-_", "base 64 for URLs")):
                    value = maker.of(alphabet, length)
                    yield Planted("entropy", f"{name}, {length}, {framing}", frame(value), halves(value))
                value = base64.b64encode(maker.random.randbytes(length * 3 // 4)).decode()
                yield Planted("entropy", f"base 64, {length}, {framing}", frame(value), halves(value))
