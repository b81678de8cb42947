"""The wire format of requests and replies: JSON-RPC 2.0, one JSON object or array per line, UTF-8.

Decoding has two steps, so that a request with wrong parameters still gets its id back in the error.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ramet import errors
from ramet.errors import InvalidParams, InvalidRequest, ParseError, RametError, shorten
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Request
from ramet.protocol.operations import OPERATIONS, Operation

RequestId = str | int | float | None


class Frame(Struct, frozen=True):
    """One JSON-RPC request. Without an id it is a notification: it is performed, and gets no reply."""

    method: str
    jsonrpc: str = "2.0"
    id: RequestId | UnsetType = UNSET
    params: Raw = Raw(b"{}")


class _LooseFrame(Struct, frozen=True):
    """The id of an invalid request, so that the error reaches the client."""

    id: RequestId = None


_frames = msgspec.json.Decoder(Frame)
_loose_frames = msgspec.json.Decoder(_LooseFrame)
_documents = msgspec.json.Decoder(list[Raw])
_encoder = msgspec.json.Encoder()
_anything = msgspec.json.Decoder()

_DEEPEST = 100
"""Levels of a parameter. Metadata has some three, the input of a tool rarely ten."""


def split_line(line: bytes) -> list[Raw] | None:
    """The requests of a batch, or None if the line is a single request."""
    try:
        if not line.isascii():
            line.decode()  # parts that nobody reads are not decoded later, and must be UTF-8 all the same
        return _documents.decode(line) if line.lstrip(b" \t\r")[:1] == b"[" else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParseError(f"the line is not JSON: {error}") from error


def decode_frame(document: bytes | Raw) -> Frame:
    """One request, with unchecked parameters."""
    try:
        frame = _frames.decode(document)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"not a JSON-RPC request: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParseError(f"the line is not JSON: {error}") from error
    if frame.jsonrpc != "2.0":
        raise InvalidRequest("jsonrpc must be '2.0'", field="jsonrpc", value=frame.jsonrpc)
    return frame


def salvage_id(document: bytes | Raw) -> RequestId:
    """The id of a document that is not a valid request, or None if it has none."""
    try:
        return _loose_frames.decode(document).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def find_operation(method: str) -> Operation:
    """The operation of that name."""
    operation = OPERATIONS.get(method)
    if operation is None:
        raise unknown_method(method)
    return operation


def unknown_method(method: str, *, is_for_agents: bool = False) -> errors.UnknownMethod:
    """The error for an operation that does not exist, or not for agents."""
    for_agents = " for agents" if is_for_agents else ""
    return errors.UnknownMethod(f"there is no operation {method!r}{for_agents}", field="method", value=method)


@cache
def _decoder(request: type[Request[Any]]) -> "msgspec.json.Decoder[Request[Any]]":
    return msgspec.json.Decoder(request)


def decode_params(operation: Operation, params: bytes | Raw) -> Request[Any]:
    """The typed request. An error names the field, its value and a valid value."""
    try:
        request = _decoder(operation.request).decode(params)
    except msgspec.ValidationError as error:
        raise explain(str(error), operation.request, _loosely(params)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParseError(f"the parameters are not JSON: {error}") from error
    text = bytes(params)
    if text.count(b"[") + text.count(b"{") > _DEEPEST:  # most have far fewer, and are not walked through
        _refuse_depth(request)
    return request


def _refuse_depth(request: Request[Any]) -> None:
    """Refuse a free value (metadata, the input of a tool) that is nested beyond reason.

    Redaction and encoders need a part of the stack for each level.
    """
    for field in request.__struct_fields__:
        level = [getattr(request, field)]
        for _ in range(_DEEPEST):
            level = [inner for value in level for inner in inner_values(value) if isinstance(inner, _NESTED)]
            if not level:
                break
        else:
            raise InvalidParams(
                f"{field} is nested more than {_DEEPEST} levels deep", field=field, fix="give a flatter value"
            )


_NESTED = (dict, list, tuple, Struct)


def inner_values(value: Any) -> Iterable[Any]:
    """What a value of a request is made of; nothing for a text or a number."""
    match value:
        case dict():
            return value.values()
        case list() | tuple():
            return value
        case Struct():
            return msgspec.structs.astuple(value)
    return ()


_EXPLAINED_BYTES = 128 * 1024
"""The error for larger parameters does not show the wrong value: finding it takes longer than all the rest."""


def _loosely(params: bytes | Raw) -> Any:
    if len(bytes(params)) > _EXPLAINED_BYTES:
        return None
    try:
        return _anything.decode(params)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


_AT = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")
_STEP = re.compile(r"[^.\[\]]+|\.\.\.")
_QUOTED = re.compile(r"field `(?P<name>[^`]+)`")


def explain(complaint: str, request: type[Any], params: Any) -> InvalidParams:
    """The error for parameters that are not as their type says, in words for people: the field, its value and a fix."""
    path = match["path"] if (match := _AT.search(complaint)) else ""
    problem = _AT.sub("", complaint)
    known = _known(request, path)
    if "missing required" in problem and (match := _QUOTED.search(problem)):
        field = ".".join(part for part in (path, match["name"]) if part)
        return InvalidParams(f"{field} is missing", field=field, fix=f"give {field}; {known}")
    if "unknown field" in problem and (match := _QUOTED.search(problem)):
        field = ".".join(part for part in (path, match["name"]) if part)
        return InvalidParams(
            f"there is no parameter {field}",
            field=field,
            value=_value_at(params, field),
            fix=known,
        )
    field, value = path or "params", _value_at(params, path)
    if choices := ", ".join(_choices(request, path)):
        message = f"{field} {_given(value)}must be one of the allowed values"
        return InvalidParams(message, field=field, value=value, fix=f"use one of: {choices}")
    if isinstance(value, str) and (rule := NAME_RULES.get(_pattern(problem))) is not None:
        return InvalidParams(
            f"{field} {_misfit(value, _pattern(problem))}", field=field, value=value, fix=f"use {rule}"
        )
    wanted = _wanted(problem)
    if wanted is None:
        return InvalidParams(f"{field}: {problem}", field=field, value=value, fix=known)
    return InvalidParams(f"{field} {_given(value)}must be {wanted}", field=field, value=value, fix=f"give {wanted}")


NAME_RULES = {
    r"^[A-Za-z0-9][A-Za-z0-9._/:@+-]*$": "letters, digits and . _ / : @ + -, and start with a letter or a digit",
    r"^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$": "1 to 64 letters, digits and . _ -, and start with a letter or a digit",
    r"^[A-Za-z][A-Za-z0-9_-]{0,199}$": "1 to 200 letters, digits and _ -, and start with a letter",
    r"^[a-z0-9][a-z0-9._-]{0,63}$": "1 to 64 small letters, digits and . _ -, and start with a letter or a digit",
    r"^[a-z][a-z0-9_]{0,63}$": "1 to 64 small letters, digits and _, and start with a letter",
    r"^[a-z0-9]{8,64}$": "8 to 64 small letters and digits",
    r"^[0-9a-f]+$": "the digits 0 to 9 and a to f",
    r"^refs/notes/[A-Za-z0-9][A-Za-z0-9._-]{0,99}$": "refs/notes/ and 1 to 100 letters, digits and . _ -",
    r"^[0-9]{1,19}[.][0-9]{1,19}$": "the `next` of the page before, such as 1.42",
    r"^[0-9]{1,19}[.][0-9a-f]{0,64}$": "the `next` of the page before, such as 1000.3f9c2b7a",
    r"^[0-9]{1,19}[.][^\x00]{1,4096}$": "the `next` of the page before, such as 7.implement",
    r"^[0-9a-f]{40,64}$": "the whole hash of a git commit",
    r"^[^\s:]+:\S+$": "PROVIDER:MODEL without spaces, such as openai:gpt-5",
}
"""The patterns of names in requests, in words."""
_MATCHING = re.compile(r"Expected `str` matching regex (?P<pattern>'.*')", re.DOTALL)
_CLASSES = re.compile(r"\^(?P<first>\[[^\]]+\])?(?P<rest>\[[^\]]+\])(?:[*+]|\{[\d,]+\})\$")
_CHARACTERS = {" ": "a space", "\t": "a tab", "\n": "a line break", "\r": "a line break"}


def _pattern(problem: str) -> str:
    """The pattern that a text does not match; empty if something else is wrong."""
    match = _MATCHING.fullmatch(problem)
    return str(ast.literal_eval(match["pattern"])) if match else ""


def _misfit(value: str, pattern: str) -> str:
    """What is wrong with a name: the first character that it cannot have, or its length."""
    shown = f"is {value!r}, which " if len(repr(value)) <= _LONGEST_SHOWN else ""
    match = _CLASSES.fullmatch(pattern)
    if match is not None:
        if value and not re.match(match["first"] or match["rest"], value):
            return f"{shown}starts with {_CHARACTERS.get(value[0], repr(value[0]))}"
        wrong = next((letter for letter in value[1:] if not re.match(match["rest"], letter)), None)
        if wrong is not None:
            return f"{shown}has {_CHARACTERS.get(wrong, repr(wrong))}"
        return f"has {len(value)} characters"
    return f"{shown}is not valid"


_KINDS = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_EXPECTED = re.compile(r"Expected `(?P<kinds>[^`]+)`(?P<rest>.*?)(?:, got `[^`]*`)?", re.DOTALL)
_LIMITS = {
    r" of length >= (\d+)": r" of length \1 or more",
    r" of length <= (\d+)": r" of length \1 or less",
    r" matching regex '\^\[\^\\+x00\]\*\$'": " without a NUL character",
    r" matching regex '(.*)'": r" that matches \1",
    r" >= (\S+)": r" of \1 or more",
    r" <= (\S+)": r" of \1 or less",
    r" > (\S+)": r" above \1",
}
"""The decoder's phrases, and words for people."""
_LONGEST_SHOWN = 60


