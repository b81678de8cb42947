"""The rules of phases, from labels alone."""

import pytest

from ramet.errors import PhaseNotSequential, UnknownPhase
from ramet.model.record.phase import (
    check_step,
    parse_phases,
    parse_place,
    resolve,
)


@pytest.mark.requirement("R225", "R317")
@pytest.mark.parametrize(
    ("label", "place"),
    [
        ("1", (1, 0)),
        ("1: Look", (1, 0)),
        ("  1", None),
        ("01: Look", (1, 0)),
        ("12.3: Deep", (12, 3)),
        ("2.A: Sketch", (2, 1)),
        ("2.z", (2, 26)),
        ("2.10", (2, 10)),
        ("0: Before", (0, 0)),
        ("1:Look", (1, 0)),
        ("1 : Look", (1, 0)),
        ("1: two\nlines", (1, 0)),
        ("1:", None),
        ("1.", None),
        ("1.1.1", None),
        ("1.AB", None),
        ("1234567", None),
        ("Look", None),
        ("-1", None),
        ("", None),
        ("¹: Look", None),
    ],
)
def test_a_label_has_a_place_or_none(label: str, place: tuple[int, int] | None) -> None:
    assert parse_place(label) == place


@pytest.mark.requirement("R225")
def test_names_without_numbers_are_numbered_by_their_place_in_the_list() -> None:
    assert [phase.place for phase in parse_phases(["Look", "Draw", {"label": "Paint"}])] == [(1, 0), (2, 0), (3, 0)]
    assert parse_phases(None) == parse_phases([]) == ()


@pytest.mark.requirement("R225")
def test_a_label_is_resolved_to_the_declared_phase_or_to_a_new_sub_phase() -> None:
    phases = parse_phases(["1: Look", "2: Draw"])
    assert resolve(" 2 ", phases).label == resolve("2: Draw", phases).label == "2: Draw"
    assert resolve("2.1: Sketch", phases).place == (2, 1)
    with pytest.raises(UnknownPhase, match="2: Other"):
        resolve("2: Other", phases)


@pytest.mark.requirement("R225", "R226")
@pytest.mark.parametrize(
    ("current", "target", "allowed"),
    [
        (None, "1: Look", True),
        (None, "2: Draw", False),
        ("1: Look", "2: Draw", True),
        ("1: Look", "1.1: Squint", True),
        ("1.1: Squint", "1.2: Blink", True),
        ("1.1: Squint", "2: Draw", True),
        ("1.2: Blink", "1: Look", False),
        ("2: Draw", "1: Look", False),
        ("3: Paint", "3.1: Varnish", True),
        ("gone: since", "1: Look", True),
    ],
)
def test_only_the_next_phase_or_a_later_sub_phase_follows_without_a_reason(
    current: str | None, target: str, allowed: bool
) -> None:
    phases = parse_phases(["1: Look", "2: Draw", "3: Paint"])
    step = resolve(target, phases)
    if allowed:
        check_step(current, step, phases, [], None)
    else:
        with pytest.raises(PhaseNotSequential):
            check_step(current, step, phases, [], None)
        check_step(current, step, phases, [], "because")
