"""A phase: a step of a skill. Which phase may follow which is decided here, from labels alone.

A label is `"2: Build"`, with sub-phases `"2.1: Sketch"` or `"2.A: Sketch"` (letters count as 1 to 26). A skill
may also list plain names; their place in the list is then their number. Sub-phases need not be declared:
a later sub-phase of the current major phase may be appended as the work goes.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from ramet.errors import InvalidParams, InvalidProof, PhaseNotSequential, UnknownPhase

_LABEL = re.compile(r"(?P<major>\d{1,6})(?:\.(?P<minor>\d{1,6}|[A-Za-z]))?(?:\s*:.*\S)?\s*", re.DOTALL)

PROOF_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "any": (object,),
}

Place = tuple[int, int]


class PhaseRecord(Struct, frozen=True, kw_only=True):
    """One row of `phase_history`."""

    id: int
    effort_id: int
    phase_label: str
    proof: dict[str, Any] | None
    reason: str | None
    created_at: datetime


class Phase(Struct, frozen=True):
    """A declared phase: where it stands, how it is called, what it wants proved, and which command files it needs."""

    place: Place
    label: str
    proof: dict[str, str]
    commands: tuple[str, ...] = ()
    """Paths below the skill's folder."""


def parse_place(label: str) -> Place | None:
    """The (major, minor) number of a label, or None where it has none."""
    match = _LABEL.fullmatch(label)
    if match is None:
        return None
    minor = match["minor"] or "0"
    return int(match["major"]), int(minor) if minor.isdigit() else ord(minor.upper()) - ord("A") + 1


def parse_phases(declared: Sequence[Any] | None) -> tuple[Phase, ...]:
    """The phases of a skill, in order; raises `InvalidParams` where the declaration cannot be used."""
    phases: list[Phase] = []
    for index, item in enumerate(declared or ()):
        label = item.get("label") if isinstance(item, dict) else item
        if not isinstance(label, str) or not label.strip():
            raise InvalidParams(
                f"phases[{index}] has no label",
                field=f"phases[{index}]",
                value=item,
                fix='give a label such as "1: Dialogue Loop", or an object with "label"',
            )
        place = parse_place(label) or (index + 1, 0)
        if phases and place <= phases[-1].place:
            raise InvalidParams(
                f"phase {label!r} does not come after {phases[-1].label!r}",
                field=f"phases[{index}]",
                value=label,
                fix="list the phases in ascending order, each number once",
            )
        phases.append(Phase(place, label.strip(), _proof_fields(item, index), _commands(item)))
    return tuple(phases)


def _proof_fields(item: Any, index: int) -> dict[str, str]:
    """What a phase wants proved: a list of names, or names with their types."""
    wanted = (item.get("proof") if isinstance(item, dict) else None) or {}
    if isinstance(wanted, list) and all(isinstance(name, str) for name in wanted):
        return dict.fromkeys(wanted, "any")
    if isinstance(wanted, dict) and all(isinstance(kind, str) and kind in PROOF_TYPES for kind in wanted.values()):
        return wanted
    raise InvalidParams(
        f"phases[{index}].proof is neither a list of names nor an object of names and types",
        field=f"phases[{index}].proof",
        value=wanted,
        fix=f"use types from: {', '.join(PROOF_TYPES)}",
    )


def _commands(item: Any) -> tuple[str, ...]:
    """The command files of a phase. A skill file with others is refused; what is registered otherwise counts for
    nothing, because phases had no such field before.
    """
    named = item.get("commands") if isinstance(item, dict) else None
    return tuple(path for path in named if isinstance(path, str)) if isinstance(named, list) else ()


def resolve(label: str, phases: Sequence[Phase]) -> Phase:
    """The declared phase that a label names (`"2"` names `"2: Build"`), or an undeclared one at its place."""
    wanted = label.strip()
    place = parse_place(wanted)
    for phase in phases:
        if wanted == phase.label or (place == phase.place and ":" not in wanted and wanted[:1].isdigit()):
            return phase
    if place is None and not phases and wanted:
        return Phase((0, 0), wanted, {})
    if place is None or any(phase.place == place for phase in phases):
        raise _unknown(label, phases)
    return Phase(place, wanted, {})


def check_step(
    current: str | None, target: Phase, phases: Sequence[Phase], visited: Sequence[str], reason: str | None
) -> None:
    """Raise unless `target` may follow `current`: the next phase, a later sub-phase, or any with a reason."""
    if not phases:
        return
    at = _place_of(current, phases)
    declared = any(phase.place == target.place for phase in phases)
    if not declared and target.label not in visited and not _is_later_sub_phase(target.place, at):
        raise _unknown(target.label, phases)
    following = find_next(current, phases)
    if at < target.place and (following is None or target.place <= following.place):
        return
    if reason and reason.strip():
        return
    verb = "goes back" if target.place < at else "skips ahead"
    there = f"the next phase is {following.label!r}" if following else "it was the last phase"
    raise PhaseNotSequential(
        f"{target.label!r} {verb} from {current or 'the start'!r}; {there}",
        field="label",
        value=target.label,
        fix=f"enter {following.label!r}, or give a reason" if following else "finish the effort, or give a reason",
    )


def find_next(current: str | None, phases: Sequence[Phase]) -> Phase | None:
    """The declared phase behind the current one."""
    at = _place_of(current, phases)
    return next((phase for phase in phases if phase.place > at), None)


def check_proof(proof: dict[str, Any] | None, phase: Phase) -> None:
    """Raise unless `proof` has every field that the phase wants, with its type."""
    for name, kind in phase.proof.items():
        if name not in (proof or {}):
            raise InvalidProof(
                f"phase {phase.label!r} requires the proof {name!r}",
                field=f"proof.{name}",
                fix=f"give {name} ({kind})",
            )
        value = (proof or {})[name]
        right = isinstance(value, PROOF_TYPES[kind]) and (kind in ("boolean", "any") or not isinstance(value, bool))
        if not right:
            raise InvalidProof(
                f"proof field {name!r} must be a {kind}",
                field=f"proof.{name}",
                value=value,
                fix=f"give a {kind}",
            )


def _place_of(label: str | None, phases: Sequence[Phase]) -> Place:
    if label is None:
        return (-1, 0)
    for phase in phases:
        if phase.label == label:
            return phase.place
    return parse_place(label) or (-1, 0)


def _is_later_sub_phase(place: Place, at: Place) -> bool:
    return place[0] == at[0] and place[1] > at[1]


def _unknown(label: str, phases: Sequence[Phase]) -> UnknownPhase:
    known = ", ".join(repr(phase.label) for phase in phases)
    return UnknownPhase(f"the skill has no phase {label!r}", field="label", value=label, fix=f"its phases are: {known}")