def _wanted(problem: str) -> str | None:
    """What the decoder expected, in words."""
    match = _EXPECTED.fullmatch(problem)
    if match is None:
        return None
    rest = match["rest"]
    for pattern, words in _LIMITS.items():
        rest = re.sub(pattern, words, rest)
    kinds = [_KINDS.get(kind, kind) for kind in match["kinds"].split(" | ")]
    return " or ".join(kinds) + rest


def _given(value: Any) -> str:
    """A wrong value, if it is short enough to be shown whole: a secret that is cut would not be recognised as one."""
    shown = repr(value) if isinstance(value, str | int | float) else ""
    return f"is {shown}, but " if 0 < len(shown) <= _LONGEST_SHOWN else ""


def _known(request: type[Any], path: str) -> str:
    """The fields that the object at a path can have."""
    inner = [kind for kind in _types_at(request, path) if isinstance(kind, msgspec.inspect.StructType)] if path else []
    names = [field.encode_name for field in inner[0].fields] if inner else request.__struct_encode_fields__
    of_inner = f" of {path}" if inner else ""
    return f"the parameters{of_inner} are: {', '.join(names) or 'none'}"


def _choices(request: type[Any], path: str) -> list[str]:
    """The values that a field of a closed set accepts."""
    kinds = _types_at(request, path) if path else []
    return [str(v) for kind in kinds if isinstance(kind, msgspec.inspect.LiteralType) for v in kind.values]


