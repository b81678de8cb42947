"""What the agent of a run's line is told: its task, and what the lines before it said.

A sequential line is given the conversation, a parallel one what the lines left that it depends on. The later reviews of
a chain are told what is still open, and what has changed since the last one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ramet.model.record import prompt as prompting
from ramet.model.record.effort import NOT_FAILURES, Effort
from ramet.model.record.prompt import Composed
from ramet.model.runs.conversation import (
    CURRENT_TASK,
    ContextAccumulator,
    TurnRole,
    escape,
    render_prompt,
    render_turns,
    tell_failure,
)
from ramet.model.runs.review import Finding
from ramet.model.seal import quote_headings

_BARE_SKILL = "do"
"""Its lines are told nothing but what the file says."""
_HEADING = re.compile(r"^([ \t]*)(\\*(?:✗ )?\[Task [^\]\n]*\] (?:output|failed):)", re.MULTILINE)
_MOST_FINDINGS = 50
_FINDING_CHARACTERS = 500


Said = tuple[TurnRole, str]
"""Who said what."""


def compose_sequential(effort: Effort, said: Sequence[Said], *, is_cut: bool) -> Composed:
    """What was said before it, as far as the window holds it, and the current task; the bare task if nothing was."""
    task = effort.prompt or ""
    return _compose(effort, render_turns(said), render_prompt(said, task), is_cut=is_cut)


def retell(lines: Sequence[Effort], max_tokens: int) -> tuple[list[Said], bool]:
    """The conversation of lines of which none was saved, as far as the window holds it; whether it was cut."""
    window = ContextAccumulator(max_tokens)
    said = [turn for line in lines for turn in _turns(line)]
    window.add_turns(said)
    is_cut = len(window.turns) < len(said) or any(turn.metadata for turn in window.turns)
    return [(turn.role, turn.content) for turn in window.turns], is_cut


def _turns(line: Effort) -> Iterator[tuple[str, str, datetime]]:
    ended = line.finished_at or line.created_at
    yield "user", line.prompt or "", ended
    if line.outcome not in NOT_FAILURES:
        yield "system", tell_failure(line.reason or line.outcome), ended
    elif line.output_content:
        yield "assistant", line.output_content, ended


def compose_parallel(effort: Effort, needed: Sequence[Effort], max_tokens: int) -> Composed:
    """What the lines left that this one depends on, and which of them failed; the bare task where there are none."""
    texts = {line.id: _quote(line.output_content or "") for line in needed if line.outcome in NOT_FAILURES}

    def render(bodies: Mapping[int, str]) -> Composed:
        parts = [_forward(line, bodies.get(line.id)) for line in needed]
        context = "Context from completed dependencies:\n" + "\n\n".join(parts) if parts else ""
        task = f"{context}\n\n[{CURRENT_TASK}]\n{escape(effort.prompt or '')}" if context else effort.prompt or ""
        return _compose(effort, context, task, is_cut=bodies != texts)

    return prompting.render_within(max_tokens, texts, render)


def say_round(last: Effort, head: str | None, findings: Sequence[Finding]) -> str:
    """What a later review looks at, and nothing else: what changed since the last one, and what that left open."""
    lead = f"This is not the first review: e{last.id} has reviewed the work before. Review only these points:"
    points = []
    if last.place.git_head and head and head != last.place.git_head:
        points.append(f"- the changes since then: `git log -p {last.place.git_head}..{head}`")
    elif last.place.git_head:
        points.append(f"- the changes since {last.place.git_head}, of which none were committed")
    ranked = sorted(findings, key=lambda finding: finding.severity)  # blockers, follow-ups, nits
    points += [_name(finding) for finding in ranked[:_MOST_FINDINGS]]
    if len(findings) > _MOST_FINDINGS:
        points.append(f"- and {len(findings) - _MOST_FINDINGS} more findings of the last review")
    rule = (
        "Repeat each finding that is still open with its severity and its mark, as in `- BLOCKER: [f:0123456789ab] …`; "
        "leave out resolved ones. Add a new finding only if the changes since then caused it."
    )
    return "\n".join([lead, *points, rule])


def _compose(effort: Effort, context: str, prompt: str, *, is_cut: bool) -> Composed:
    """With what the skill asks for in front; a line's own skill asks for nothing."""
    lead = "" if effort.skill == _BARE_SKILL else prompting.lead(effort)
    return Composed(
        prompt=f"{lead}\n\n{prompt}" if lead else prompt,
        instruction=effort.prompt or "",
        context="\n\n".join(part for part in (lead, context) if part),
        cut=is_cut,
    )


def _forward(other: Effort, output: str | None) -> str:
    if other.outcome in NOT_FAILURES:
        return f"[Task {other.line.key}] output:\n{quote_headings(other.output_content or '', output) or '(nothing)'}"
    reason = quote_headings(_quote(other.reason or other.outcome or "no reason was given"))
    return f"✗ [Task {other.line.key}] failed: {reason}"


def _quote(text: str) -> str:
    """What a line said, so that nothing in it can be taken for a heading of ours."""
    return _HEADING.sub(r"\1\\\2", escape(text))


def _name(finding: Finding) -> str:
    text = " ".join(finding.text.split())
    shown = f"{text[:_FINDING_CHARACTERS]}…" if len(text) > _FINDING_CHARACTERS else text
    return f"- open: {finding.severity}: [f:{finding.fingerprint}] {shown}"
