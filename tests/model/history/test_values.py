"""Small values and the rules about them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ramet.model.history.commit import canonical_json, estimate_tokens
from ramet.model.instant import from_datetime, to_datetime, to_iso
from ramet.model.record.project import contains, normal_path
from ramet.model.record.skill import BUILT_IN, artifact_prefix
from ramet.model.record.task import merge_keywords


@pytest.mark.requirement("R297")
@pytest.mark.parametrize("instant", [0, 1, 999, 1000, 1_767_600_000_123, -1, -62_135_596_800_000, 253_402_300_799_999])
def test_an_instant_goes_to_text_and_back_and_all_texts_have_one_width(instant: int) -> None:
    text = to_iso(instant)
    assert len(text) == 24
    assert text.endswith("Z")
    assert from_datetime(datetime.fromisoformat(text)) == from_datetime(to_datetime(instant)) == instant


@pytest.mark.requirement("R297")
def test_texts_sort_as_instants_do() -> None:
    instants = [-1, 0, 5, 999, 1000, 60_000, 10**12]
    assert sorted(map(to_iso, instants)) == [to_iso(instant) for instant in instants]


@pytest.mark.requirement("R297")
def test_any_zone_names_its_instant_and_none_names_nothing() -> None:
    local = datetime(2026, 1, 5, 9, tzinfo=timezone(timedelta(hours=1)))
    assert from_datetime(local) == from_datetime(datetime(2026, 1, 5, 8, tzinfo=UTC))
    with pytest.raises(ValueError, match="no time zone"):
        from_datetime(datetime(2026, 1, 5, 8))  # noqa: DTZ001


@pytest.mark.requirement("R189")
@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("/", "/"),
        ("//", "/"),
        ("/a/", "/a"),
        ("//a//b/.", "/a/b"),
        ("/a/../../b", "/b"),
        ("/..", "/"),
        ("/a b\n", "/a b\n"),
        ("", None),
        ("a", None),
        ("~", None),
        ("/a\0", None),
    ],
)
def test_a_path_has_one_normal_form_or_is_none(path: str, normal: str | None) -> None:
    assert normal_path(path) == normal


@pytest.mark.requirement("R220")
def test_a_directory_contains_itself_and_what_is_below_it_and_not_its_namesakes() -> None:
    assert contains("/a", "/a")
    assert contains("/a", "/a/b")
    assert contains("/", "/a")
    assert not contains("/a", "/ab")
    assert not contains("/a/b", "/a")


@pytest.mark.requirement("R224")
@pytest.mark.parametrize(
    ("known", "added", "merged"),
    [
        (None, [], None),
        (None, ["", " "], None),
        ("", ["a"], "a"),
        ("a, B", ["b", "C", "c"], "a, B, C"),
        ("a,,b", [" x "], "a, b, x"),
        (None, ["a,b"], "a b"),
        ("Straße", ["STRASSE"], "Straße"),
    ],
)
def test_keywords_merge_each_once_whatever_its_case(known: str | None, added: list[str], merged: str | None) -> None:
    assert merge_keywords(known, added) == merged


@pytest.mark.requirement("R209")
def test_a_prefix_is_safe_as_a_file_name() -> None:
    assert artifact_prefix(1, "../../etc") == "1_______ETC"
    assert artifact_prefix(12, "fix it") == "12_FIX_IT"
    assert {artifact_prefix(1, name) for name in BUILT_IN} >= {"1_IMPLEMENTATION", "1_PLAN", "1_DO"}


def test_one_value_has_one_json_text() -> None:
    assert canonical_json({"b": 1, "a": {"d": [1, 2], "c": "ü"}}) == '{"a":{"c":"ü","d":[1,2]},"b":1}'.encode()
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json({"a": float("nan")})


def test_tokens_are_estimated_by_length() -> None:
    assert [estimate_tokens("x" * length) for length in (0, 3, 4, 400)] == [0, 0, 1, 100]