def _types_at(request: type[Any], path: str) -> list[msgspec.inspect.Type]:
    """The types that the value at a path can have."""
    kinds: list[msgspec.inspect.Type] = [msgspec.inspect.type_info(request)]
    for step in _STEP.findall(path):
        kinds = [found for kind in kinds for inner in _within(kind, step) for found in _alternatives(inner)]
    return kinds


def _within(kind: msgspec.inspect.Type, step: str) -> list[msgspec.inspect.Type]:
    match kind:
        case msgspec.inspect.StructType():
            return [field.type for field in kind.fields if field.encode_name == step]
        case msgspec.inspect.ListType():
            return [kind.item_type]
        case msgspec.inspect.DictType():
            return [kind.value_type]
    return []


def _alternatives(kind: msgspec.inspect.Type) -> list[msgspec.inspect.Type]:
    kind = kind.type if isinstance(kind, msgspec.inspect.Metadata) else kind
    return list(kind.types) if isinstance(kind, msgspec.inspect.UnionType) else [kind]


def _value_at(params: Any, path: str) -> Any:
    value = params
    for step in _STEP.findall(path):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def encode_reply(request_id: RequestId, result: Any) -> bytes:
    """One reply line without its newline."""
    return _encoder.encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: RequestId, error: RametError, redactor: Redactor) -> bytes:
    """One error line without its newline. It may show values of the request, but no secret."""
    return _encoder.encode({"jsonrpc": "2.0", "id": request_id, "error": redacted_error(error, redactor)})


def redacted_error(error: RametError, redactor: Redactor) -> dict[str, Any]:
    """The error object of an error, without secrets."""
    wire = error.to_wire()
    value, _ = redactor.redact_value(error.value)
    wire["data"]["value"] = shorten(value)  # a secret that was cut first would not be recognised
    redacted: dict[str, Any] = redactor.redact_value(wire)[0]
    return redacted


def reply_around(request_id: RequestId) -> tuple[bytes, bytes]:
    """What comes before and after a result that is encoded already, in one reply line without its newline."""
    return b'{"jsonrpc":"2.0","id":' + _encoder.encode(request_id) + b',"result":', b"}"


def encode_notification(method: str, params: Any) -> bytes:
    """One line that the server sends without a request."""
    return _encoder.encode({"jsonrpc": "2.0", "method": method, "params": params})


def encode(value: Any) -> bytes:
    """A value as JSON."""
    return _encoder.encode(value)
