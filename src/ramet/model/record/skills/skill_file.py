"""A skill file: `SKILL.md`, the open Agent Skills format, and what Ramet reads in it beside that.

The front matter, between two lines of `---`, has `name` and `description` as every agent program expects them. A skill
for Ramet may also say its phases, modes, templates, directives and which skills follow it. Keys that mean something to
somebody else are passed over. What is wrong is refused with its line and its field.
"""

import math
import re
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from ramet.errors import InvalidParams, SkillFileInvalid
from ramet.model.record.phase import parse_phases

if TYPE_CHECKING:
    from ramet.model.record.skills.front_matter import Field

FILE_NAME = "SKILL.md"
MAX_BYTES = 1024 * 1024

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TOOL = re.compile(r"[^\s,(]+(?:\([^()]*\))?")
_MAX_NAME = 64
_MAX_DESCRIPTION = 1024
_MAX_COMPATIBILITY = 500
_FORMAT = 1
"""The newest format of Ramet's own keys that this release reads: `ramet-format`, which a file may leave out."""


class SkillFile(Struct, frozen=True, kw_only=True):
    """What a SKILL.md says."""

    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    metadata: dict[str, str] = {}
    allowed_tools: list[str] = []
    phases: list[Any] = []
    modes: dict[str, Any] = {}
    templates: dict[str, str] = {}
    cmd_dependencies: list[str] = []
    next_skills: list[str] = []
    directives: list[str] = []
    changes: Literal["code"] | None = None
    body: str = ""
    """The instructions behind the front matter."""


def parse(content: bytes | str, folder: str | None = None) -> SkillFile:
    """What the file says; `folder` is the name of the folder that it is in, which has to be the skill's name."""
    from ramet.model.record.skills.front_matter import FrontMatter  # noqa: PLC0415 - YAML, for which most have no use

    front = FrontMatter(_decode(content))
    front.read("ramet-format", _format)
    name = front.read("name", _name)
    description = front.read("description", _description)
    if name is None or description is None:
        missing = "name" if name is None else "description"
        raise SkillFileInvalid(f"{missing} is missing", line=1, field=missing, fix=f"add `{missing}: …` below the ---")
    if folder is not None and name != folder:
        line = front.line_of("name")
        fix = "rename the skill or its folder, so that both have the same name"
        raise SkillFileInvalid(
            f"name differs from the name of its folder {folder!r}", line=line, field="name", value=name, fix=fix
        )
    return SkillFile(
        name=name,
        description=description,
        license=front.read("license", _text),
        compatibility=front.read("compatibility", _compatibility),
        metadata=front.read("metadata", _metadata) or {},
        allowed_tools=front.read("allowed-tools", _tools) or [],
        phases=front.read("phases", _phases) or [],
        modes=front.read("modes", _modes) or {},
        templates=front.read("templates", _templates) or {},
        cmd_dependencies=front.read("cmd-dependencies", _texts) or [],
        next_skills=front.read("next-skills", _texts) or [],
        directives=front.read("directives", _texts) or [],
        changes=front.read("changes", _changes),
        body=front.body,
    )


def _decode(content: bytes | str) -> str:
    encoded = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    if len(encoded) > MAX_BYTES:
        raise SkillFileInvalid(f"the file is larger than {MAX_BYTES:,} bytes", fix="move details into other files")
    try:
        text = encoded.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = encoded[: error.start].count(b"\n") + 1
        raise SkillFileInvalid("the file is not UTF-8 text", line=line, fix="save it as UTF-8") from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise SkillFileInvalid("the file contains a NUL character", line=line, fix="remove it")
    return text.replace("\r\n", "\n")


