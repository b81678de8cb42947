"""A tool call in a few words."""

import json

import pytest

from ramet.model.record.activity import describe_call


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("Bash", {"command": "make test", "description": "Run the tests"}, "Bash: make test"),
        ("Bash", {"command": "cd /home/dev/shop && make\ntest"}, "Bash: make test"),
        ("shell", {"command": ["bash", "-lc", "ls -l"]}, "shell: ls -l"),
        ("Edit", {"file_path": "/w/e1/shop/cart.py", "old_string": "a"}, "Edit: shop/cart.py"),
        ("Read", {"file_path": "cart.py"}, "Read: cart.py"),
        ("mcp__ramet__log", {"text": "done"}, "ramet log: done"),
        ("TodoWrite", {"todos": [{"content": "look"}]}, "TodoWrite"),
        ("Bash", {"command": ""}, "Bash"),
        ("Bash", {"command": 3}, "Bash"),
        ("Bash", ["ls"], "Bash"),
    ],
)
def test_a_call_is_described_by_its_most_telling_argument(tool: str, given: object, said: str) -> None:
    assert describe_call(tool, json.dumps(given)) == said


def test_an_input_that_is_no_json_leaves_the_tools_name() -> None:
    assert describe_call("apply_patch", "*** Begin Patch") == "apply_patch"


def test_a_description_is_short() -> None:
    assert len(describe_call("Bash", json.dumps({"command": "x" * 5000}))) == 200
