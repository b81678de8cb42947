"""Secrets are taken out: known shapes, known values, patterns of one's own; equal ones stay equal; once is enough."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.errors import InvalidSetting
from ramet.model.redaction import Redactor, placeholder

GITHUB = "ghp_" + "a1B2" * 10
ANTHROPIC = "sk-ant-" + "x7-_" * 8
PASSWORD = "correct horse battery"
VALUES = (PASSWORD, "p4ssw0rd-1", "p4ssw0rd-1-longer")
OWN = (r"\bcorp-[0-9]{8}\b", r"(?i)pin(code)?=\S+")


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        (f"token {GITHUB} here", GITHUB, "github"),
        (f"key={ANTHROPIC}", ANTHROPIC, "anthropic"),
        ("AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP", "aws"),
        (f"it is {PASSWORD}!", PASSWORD, "environment"),
        ("see corp-12345678", "corp-12345678", "configured"),
        ("PinCode=0000 and on", "PinCode=0000", "configured"),
    ],
)
def test_a_secret_gives_way_to_a_placeholder_that_names_its_kind(text: str, secret: str, kind: str) -> None:
    redacted = Redactor(OWN, VALUES).redact(text)
    assert redacted.text == text.replace(secret, placeholder(kind, secret))
    assert redacted.secrets == 1


def test_a_password_in_a_url_leaves_the_url() -> None:
    redacted = Redactor().redact("git clone https://me:hunter2@example.org/x.git")
    assert redacted.text == f"git clone https://me:{placeholder('url_password', 'hunter2')}@example.org/x.git"


def test_equal_secrets_look_equal_wherever_they_stand() -> None:
    redactor = Redactor(values=[GITHUB, "p4ssw0rd-1"])
    one = redactor.redact(f"{GITHUB} and again x{GITHUB}").text
    assert one == f"{placeholder('github', GITHUB)} and again x{placeholder('github', GITHUB)}"
    url = redactor.redact("https://me:p4ssw0rd-1@host/ p4ssw0rd-1").text
    assert url.count(placeholder("environment", "p4ssw0rd-1")) == 2
    assert Redactor().redact(GITHUB).text == Redactor(values=[GITHUB]).redact(GITHUB).text


def test_of_two_known_values_the_longer_is_taken() -> None:
    redacted = Redactor(values=VALUES).redact("p4ssw0rd-1-longer").text
    assert redacted == placeholder("environment", "p4ssw0rd-1-longer")


def test_values_are_taken_as_they_are_and_not_as_patterns() -> None:
    redactor = Redactor(values=["a.c(d)*[e]$|x"])
    assert redactor.redact("abcd").secrets == 0
    assert redactor.redact('{"k": "a.c(d)*[e]$|x"}').secrets == 1


def test_what_is_switched_off_changes_nothing() -> None:
    assert Redactor(OWN, VALUES, is_enabled=False).redact(f"{GITHUB} {PASSWORD}") == (f"{GITHUB} {PASSWORD}", 0)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("(unclosed", "missing )"), (r"(a)\1", "invalid escape"), ("x*", "empty string"), ("(?P<n>x)", "names a group")],
)
def test_a_pattern_that_cannot_be_used_is_named(pattern: str, reason: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        Redactor(["fine", pattern])
    assert pattern in refused.value.message.replace("\\\\", "\\")
    assert reason in refused.value.message
    assert refused.value.field == "redaction.patterns"


def test_in_a_json_value_every_text_is_looked_at_and_nothing_else_changes() -> None:
    greedy = Redactor([r"pin=.*"])
    value = {"a": ["pin=1\", 'x'", 7, None, {"b": True}], GITHUB: 1.5}
    redacted, count = greedy.redact_value(value)
    assert redacted == {
        "a": [placeholder("configured", "pin=1\", 'x'"), 7, None, {"b": True}],
        placeholder("github", GITHUB): 1.5,
    }
    assert count == 2


PIECES = st.sampled_from(
    [
        GITHUB,
        ANTHROPIC,
        PASSWORD,
        "p4ssw0rd-1",
        "corp-12345678",
        "pin=1",
        "https://me:pw@",
        "https://me:",
        "@",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        placeholder("github", "x"),
        "[REDACTED:",
        "]",
        " ",
        "x",
        "é",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    redactor = Redactor(OWN, VALUES)
    once = redactor.redact(text)
    assert redactor.redact(once.text) == (once.text, 0)
    assert all(secret not in once.text for secret in (PASSWORD, "p4ssw0rd-1"))


@given(st.text(max_size=200))
def test_a_text_without_secrets_stays_as_it_is(text: str) -> None:
    redacted = Redactor(values=VALUES).redact(text)
    assert redacted.secrets or redacted.text == text


@pytest.mark.parametrize("unit", ["-----BEGIN PRIVATE KEY-----", "sk-", "a://b:", "eyJ" + "a" * 10 + "."])
def test_time_grows_with_the_text_and_no_faster(unit: str) -> None:
    redactor = Redactor(OWN, VALUES)

    def seconds(count: int) -> float:
        text = unit * count
        redactor.redact(text)
        start = time.process_time()
        redactor.redact(text)
        return time.process_time() - start

    assert seconds(64_000) < 64 * max(seconds(4_000), 0.001)
