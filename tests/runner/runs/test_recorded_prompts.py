"""The prompts of runs whose branches were never rewritten are those that the record has, byte for byte."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from tests.runner.desk import Desk
from tests.runner.runs.recorded_run import WINDOWS, play

RECORD = json.loads((Path(__file__).parents[2] / "data" / "run_prompts.json").read_text())


@pytest.mark.requirement("R352")
@pytest.mark.parametrize("name", WINDOWS)
def test_a_run_that_was_never_rewritten_gets_the_prompts_that_it_always_got(desk: Desk, name: str) -> None:
    prompts = list(play(desk, name))
    if name == "narrow":
        assert prompts[-1] == RECORD["last_narrow"]
    assert [sha256(prompt.encode()).hexdigest() for prompt in prompts] == RECORD["hashes"][name]
