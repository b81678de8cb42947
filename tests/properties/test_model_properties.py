"""What must hold of the pure rules for any input: round trips, totality, idempotence."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.properties.hypothesis_settings import bounded
from tests.properties.json_values import json_values

from ramet.errors import InvalidParams, InvalidProof, PhaseNotSequential, UnknownPhase
from ramet.model.history.commit import (
    CommitFacts,
    canonical_bytes,
    canonical_json,
    hash_commit,
)
from ramet.model.instant import from_datetime, to_datetime, to_iso
from ramet.model.record.phase import (
    check_proof,
    check_step,
    parse_phases,
    parse_place,
    resolve,
)
from ramet.model.record.project import contains, normal_path
from ramet.model.record.task import merge_keywords
from ramet.model.redaction import Redactor

LAST_MS = int(datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC).timestamp() * 1000)

hashes = st.binary(min_size=32, max_size=32)
facts = st.builds(
    CommitFacts,
    content_hash=hashes,
    content_type=st.sampled_from(["dialogue", "tool_io", "instruction"]),
    role=st.text(max_size=9),
    author=st.text(max_size=9),
    parent=st.none() | hashes,
    second_parent=st.none() | hashes,
    operation=st.sampled_from(["append", "edit"]),
    target=st.none() | hashes,
    metadata=st.none() | st.dictionaries(st.text(), json_values, min_size=1, max_size=3),
    at_ms=st.none() | st.integers(0, LAST_MS),
)


def as_read(fact: Any) -> Any:
    """Metadata as the text that is hashed: 1 and 1.0 are equal in Python, and two things in JSON."""
    return canonical_json(fact) if isinstance(fact, dict) else fact


@bounded()
@given(facts, facts, st.sets(st.sampled_from(CommitFacts.__struct_fields__)))
def test_commits_that_differ_have_other_bytes(one: CommitFacts, other: CommitFacts, changed: set[str]) -> None:
    changes = {name: getattr(other, name) for name in changed}
    second = msgspec.structs.replace(one, **changes)
    differ = any(as_read(getattr(one, name)) != as_read(value) for name, value in changes.items())
    assert (canonical_bytes(one) != canonical_bytes(second)) == differ
    assert (hash_commit(one) != hash_commit(second)) == differ


@bounded()
@given(st.dictionaries(st.text(), json_values))
def test_canonical_json_does_not_depend_on_the_order_of_keys(value: dict[str, Any]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)
    assert canonical_json(msgspec.json.decode(canonical_json(value))) == canonical_json(value)


@pytest.mark.requirement("R297")
@bounded()
@given(st.integers(-62_135_596_800_000, LAST_MS))
def test_an_instant_comes_back_from_text_and_from_datetime(instant_ms: int) -> None:
    text = to_iso(instant_ms)
    assert text.endswith("Z")
    assert from_datetime(datetime.fromisoformat(text)) == instant_ms
    assert from_datetime(to_datetime(instant_ms)) == instant_ms


@pytest.mark.requirement("R297")
@bounded()
@given(st.integers(-62_135_596_800_000, LAST_MS), st.integers(-62_135_596_800_000, LAST_MS))
def test_the_text_of_instants_sorts_as_time_does(one: int, other: int) -> None:
    assert (to_iso(one) < to_iso(other)) == (one < other)


labels = st.text(max_size=30) | st.from_regex(r"\A\s*\d{1,8}(\.\w{1,8})?\s*(:.*)?\Z")


@pytest.mark.requirement("R317")
@bounded(150)
@given(labels)
@example("\uff11.\uff12: wide digits")
@example("1.²")
@example("999999999999")
def test_any_text_may_be_a_phase_label(label: str) -> None:
    place = parse_place(label)
    assert place is None or (place[0] >= 0 and place[1] >= 0)
    with suppress(InvalidParams, UnknownPhase):
        declared = parse_phases([label])
        assert resolve(declared[0].label, declared) == declared[0]


@pytest.mark.requirement("R317")
@bounded(150)
@given(st.lists(labels, max_size=5), labels, st.none() | labels, st.lists(labels, max_size=3), st.none() | st.text())
def test_any_step_is_allowed_or_refused_with_a_typed_error(
    names: list[str], label: str, current: str | None, visited: list[str], reason: str | None
) -> None:
    with suppress(InvalidParams, UnknownPhase, PhaseNotSequential):
        phases = parse_phases(names)
        check_step(current, resolve(label, phases), phases, visited, reason)


@pytest.mark.requirement("R317")
@bounded(150)
@given(st.lists(json_values, max_size=4), json_values)
def test_any_declaration_of_phases_is_read_or_refused_with_a_typed_error(declared: list[Any], proof: Any) -> None:
    with suppress(InvalidParams, InvalidProof):
        phases = parse_phases([*declared, {"label": "999999", "proof": proof}])
        check_proof(proof if isinstance(proof, dict) else None, phases[-1])


@bounded()
@given(st.none() | st.text(), st.lists(st.text()))
def test_merging_keywords_again_changes_nothing(known: str | None, added: list[str]) -> None:
    once = merge_keywords(known, added)
    assert merge_keywords(once, added) == once
    assert merge_keywords(once, []) == once


@bounded()
@given(st.text(alphabet="/.ab ", max_size=20), st.text(alphabet="/.ab ", max_size=20))
def test_a_path_has_one_normal_form(path: str, below: str) -> None:
    normal = normal_path(f"/{path}")
    assert normal is not None
    assert normal_path(normal) == normal
    inner = normal_path(f"{normal}/{below.replace('..', '')}")
    assert inner is not None
    assert contains(normal, inner)


secrets = st.one_of(
    st.from_regex(r"\Ask-ant-[A-Za-z0-9]{24}\Z"),
    st.from_regex(r"\Aghp_[A-Za-z0-9]{36}\Z"),
    st.from_regex(r"\AAKIA[A-Z0-9]{16}\Z"),
    st.from_regex(r"\Axoxb-[a-z0-9]{12}\Z"),
    st.from_regex(r"\Aglpat-[a-z0-9]{20}\Z"),
)
REDACTOR = Redactor()


@pytest.mark.requirement("R296")
@bounded()
@given(secrets, secrets, st.text(alphabet=" .\n", min_size=1), st.text(max_size=30))
def test_a_secret_is_gone_and_equal_secrets_stay_equal(one: str, other: str, between: str, around: str) -> None:
    redacted = REDACTOR.redact(f"{around} {one}{between}{one}{between}{other} {around}").text
    assert one not in redacted
    assert other not in redacted
    first, second, third = (REDACTOR.redact(secret).text for secret in (one, one, other))
    assert first == second
    assert (first == third) == (one == other)
    assert redacted.count(first) >= 2


@pytest.mark.requirement("R296")
@bounded(150)
@given(st.lists(st.text(max_size=20) | secrets | st.sampled_from(["postgres://a:b@h/d", "https://u:p@x", "://", ":@"])))
def test_redacting_again_changes_nothing(parts: list[str]) -> None:
    once = REDACTOR.redact(" ".join(parts)).text
    assert REDACTOR.redact(once).text == once
