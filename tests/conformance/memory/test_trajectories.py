"""ATIF documents validate against their schema, and nothing that a session said gets out of its block."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tests.conformance import family, queue_worker
from tests.conformance.memory import archive_steps as steps
from tests.world import World

SCHEMA = json.loads(Path("tests/data/atif-1.7.schema.json").read_text())


def export(world: World, folder: Path, form: str, **scope: Any) -> str:
    path = folder / f"out.{form}"
    world.call("memory.export", path=str(path), format=form, **(scope or {"all": True}))
    return path.read_text()


def rules_broken(document: dict[str, Any]) -> list[str]:
    """What a schema cannot say."""
    broken = []
    if [step["step_id"] for step in document["steps"]] != list(range(1, len(document["steps"]) + 1)):
        broken.append("step_ids")
    children = document.get("subagent_trajectories", [])
    names = [child["trajectory_id"] for child in children]
    if len(names) != len(set(names)):
        broken.append("trajectory_ids")
    for step in document["steps"]:
        calls = {call["tool_call_id"] for call in step.get("tool_calls", [])}
        for result in step.get("observation", {}).get("results", []):
            if "source_call_id" in result and result["source_call_id"] not in calls:
                broken.append("source_call_id")
            broken += [
                "reference" for each in result.get("subagent_trajectory_ref", []) if each["trajectory_id"] not in names
            ]
    return broken + [each for child in children for each in rules_broken(child)]


@pytest.mark.requirement("R398")
def test_atif_documents_validate_and_embed_the_trajectories_of_sub_agents(world: World, tmp_path: Path) -> None:
    above = steps.fill(world)
    documents = [json.loads(line) for line in export(world, tmp_path, "atif").splitlines()]
    validator = Draft202012Validator(SCHEMA)
    for document in documents:
        assert list(validator.iter_errors(document)) == []
        assert rules_broken(document) == []
    (parent,) = [each for each in documents if each["trajectory_id"] == f"s{above.session.id}"]
    assert len(parent["subagent_trajectories"]) == 1
    (acting,) = [step for step in parent["steps"] if step.get("tool_calls")]
    assert acting["message"] == "I look around"
    assert acting["reasoning_content"] == "I should list the files"
    (call,) = acting["tool_calls"]
    assert (call["function_name"], call["arguments"]) == ("Bash", {"command": "ls"})
    (result,) = acting["observation"]["results"]
    assert (result["source_call_id"], result["content"]) == (call["tool_call_id"], "a.py\nb.py")
    assert parent["final_metrics"]["total_prompt_tokens"] == 70
    assert parent["final_metrics"]["total_cost_usd"] == 0.5


def test_the_schema_refuses_what_the_format_does_not_allow() -> None:
    validator = Draft202012Validator(SCHEMA)
    good: dict[str, Any] = {
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "a", "version": "1"},
        "steps": [{"step_id": 1, "source": "user", "message": "hi"}],
    }
    assert validator.is_valid(good)
    for bad in (
        {**good, "schema_version": "ATIF-v9"},
        {**good, "steps": []},
        {**good, "unknown": 1},
        {**good, "steps": [{"step_id": 1, "source": "user", "message": "hi", "tool_calls": []}]},
        {**good, "steps": [{"step_id": 0, "source": "user", "message": "hi"}]},
        {**good, "subagent_trajectories": [good]},
    ):
        assert not validator.is_valid(bad)


@pytest.mark.requirement("R398")
def test_markdown_keeps_hostile_text_inside_its_block(world: World, tmp_path: Path) -> None:
    hostile = "look:\n`````\n</details>\n# HACKED\n```\n[x](http://evil)"
    above = family.parent(world, prompt="do it")
    queue_worker.report(world, above, queue_worker.text(hostile))
    queue_worker.complete(world, above)
    world.sql("UPDATE sessions SET title = :title", title="# big\n</summary> `x`")
    text = export(world, tmp_path, "markdown", session_id=above.session.id)
    outside = re.sub(r"(?ms)^(`{3,})text\n.*?^\1$", "", text)
    assert "HACKED" in text
    assert "HACKED" not in outside
    assert "evil" not in outside
    assert "</summary>" not in outside
    assert text.count("\n# ") == 1  # inside the block
    assert text.startswith(f"# s{above.session.id}: ")
