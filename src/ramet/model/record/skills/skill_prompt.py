"""What an agent is told of the skill that it follows: the text of its file, its directives, mode and templates, and the
phases that it goes through.

The text of a file is quoted between seals, so that none of its lines can pass for a heading of ours. It has a budget of
its own. What does not fit is left out, and the prompt says where the rest is.
"""

from collections.abc import Sequence

from msgspec import Struct

from ramet.model.record.effort import Effort
from ramet.model.record.phase import Phase, parse_phases
from ramet.model.record.skill import WITHOUT_FILE, Skill, SkillText, mode_meaning
from ramet.model.seal import make_seal

_CHARACTERS_PER_TOKEN = 4
_GATE = "heartbeat"
"""The directive that turns on a gate, and is not told."""
_MOST_PHASES = 100
_MOST_LISTED = 50
_LINE_CHARACTERS = 1000


class SkillPrompt(Struct, frozen=True):
    """What is told, which may be nothing; and whether a text was cut."""

    text: str
    cut: bool


def compose(effort: Effort, skill: Skill | None, text: SkillText | None, max_tokens: int) -> SkillPrompt:
    """What the agent of an effort is told of its skill."""
    if skill is None or effort.skill in WITHOUT_FILE:
        return SkillPrompt("", False)
    room = _Room(max_tokens * _CHARACTERS_PER_TOKEN)
    parts = [
        _tell_file(skill, text, room) if text is not None else "",
        _tell_mode(effort, skill),
        _tell_directives(skill),
        _tell_templates(skill, text, room),
        _tell_phases(effort, parse_phases(skill.phases), _folder(text)),
    ]
    return SkillPrompt("\n\n".join(part for part in parts if part), room.is_cut)


class _Room:
    """How many characters of files may still be quoted."""

    def __init__(self, characters: int) -> None:
        self._left = characters
        self.is_cut = False

    def quote(self, text: str, file: str) -> str:
        """The text between seals, up to what there is room for."""
        seal, shown = make_seal(text), text[: self._left]
        self._left -= len(shown)
        if len(shown) < len(text):
            self.is_cut = True
            left_out = f"{len(text) - len(shown)} of {len(text)} characters left out"
            shown += f"\n[… {left_out}; {_line(file)} has all of them …]"
        return f"(up to the line with {seal})\n{shown}\n(end of the text: {seal})"


def _tell_file(skill: Skill, text: SkillText, room: _Room) -> str:
    """The description and the instructions of the file."""
    lead = (
        f"## Skill: {_line(skill.name)}\n"
        f"Follow this skill; its file is {_line(text.file)}. It says how to work and does not change what you may do.\n"
        f"{_line(text.description)}"
    )
    return f"{lead}\n{room.quote(text.instructions, text.file)}" if text.instructions.strip() else lead


def _tell_mode(effort: Effort, skill: Skill) -> str:
    meaning = mode_meaning(skill.modes, effort.mode)
    return "" if meaning is None else f"Mode {_line(effort.mode or '')}: {_line(meaning)}"


def _tell_directives(skill: Skill) -> str:
    rules = [rule for rule in skill.directives or () if rule.strip().lower() != _GATE]
    return _list("Rules of this skill:", [_line(rule) for rule in rules[:_MOST_LISTED]])


def _tell_templates(skill: Skill, text: SkillText | None, room: _Room) -> str:
    """Each template with its text; one whose text is not known, with its path alone."""
    texts = {} if text is None else text.template_texts
    folder = _folder(text)
    told = []
    for name, path in list((skill.templates or {}).items())[:_MOST_LISTED]:
        head = f"Template {_line(name)}, {_line(folder + str(path))}"
        told.append(f"{head} {room.quote(texts[name], folder + str(path))}" if name in texts else head)
    return "\n\n".join(told)


def _folder(text: SkillText | None) -> str:
    return "" if text is None else text.file.rpartition("/")[0] + "/"


def _tell_phases(effort: Effort, phases: Sequence[Phase], folder: str) -> str:
    if not phases:
        return ""
    listed = _list("", [_name(phase, folder) for phase in phases[:_MOST_PHASES]]).lstrip("\n")
    return (
        "## Phases:\nWork through these phases in order. When you start a phase, call Ramet's tool `phase` with its "
        f"label, or run `ramet effort phase e{effort.id} LABEL`. If the phase requires a proof, pass it as `proof`, an "
        "object (`--proof JSON` on the command line). A refusal says what to do instead. To skip or repeat a phase, "
        f"give a reason.\n{listed}{_say_where(effort)}"
    )


def _name(phase: Phase, folder: str) -> str:
    proof = ", ".join(f"{_line(name)}: {kind}" for name, kind in phase.proof.items())
    files = ", ".join(_line(folder + path) for path in phase.commands[:_MOST_LISTED])
    return _line(phase.label) + (f" (proof: {proof})" if proof else "") + (f" (read first: {files})" if files else "")


def _say_where(effort: Effort) -> str:
    """A further attempt continues where the last one was."""
    return f"\n{say_phase(effort.current_phase)}" if effort.current_phase else ""


def say_phase(label: str) -> str:
    """The phase that an effort is in, as a sentence."""
    return f"This effort is in the phase {_line(label)}."


def _list(head: str, items: Sequence[str]) -> str:
    return "\n".join([head, *(f"- {item}" for item in items)]) if items else ""


def _line(text: str) -> str:
    """A text on one line, so that it cannot begin a section of its own."""
    words = " ".join(text.split())
    return words if len(words) <= _LINE_CHARACTERS else f"{words[:_LINE_CHARACTERS]}…"
