"""What a commit may hold: ten kinds of content, each with a typed payload, and hints how it is treated.

A payload is kept in two parts: its text, which is what people search and models read, is the blob; the rest is kept
in the commit's metadata under `payload`. So every content has a text, whatever its kind, and nothing is stored twice.
"""

from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from ramet.errors import InvalidParams, UnknownContentType
from ramet.model.history.commit import canonical_json

Priority = Literal["skip", "normal", "important", "pinned"]
ContentRole = Literal["system", "user", "assistant", "tool"]
SessionType = Literal["start", "end", "handoff", "checkpoint"]

PAYLOAD = "payload"
"""The key of a commit's metadata that holds what is not text of its content."""
COMPRESSES = "compresses"
"""The key of a summary's metadata that names the first and last seq whose place it takes."""
ORIGIN = "origin"
"""The key of a copy's metadata that names the commit it was first copied from."""
COLLAPSE = "collapse"
"""The key of a commit's metadata that names the child whose work it stands for, and where the child stood."""

IMAGES = "images"
"""The key of a commit's metadata that has the hashes of the images in its content."""

RESERVED = frozenset({PAYLOAD, COMPRESSES, ORIGIN, COLLAPSE, IMAGES})
"""What nobody else may write into a commit's metadata."""

_PLAIN = (str, NoneType)
_CHOICES = (Union, UnionType, Literal)

PROTECTED = 90
"""Content of this compression priority or a higher one is never compressed."""


class TypeHints(Struct, frozen=True, kw_only=True):
    """How a kind of content is treated unless a commit says otherwise."""

    default_role: ContentRole
    default_priority: Priority = "normal"
    compression_priority: int = 50
    """0 to 100: what is low is shortened first."""
    compiles: bool = True
    """Whether a model gets to read it."""

    @property
    def is_protected(self) -> bool:
        """Whether it is never compressed."""
        return self.compression_priority >= PROTECTED


BUILTIN_TYPE_HINTS: dict[str, TypeHints] = {
    "instruction": TypeHints(default_role="system", default_priority="pinned", compression_priority=90),
    "dialogue": TypeHints(default_role="user", compression_priority=50),
    "tool_io": TypeHints(default_role="tool", compression_priority=20),
    "reasoning": TypeHints(default_role="assistant", compression_priority=30),
    "artifact": TypeHints(default_role="assistant", default_priority="important", compression_priority=70),
    "output": TypeHints(default_role="assistant", default_priority="important", compression_priority=60),
    "freeform": TypeHints(default_role="user", compression_priority=40),
    "session": TypeHints(default_role="system", default_priority="pinned", compression_priority=95),
    "config": TypeHints(default_role="system", compression_priority=100, compiles=False),
    "metadata": TypeHints(default_role="system", compression_priority=100, compiles=False),
}
"""The kinds of content that are always there; others can be registered."""

BUILTIN_CONTENT_TYPES = frozenset(BUILTIN_TYPE_HINTS)


def check_field(owner: str, name: str, value: object, kind: Any) -> None:
    """Refuse a value that a field of this type cannot have."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        problem = str(error).partition(" - at `$")[0]
        fix = f"use one of: {', '.join(get_args(kind))}" if get_origin(kind) is Literal else f"give {_spelled(kind)}"
        raise InvalidParams(f"{owner}.{name}: {problem}", field=name, value=value, fix=fix) from error


def _spelled(kind: Any) -> str:
    """A type in an error's fix: `str`, `list[str]`."""
    return f"`{kind.__name__ if isinstance(kind, type) and get_origin(kind) is None else kind}`"


@cache
def _types(kind: type[Struct]) -> tuple[tuple[str, Any, tuple[Any, ...]], ...]:
    """The name and the type of each field, and what is sure to fit: the types of a union, the values of a literal."""
    return tuple(
        (field.name, field.type, get_args(field.type) if get_origin(field.type) in _CHOICES else ())
        for field in msgspec.structs.fields(kind)
    )


class Checked(Struct, frozen=True, kw_only=True):
    """A payload whose constructor refuses what a commit would refuse."""

    def __post_init__(self) -> None:
        for name, kind, fitting in _types(type(self)):
            value = getattr(self, name)
            # Most are plain texts of the right type, of which there are many; to check the others takes far longer.
            found = type(value)
            if found is not kind and not (found in _PLAIN and (found in fitting or value in fitting)):
                check_field(type(self).__name__, name, value, kind)


class InstructionContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="instruction"):
    """What an agent is told to do or to keep to."""

    text: str
    name: str | None = None


class DialogueContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="dialogue"):
    """One turn of a conversation."""

    text: str
    role: Literal["user", "assistant", "system"] = "user"
    name: str | None = None


class ToolIOContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="tool_io"):
    """A tool's call, whose text is its arguments as JSON, or a tool's result."""

    text: str
    tool_name: str
    direction: Literal["call", "result"] = "result"
    call_id: str | None = None
    status: Literal["success", "error"] | None = None


class ReasoningContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="reasoning"):
    """What an agent thought."""

    text: str


class ArtifactContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="artifact"):
    """Something produced: a file, a document, a piece of code."""

    text: str
    artifact_type: str
    language: str | None = None


class OutputContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="output"):
    """A result that is meant for somebody."""

    text: str
    format: Literal["text", "markdown", "json"] = "text"


class FreeformContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="freeform"):
    """Anything else."""

    payload: dict[str, Any]


class SessionContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="session"):
    """A boundary of a session: what was done and decided, what failed, what comes next."""

    content_type: ClassVar[str] = "session"

    session_type: SessionType
    summary: str
    decisions: list[str] = []
    failed_approaches: list[str] = []
    next_steps: list[str] = []


class ConfigContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="config"):
    """Settings that hold from here on. No model reads them."""

    settings: dict[str, Any]


class MetadataContent(Checked, frozen=True, kw_only=True, tag_field="content_type", tag="metadata"):
    """A note for programs. No model reads it."""

    kind: str
    data: dict[str, Any] = {}


ContentPayload = (
    InstructionContent
    | DialogueContent
    | ToolIOContent
    | ReasoningContent
    | ArtifactContent
    | OutputContent
    | FreeformContent
    | SessionContent
    | ConfigContent
    | MetadataContent
)


class Packed(Struct, frozen=True, kw_only=True):
    """A content as a commit keeps it."""

    content_type: str
    role: ContentRole
    text: str
    payload: dict[str, Any] | None


def validate_content(content: dict[str, Any]) -> ContentPayload:
    """The typed payload that `content_type` says it is; a fault names the field and what would be right."""
    kind = content.get("content_type")
    if not isinstance(kind, str) or kind not in BUILTIN_CONTENT_TYPES:
        raise UnknownContentType(
            f"there is no content type {kind!r} with a payload",
            field="content.content_type",
            value=kind,
            fix=f"use one of: {', '.join(sorted(BUILTIN_CONTENT_TYPES))}",
        )
    try:
        return _convert(content)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        field = f"content{path.rstrip('`')}" if path else "content"
        raise InvalidParams(f"{field}: {problem}", field=field, value=content, fix=_fix(kind, path)) from error


def _fix(kind: str, path: str) -> str:
    """What a payload of a kind may say: the values of the field that is wrong, else its fields."""
    payload = next(each for each in get_args(ContentPayload) if each.__struct_config__.tag == kind)
    fields = {field.name: field.type for field in msgspec.structs.fields(payload)}
    wanted = fields.get(path.lstrip(".").rstrip("`"))
    choices = [value for part in (wanted, *get_args(wanted)) for value in get_args(part) if isinstance(value, str)]
    if choices:
        return f"use one of: {', '.join(choices)}"
    return f"the fields of {kind} are: {', '.join(fields)}"


def pack(content: ContentPayload) -> Packed:
    """Split a payload into its text and the rest."""
    fields = asdict(content)
    kind = content.__struct_config__.tag
    assert isinstance(kind, str)  # noqa: S101
    role = fields.pop("role", None) or BUILTIN_TYPE_HINTS[kind].default_role
    match content:
        case ToolIOContent(direction="call"):
            role, text = "assistant", fields.pop("text")
        case SessionContent():
            text = fields.pop("summary")
        case FreeformContent() | ConfigContent() | MetadataContent():
            text, fields = canonical_json(fields).decode(), {}
        case _:
            text = fields.pop("text")
    payload = {name: value for name, value in fields.items() if value not in (None, [])}
    return Packed(content_type=kind, role=role, text=text, payload=payload or None)


def unpack(content_type: str, role: str, text: str, payload: dict[str, Any] | None) -> ContentPayload | None:
    """The typed payload back from its parts; None for a kind that has none, or a text that was given as it is."""
    fields: dict[str, Any] = {"content_type": content_type, **(payload or {})}
    match content_type:
        case "freeform" | "config" | "metadata":
            try:
                fields |= msgspec.json.decode(text, type=dict[str, Any])
            except msgspec.DecodeError:
                return None
        case "session":
            fields["summary"] = text
        case "dialogue":
            fields |= {"text": text, "role": role}
        case _:
            fields["text"] = text
    try:
        return _convert(fields)
    except msgspec.ValidationError:
        return None


def _convert(fields: dict[str, Any]) -> ContentPayload:
    payload: ContentPayload = msgspec.convert(fields, ContentPayload)
    return payload


def render_session(text: str, payload: dict[str, Any]) -> str:
    """A session boundary as a model reads it."""
    parts = [f"[Session {payload.get('session_type', 'checkpoint')}]", text]
    for name, title in (
        ("decisions", "Decisions"),
        ("failed_approaches", "What did not work"),
        ("next_steps", "Next steps"),
    ):
        if items := payload.get(name):
            parts.append(f"{title}:\n" + "\n".join(f"- {item}" for item in items))
    return "\n\n".join(parts)
