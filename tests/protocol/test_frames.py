"""Frames: two steps of decoding, and refusals that reach the asker."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet import errors
from ramet.errors import InvalidParams, InvalidRequest, ParseError, RametError, UnknownMethod
from ramet.model.redaction import Redactor
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.wire.frames import (
    NAME_RULES,
    decode_frame,
    decode_params,
    encode_error,
    find_operation,
    salvage_id,
    split_line,
)

REDACTOR = Redactor()

json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.requirement("R253")
@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"", ParseError),
        (b"{", ParseError),
        (b"nonsense", ParseError),
        (b'{"jsonrpc":"2.0","method":"x"}}', ParseError),
        (b"7", InvalidRequest),
        (b'"x"', InvalidRequest),
        (b"null", InvalidRequest),
        (b"{}", InvalidRequest),
        (b'{"method":7}', InvalidRequest),
        (b'{"jsonrpc":"1.0","method":"x"}', InvalidRequest),
        (b'{"jsonrpc":"2.0","method":"x","id":[1]}', InvalidRequest),
        (b'{"jsonrpc":"2.0","method":"x","id":true}', InvalidRequest),
    ],
)
def test_what_is_no_request_is_refused_by_what_it_is(line: bytes, error: type[RametError]) -> None:
    with pytest.raises(error):
        decode_frame(line)


@pytest.mark.requirement("R253")
def test_a_refused_request_keeps_its_id_where_it_has_one() -> None:
    assert salvage_id(b'{"id":7,"method":1}') == 7
    assert salvage_id(b'{"id":"a","jsonrpc":"1.0"}') == "a"
    assert salvage_id(b'{"id":[1]}') is None
    assert salvage_id(b"{") is None
    assert salvage_id(b"[1]") is None


@pytest.mark.requirement("R253")
def test_a_batch_is_split_and_a_single_request_is_not() -> None:
    assert split_line(b'{"a":1}') is None
    assert [bytes(part) for part in split_line(b' [{"a":1}, 2]') or ()] == [b'{"a":1}', b"2"]
    assert split_line(b"[]") == []
    for line in (b"[1,", b"\xff", b'{"a":"\xc3"}'):
        with pytest.raises(ParseError):
            split_line(line)


@pytest.mark.requirement("R253", "R279")
def test_deeply_nested_json_is_refused_and_not_a_crash() -> None:
    deep = b'{"task_id":"/a","skill":"do","metadata":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    with pytest.raises(ParseError):
        decode_params(OPERATIONS["db.effort.start"], deep)


@pytest.mark.requirement("R253")
def test_metadata_that_is_too_deep_to_walk_through_is_refused_by_name() -> None:
    def nested(levels: int) -> bytes:
        return b'{"task_id":"/a","skill":"do","metadata":' + b'{"a":' * levels + b"1" + b"}" * levels + b"}"

    with pytest.raises(InvalidParams, match="metadata is nested more than 100 levels deep") as refusal:
        decode_params(OPERATIONS["db.effort.start"], nested(900))
    assert refusal.value.field == "metadata"
    decode_params(OPERATIONS["db.effort.start"], nested(99))


@pytest.mark.requirement("R253")
def test_many_brackets_are_not_deep() -> None:
    wide = (
        b'{"task_id":"/a","skill":"do","metadata":{"text":"' + b"[{" * 500 + b'","list":[' + b"[],{}," * 200 + b"1]}}"
    )
    assert decode_params(OPERATIONS["db.effort.start"], wide) is not None


@pytest.mark.requirement("R253")
@pytest.mark.parametrize("params", [b"[]", b"7", b"null", b'"x"', b'["/a"]'])
def test_parameters_that_are_no_object_are_refused(params: bytes) -> None:
    with pytest.raises(InvalidParams) as refusal:
        decode_params(OPERATIONS["db.project.upsert"], params)
    assert refusal.value.field == "params"


@pytest.mark.requirement("R253")
@pytest.mark.parametrize(
    ("operation", "params", "message", "fix"),
    [
        ("db.agents.get", b'{"id":7}', "id is 7, but must be a string", "give a string"),
        ("db.agents.get", b"{}", "id is missing", "give id; the parameters are: id"),
        ("db.agents.get", b'{"id":"a","ide":"b"}', "there is no parameter ide", "the parameters are: id"),
        (
            "db.agents.get",
            b'{"id":"\\u0000"}',
            "id is '\\x00', but must be a string without a NUL character",
            "give a string without a NUL character",
        ),
        (
            "history.log",
            b'{"branch":"new prompt"}',
            "branch is 'new prompt', which has a space",
            "use letters, digits and . _ / : @ + -, and start with a letter or a digit",
        ),
        (
            "history.undo",
            b'{"branch":"main","steps":0}',
            "steps is 0, but must be an integer of 1 or more",
            "give an integer of 1 or more",
        ),
        (
            "history.annotate",
            b'{"hash":"3f9c","priority":"high"}',
            "priority is 'high', but must be one of the allowed values",
            "use one of: important, normal, pinned, skip",
        ),
        ("ai.embed", b'{"texts":[]}', "texts must be a list of length 1 or more", "give a list of length 1 or more"),
    ],
)
def test_a_wrong_parameter_is_explained_in_words(operation: str, params: bytes, message: str, fix: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        decode_params(OPERATIONS[operation], params)
    assert (refusal.value.message, refusal.value.fix) == (message, fix)


@pytest.mark.parametrize(
    ("branch", "problem"),
    [
        ("/main", "is '/main', which starts with '/'"),
        (" main", "is ' main', which starts with a space"),
        ("main!", "is 'main!', which has '!'"),
        ("a\nb", "is 'a\\nb', which has a line break"),
        ("é", "is 'é', which starts with 'é'"),
        ("x" * 100 + " ", "has a space"),
    ],
)
def test_a_wrong_name_is_explained_by_the_character_that_it_cannot_have(branch: str, problem: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        decode_params(OPERATIONS["history.log"], msgspec.json.encode({"branch": branch}))
    assert refusal.value.message == f"branch {problem}"


@pytest.mark.parametrize(
    ("operation", "params", "message"),
    [
        ("history.register", {"name": "x" * 65}, "name has 65 characters"),
        ("ai.embed", {"texts": ["a"], "model": "gpt"}, "model is 'gpt', which is not valid"),
    ],
)
def test_a_wrong_name_of_another_kind_is_explained(operation: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        decode_params(OPERATIONS[operation], msgspec.json.encode(params))
    assert refusal.value.message == message


def test_every_pattern_of_a_name_has_its_words() -> None:
    schemas = json.dumps([msgspec.json.schema(operation.request) for operation in OPERATIONS.values()])
    patterns = {json.loads(found) for found in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', schemas)}
    assert patterns - NAME_RULES.keys() == {r"^[^\x00]*$"}
    assert NAME_RULES.keys() - patterns == set()


@pytest.mark.requirement("R253")
def test_an_unknown_operation_is_refused_by_its_name() -> None:
    with pytest.raises(UnknownMethod) as refusal:
        find_operation("db.task.finish")
    assert (refusal.value.field, refusal.value.value) == ("method", "db.task.finish")


@pytest.mark.requirement("R253")
def test_a_long_value_is_cut_in_the_error_that_shows_it() -> None:
    with pytest.raises(InvalidParams) as refusal:
        decode_params(OPERATIONS["db.agents.get"], json.dumps({"id": "x" * 5000}).encode())
    assert len(encode_error(1, refusal.value, REDACTOR)) < 1000


@pytest.mark.requirement("R317", "R253")
@given(name=st.sampled_from(sorted(OPERATIONS)), params=st.dictionaries(st.text(), json_values, max_size=4))
def test_any_parameters_are_a_request_or_a_typed_refusal(name: str, params: dict[str, Any]) -> None:
    try:
        decode_params(OPERATIONS[name], json.dumps(params).encode())
    except (InvalidParams, ParseError) as refusal:
        wire = json.loads(encode_error(1, refusal, REDACTOR))
        assert wire["error"]["data"]["fix"]


@pytest.mark.requirement("R317", "R253")
@given(st.binary(max_size=200))
def test_any_bytes_are_a_request_or_a_typed_refusal(line: bytes) -> None:
    for decode in (split_line, decode_frame):
        try:
            decode(line)
        except (ParseError, InvalidRequest) as refusal:
            json.loads(encode_error(salvage_id(line), refusal, REDACTOR))


@pytest.mark.requirement("R253")
@pytest.mark.parametrize("code", sorted(errors.BY_CODE))
def test_an_error_comes_back_from_the_wire_as_it_was(code: str) -> None:
    kind = errors.BY_CODE[code]
    sent = kind("what happened", field="f", value=7, fix="do this")
    back = RametError.from_wire(json.loads(encode_error(1, sent, REDACTOR))["error"])
    assert type(back) is kind
    assert (back.message, back.field, back.value, back.fix) == ("what happened", "f", 7, "do this")
    assert kind().fix
    assert kind().message


@pytest.mark.requirement("R253")
def test_an_error_of_an_unknown_code_is_an_error_all_the_same() -> None:
    back = RametError.from_wire({"code": -1, "message": "new", "data": {"code": "from_the_future"}})
    assert (type(back), back.message) == (RametError, "new")
    assert RametError.from_wire({"message": "bare"}).message == "bare"
