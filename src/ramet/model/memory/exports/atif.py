"""ATIF v1.7 (Harbor's RFC 0001): a session as the steps of a trajectory.

An agent step is a text of the agent, the tools that it then calls, and their results. Ramet knows what a whole session
used and not each step, so the metrics are those of the trajectory. A result whose call is in no open step is a step of
its own and names its call in `extra`, because a result may only refer to a call of its own step.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ramet.model.memory.exports.trajectory import SessionFacts, Turn

SCHEMA_VERSION = "ATIF-v1.7"

Step = dict[str, Any]


def head(session: SessionFacts) -> dict[str, Any]:
    """What a trajectory says before its steps."""
    agent: dict[str, Any] = {"name": session.driver or "unknown", "version": "unknown"}
    if session.model is not None:
        agent["model_name"] = session.model
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": session.native_id or session.name,
        "trajectory_id": session.name,
        "agent": agent,
    }


def steps(turns: Iterable[Turn], children: list[str]) -> Iterator[Step]:
    """The steps of a session; the last one names the trajectories of its sub-agents. There is at least one."""
    number = 0
    for step in _steps(turns):
        number += 1
        yield {"step_id": number, **step}
    if children or number == 0:
        refs = [{"subagent_trajectory_ref": [{"trajectory_id": each}]} for each in children]
        last: Step = {"step_id": number + 1, "source": "system", "message": ""}
        yield last | ({"observation": {"results": refs}} if refs else {})


def _steps(turns: Iterable[Turn]) -> Iterator[Step]:
    current: Step | None = None
    for turn in turns:
        if turn.is_tool:
            belongs = current is not None and (turn.is_call or _has_call(current, turn.call_id))
            if not belongs:
                if current is not None:
                    yield current
                current = _agent_step(turn, "")
            assert current is not None  # noqa: S101
            _add_tool(current, turn)
            continue
        if current is not None:
            yield current
            current = None
        if turn.role == "assistant":
            current = _agent_step(turn, turn.text)
        else:
            source = "user" if turn.role == "user" else "system"
            yield {"timestamp": turn.at, "source": source, "message": turn.text}
    if current is not None:
        yield current


def _agent_step(turn: Turn, message: str) -> Step:
    step: Step = {"timestamp": turn.at, "source": "agent", "message": message}
    return step | ({"reasoning_content": turn.reasoning} if turn.reasoning else {})


def _has_call(step: Step, call_id: str | None) -> bool:
    return call_id is not None and any(call["tool_call_id"] == call_id for call in step.get("tool_calls", ()))


def _add_tool(step: Step, turn: Turn) -> None:
    if turn.is_call:
        calls = step.setdefault("tool_calls", [])
        calls.append(
            {
                "tool_call_id": turn.call_id or f"call-{len(calls) + 1}",
                "function_name": turn.tool_name or "unknown",
                "arguments": _arguments(turn.text),
            }
        )
        return
    result: dict[str, Any] = {"content": turn.text}
    if _has_call(step, turn.call_id):
        result["source_call_id"] = turn.call_id
    extra = {"tool_name": turn.tool_name, "call_id": turn.call_id, "status": turn.payload.get("status")}
    result["extra"] = {name: value for name, value in extra.items() if value is not None}
    step.setdefault("observation", {"results": []})["results"].append(result)


def _arguments(text: str) -> dict[str, Any]:
    """Arguments are an object; a text that is none is the one argument `input`."""
    try:
        parsed = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {"input": text}
    return parsed if isinstance(parsed, dict) else {"input": parsed}


def tail(session: SessionFacts, step_count: int) -> dict[str, Any]:
    """What a trajectory says after its steps."""
    spent = session.spent
    metrics: dict[str, Any] = {"total_steps": step_count}
    if spent.calls:
        metrics |= {
            "total_prompt_tokens": spent.prompt_tokens,
            "total_completion_tokens": spent.output_tokens,
            "total_cached_tokens": spent.cache_read_tokens,
        }
    if spent.cost_usd is not None:
        metrics |= {"total_cost_usd": spent.cost_usd, "extra": {"is_cost_estimated": spent.is_estimated}}
    facts = {
        "session": session.name,
        "effort": f"e{session.effort_id}",
        "task": session.task_id,
        "project": session.project,
        "skill": session.skill,
        "title": session.title,
        "started_at": session.created_at,
        "ended_at": session.ended_at,
        "outcome": session.outcome,
        "purged_at": session.purged_at,
    }
    kept = {name: value for name, value in facts.items() if value is not None}
    return {"final_metrics": metrics, "extra": {"ramet": kept}}
