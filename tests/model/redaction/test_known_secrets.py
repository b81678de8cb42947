"""Redaction: what looks like a secret is replaced, in linear time, by a stable placeholder."""

import time

import pytest

from ramet.model.redaction import Redactor, placeholder


@pytest.mark.requirement("R296")
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("anthropic", "sk-ant-api03-" + "x" * 30),
        ("openai", "sk-" + "a" * 40),
        ("openai", "sk-svcacct-" + "a" * 40),
        ("github", "ghs_" + "A" * 36),
        ("github", "github_pat_" + "a_" * 30),
        ("gitlab", "glpat-" + "a" * 20),
        ("aws", "ASIA" + "A" * 16),
        ("google", "AIza" + "-" * 35),
        ("slack", "xoxp-1234567890-a"),
        ("stripe", "rk_test_" + "1" * 24),
        ("npm", "npm_" + "a" * 36),
        ("pypi", "pypi-" + "A" * 60),
        ("jwt", "eyJ" + "a" * 12 + ".eyJ" + "b" * 12 + "." + "c" * 20),
        ("private_key", "-----BEGIN PRIVATE KEY-----\nabc+/=\n-----END PRIVATE KEY-----"),
        ("private_key", "-----BEGIN EC PRIVATE KEY-----\\nabc\\n-----END EC PRIVATE KEY-----"),
    ],
)
def test_a_known_shape_is_replaced_whatever_stands_around_it(kind: str, text: str) -> None:
    for before, after in (("", ""), ("key=", "\n"), ('"', '"'), ("(", ")"), ("ü ", " ü")):
        redacted = Redactor().redact(before + text + after)
        meant = text.replace("\\n", "\n")
        assert redacted == (before + placeholder(kind, meant) + after, 1)


@pytest.mark.requirement("R296")
@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("postgres://u:pw@h/d", "postgres://u:{}@h/d"),
        ("see redis://:pw@h:1/0 ok", "see redis://:{}@h:1/0 ok"),
        ("https://u:pw@h and https://h/a", "https://u:{}@h and https://h/a"),
    ],
)
def test_of_a_url_only_the_password_goes(text: str, redacted: str) -> None:
    assert Redactor().redact(text).text == redacted.format(placeholder("url_password", "pw"))


@pytest.mark.requirement("R296")
@pytest.mark.parametrize(
    "text",
    ["", "sk-short", "task-" + "a" * 50, "ghp_short", "AKIA123", "http://host:80/x", "a@b", "12:30@noon", "0f" * 32],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor().redact(text) == (text, 0)


@pytest.mark.requirement("R296")
def test_redacting_twice_changes_nothing_more() -> None:
    text = "a ghp_" + "A" * 36 + " b postgres://u:pw@h/d"
    once = Redactor().redact(text)
    assert once.secrets == 2
    assert Redactor().redact(once.text).text == once.text


@pytest.mark.requirement("R296")
def test_the_time_it_takes_grows_with_the_length_and_not_faster() -> None:
    redactor = Redactor()
    hard = "sk-" + "sk-eyJ.eyJ://a:" * 4000
    redactor.redact(hard)
    took = []
    for text in (hard, hard * 8):
        started = time.process_time()
        redactor.redact(text)
        took.append(time.process_time() - started)
    assert took[1] < took[0] * 80