def _format(field: "Field", value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        field.refuse("is not the number of a format", f"write `ramet-format: {_FORMAT}`, or leave it out", value)
    if value > _FORMAT:
        fix = f"update Ramet, or rewrite the file for format {_FORMAT}"
        field.refuse(f"is {value}, and this release of Ramet reads up to {_FORMAT}", fix, value)
    return value


def _text(field: "Field", value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        field.refuse("is not a string", "write a string, in quotes if it looks like another type", value)
    return value.strip()


def _name(field: "Field", value: Any) -> str:
    if not isinstance(value, str) or len(value) > _MAX_NAME or not _NAME.fullmatch(value):
        fix = f"use at most {_MAX_NAME} lowercase letters and digits, with single dashes between them"
        field.refuse("is not a valid name of a skill", fix, value)
    return value


def _description(field: "Field", value: Any) -> str:
    text = _text(field, value)
    if len(text) > _MAX_DESCRIPTION:
        field.refuse(
            f"is longer than {_MAX_DESCRIPTION} characters",
            "say in a few sentences what the skill does and when to use it",
        )
    return text


def _compatibility(field: "Field", value: Any) -> str:
    text = _text(field, value)
    if len(text) > _MAX_COMPATIBILITY:
        field.refuse(f"is longer than {_MAX_COMPATIBILITY} characters", "shorten it")
    return text


def _metadata(field: "Field", value: Any) -> dict[str, str]:
    return {str(key): str(inner) for key, inner in _mapping(field, value).items()}


def _tools(field: "Field", value: Any) -> list[str]:
    """As a list, or in one line with blanks or commas between them; each may have a rule: `Bash(git add:*)`."""
    return _TOOL.findall(value) if isinstance(value, str) else _texts(field, value)


def _texts(field: "Field", value: Any) -> list[str]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        field.refuse("is not a list", "write it as a list: one `- item` per line", value)
    return [_text(field.item(index), item) for index, item in enumerate(value)]


def _changes(field: "Field", value: Any) -> Literal["code"]:
    if value != "code":
        field.refuse("is not a kind of change", "write `changes: code`, or leave it out", value)
    return "code"


def _phases(field: "Field", value: Any) -> list[Any]:
    if not isinstance(value, list):
        field.refuse("is not a list", 'write it as a list of labels: `- "1: Look"`', value)
    labelled = [_label(field.item(index), item) for index, item in enumerate(value)]
    try:
        parse_phases(labelled)
    except InvalidParams as error:
        index = re.match(r"phases\[(\d+)\]", error.field or "")
        line = field.item(int(index[1])).line if index else field.line
        raise SkillFileInvalid(error.message, line=line, field=error.field, value=error.value, fix=error.fix) from error
    return labelled


def _label(field: "Field", item: Any) -> Any:
    """A phase. `1: Look` without quotes is a mapping to YAML, and meant as a label."""
    if isinstance(item, dict) and len(item) == 1 and "label" not in item:
        (number, name), *_ = item.items()
        if isinstance(number, int | float) and isinstance(name, str):
            return f"{number}: {name}"
    _plain(field, item)
    if isinstance(item, dict) and "commands" in item:
        return item | {"commands": _texts(replace(field, name=f"{field.name}.commands"), item["commands"])}
    return item


def _modes(field: "Field", value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return dict.fromkeys(_texts(field, value), "")
    mapping = _mapping(field, value)
    _plain(field, mapping)
    return mapping


def _templates(field: "Field", value: Any) -> dict[str, str]:
    return {name: _text(field, path) for name, path in _mapping(field, value).items()}


def _mapping(field: "Field", value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        field.refuse("is not a mapping", "write it as `name: value`, one per line", value)
    return value


def _plain(field: "Field", value: Any) -> None:
    """Refuse what JSON has no word for, such as a date."""
    match value:
        case dict():
            for inner in _mapping(field, value).values():
                _plain(field, inner)
        case list():
            for inner in value:
                _plain(field, inner)
        case float() if not math.isfinite(value):
            field.refuse("has a value that is not a finite number", "put it in quotes", str(value))
        case str() | bool() | int() | float() | None:
            return
        case _:
            field.refuse("has a value that is neither a string nor a number", "put it in quotes", str(value))
