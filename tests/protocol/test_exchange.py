"""A request on its way to a daemon, and the line that comes back."""

import json
import math

import pytest

from ramet.errors import DaemonError, EffortNotFound, ParseError
from ramet.protocol.record.budgets import SetBudget
from ramet.protocol.wire.exchange import decode_line, encode_request
from ramet.protocol.work.queue import AddWork, DropWork, GetWork


def test_parameters_without_a_value_are_left_out() -> None:
    assert json.loads(encode_request(SetBudget(session_id=1, tokens=5))) == {"session_id": 1, "tokens": 5}


@pytest.mark.parametrize("cost", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_does_not_have_is_refused_and_no_bound_is_taken_away(cost: float) -> None:
    with pytest.raises(ParseError):
        encode_request(SetBudget(session_id=1, cost_usd=cost))


def test_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(ParseError, match="not UTF-8"):
        encode_request(AddWork(prompt="caf\udce9"))


def test_a_refusal_is_raised_as_its_error() -> None:
    line = json.dumps({"id": 1, "error": EffortNotFound("there is no effort 7", value=7).to_wire()}).encode()
    with pytest.raises(EffortNotFound, match="no effort 7"):
        decode_line(DropWork, line)


@pytest.mark.parametrize("line", [b"{", b'{"id": 1, "result": {"id": "seven"}}', b'{"id": 1, "result": 7}'])
def test_a_reply_that_cannot_be_read_names_its_operation(line: bytes) -> None:
    with pytest.raises(DaemonError, match="cannot read the daemon's reply") as refusal:
        decode_line(GetWork, line)
    assert refusal.value.value == "work.get"
