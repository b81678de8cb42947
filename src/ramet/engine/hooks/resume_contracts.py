"""Contracts: what a session is told when it goes on, gathered from what is on record. No model is asked."""

import posixpath
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from ramet.engine.answers import answers
from ramet.engine.history import references
from ramet.engine.hooks import gates, light_efforts
from ramet.engine.record import lookup, skills
from ramet.engine.spawn import trees
from ramet.engine.transaction import Transaction
from ramet.model.history.commit import estimate_tokens
from ramet.model.hooks.briefing import debrief_file_of
from ramet.model.hooks.hook import Source
from ramet.model.hooks.note import log_file_of
from ramet.model.hooks.open_items import find_open
from ramet.model.hooks.resume_contract import (
    ContractFacts,
    Said,
    compose,
    read_said,
    texts,
)
from ramet.model.hooks.worked_commands import WorkedCommand, describe, list_worked
from ramet.model.record.effort import Effort
from ramet.model.record.phase import parse_phases
from ramet.model.record.session import Session
from ramet.model.record.skill import Skill
from ramet.protocol.hooks.compactions import Contract, ShowContract
from ramet.store.hooks import resume_contracts
from ramet.store.hooks.hooks import Hooked
from ramet.store.hooks.resume_contracts import Boundary, Window
from ramet.store.record import efforts, tasks

_MOST_BOUNDARIES = 10
_MOST_WINDOWS = 100
"""How far back it is looked for what the work began with."""
_MOST_HANDED = 5
"""How many hand-offs back are still told of."""
_MOST_CALLS = 1000
_MOST_COMMAND_EFFORTS = 3
_MOST_COMMAND_SESSIONS = 10
_MOST_COMMAND_TURNS = 300
"""Of each session, from its end."""
_MOST_DEBRIEFS = 10
_AFTER_LOSS: tuple[Source, ...] = ("compact", "resume")


@answers(ShowContract)
def show(tx: Transaction, request: ShowContract) -> Contract:
    """What a session would be told now."""
    session = lookup.session(tx, request.session_id)
    text = make(tx, session, request.uncommitted)
    return Contract(session_id=session.id, text=text, tokens=estimate_tokens(text))


def for_start(tx: Transaction, hooked: Hooked, source: Source | None, uncommitted: list[str]) -> str | None:
    """What a context window is told when it opens: after a loss always, else where it goes on with somebody's work. One
    that a keeper started has its prompt, and one that a person started for nothing in particular begins empty.
    """
    session = lookup.session(tx, hooked.id)
    return make(tx, session, uncommitted) if _continues(tx, hooked, session, source) else None


def topic(tx: Transaction, hooked: Hooked, source: Source | None) -> str | None:
    """What the work is about that a context window continues; None if it starts empty, or a keeper started it."""
    session = lookup.session(tx, hooked.id)
    if hooked.is_kept or not _continues(tx, hooked, session, source):
        return None
    goal, request = _goal(tx, _windows(tx, session), lookup.effort(tx, session.effort_id))
    return request or goal


def _continues(tx: Transaction, hooked: Hooked, session: Session, source: Source | None) -> bool:
    begins_empty = session.prev_session_id is None and light_efforts.is_adhoc(lookup.effort(tx, hooked.effort_id))
    return source in _AFTER_LOSS or not (hooked.is_kept or begins_empty)


def make(tx: Transaction, session: Session, uncommitted: list[str]) -> str:
    """The resume contract of a session."""
    effort = lookup.effort(tx, session.effort_id)
    skill = find_skill(tx, effort)
    windows = _windows(tx, session)
    said = _said(tx, session, windows)
    goal, request = _goal(tx, windows, effort)
    facts = ContractFacts(
        session_id=session.id,
        effort_id=effort.id,
        task_id=session.task_id,
        skill=effort.skill,
        mode=effort.mode,
        log_file=posixpath.join(effort.task_id, log_file_of(effort.ordinal, effort.skill)),
        goal=goal,
        request=request,
        summary=next((each.summary for each in said if each.summary), None),
        rules=_rules(tx, session, skill, effort),
        phase=effort.current_phase,
        phases=labels(skill),
        open_items=_unique([*_open_items(tx, windows), *_next_steps(said)]),
        decisions=_unique(item for each in said for item in each.decisions),
        failed_approaches=_unique(item for each in said for item in each.failed_approaches),
        commands=describe(_worked(tx, [effort.id], [each for each in windows if each.effort_id == effort.id])),
        children=trees.list_live_children(tx, session),
        uncommitted=uncommitted,
        required_files=_required_files(windows, effort),
        debriefs=[f"e{each.id} {each.skill}, {each.outcome}: {path}" for each, path in _debriefs(tx, effort)],
    )
    return compose(facts, tx.hooks.contract_tokens)


def worked_before(tx: Transaction, effort: Effort) -> list[WorkedCommand]:
    """The commands that worked in the efforts of the task that came before an effort."""
    if light_efforts.is_adhoc(effort):
        return []
    earlier = efforts.list_finished_before(tx.db, effort, _MOST_COMMAND_EFFORTS)
    return _worked(tx, [each.id for each in earlier], [])


def _worked(tx: Transaction, effort_ids: Iterable[int], windows: Sequence[Window]) -> list[WorkedCommand]:
    """The commands that worked in these windows, and in the newest sessions of these efforts."""
    ended = [
        session_id
        for effort_id in effort_ids
        for session_id in resume_contracts.list_ended(tx.db, effort_id, _MOST_COMMAND_SESSIONS)
    ]
    chosen = sorted({*ended, *(window.session_id for window in windows[:_MOST_COMMAND_SESSIONS])})
    return list_worked(
        run
        for session_id in chosen
        for run in resume_contracts.list_command_runs(tx.db, tx.codec, session_id, _MOST_COMMAND_TURNS)
    )


def find_skill(tx: Transaction, effort: Effort) -> Skill | None:
    """The skill that an effort applies, as it is now."""
    return skills.find(tx, efforts.project_of(tx.db, effort.id), effort.skill)


def labels(skill: Skill | None) -> list[str]:
    """The phases of a skill, in order."""
    return [phase.label for phase in parse_phases(skill.phases if skill else None)]


def required_files(tx: Transaction, session: Session, effort: Effort) -> list[str]:
    """What has to be read before going on: what was handed on, and what the effort names."""
    return _required_files(_windows(tx, session), effort)


def debriefs(tx: Transaction, effort: Effort) -> list[str]:
    """Where earlier efforts of the same task left what came of them."""
    return [path for _, path in _debriefs(tx, effort)]


def payload(tx: Transaction, session: Session) -> dict[str, Any] | None:
    """What was handed to a session, or by it."""
    return next(iter(_handed(_windows(tx, session))), None)


def _windows(tx: Transaction, session: Session) -> list[Window]:
    return resume_contracts.list_windows(tx.db, session.id, _MOST_WINDOWS)


def _handed(windows: Sequence[Window]) -> list[dict[str, Any]]:
    return [window.payload for window in windows if window.payload is not None][:_MOST_HANDED]


def _required_files(windows: Sequence[Window], effort: Effort) -> list[str]:
    handed = [path for payload in _handed(windows)[:1] for path in texts(payload, "required_files")]
    return _unique([*handed, *texts(effort.metadata or {}, "required_files")])


def _debriefs(tx: Transaction, effort: Effort) -> list[tuple[Effort, str]]:
    """The newest first. Sessions of no particular task left nothing."""
    if light_efforts.is_adhoc(effort):
        return []
    root = lookup.project(tx, efforts.project_of(tx.db, effort.id)).path
    earlier = efforts.list_finished_before(tx.db, effort, _MOST_DEBRIEFS)
    return [(each, posixpath.join(root, each.report_file or debrief_file_of(each))) for each in earlier]


def _said(tx: Transaction, session: Session, windows: Sequence[Window]) -> list[Said]:
    """What sessions said of themselves, the newest first: the boundaries in this one's history, and what those before
    it have handed on.
    """
    spans = references.spans(tx, references.head(tx, session.branch))
    own = resume_contracts.list_boundaries(tx.db, tx.codec, spans, _MOST_BOUNDARIES)
    return [*(_boundary(each) for each in own), *(read_said(each) for each in _handed(windows))]


def _boundary(found: Boundary) -> Said:
    """The summary that a compaction left is in the agent's context already."""
    said = read_said(found.payload, found.summary)
    return replace(said, summary=None) if said.is_compaction else said


def _next_steps(said: Sequence[Said]) -> list[str]:
    """What was to be done by the last word on it; a compaction says nothing of that."""
    return next((each.next_steps for each in said if not each.is_compaction), [])


def _goal(tx: Transaction, windows: Sequence[Window], effort: Effort) -> tuple[str | None, str | None]:
    """What the effort is for, and what was asked for last where that says something else."""
    asked = (resume_contracts.list_prompts(tx.db, tx.codec, each.session_id) for each in windows)
    last = next((prompts[-1] for prompts in asked if prompts), None)
    given = None if light_efforts.is_adhoc(effort) else effort.prompt or _described(tx, effort)
    goal = given or _first_prompt(tx, windows)
    return goal, last if last != goal else None


def _described(tx: Transaction, effort: Effort) -> str | None:
    task = tasks.find(tx.db, effort.task_id)
    return None if task is None else "\n".join(text for text in (task.title, task.description) if text)


def _first_prompt(tx: Transaction, windows: Sequence[Window]) -> str | None:
    asked = (resume_contracts.list_prompts(tx.db, tx.codec, each.session_id) for each in reversed(windows))
    return next((prompts[0] for prompts in asked if prompts), None)


def _rules(tx: Transaction, session: Session, skill: Skill | None, effort: Effort) -> list[str]:
    """Whether it has to log, what the skill asks for, and the project's own rules, which are only named: each is told
    again where it holds.
    """
    has_to_log = tx.hooks.heartbeat or gates.is_asked_by(skill, effort.current_phase)
    logs = [gates.rule(is_kept=session.instance is not None)] if has_to_log else []
    asked = [each for each in (skill and skill.directives) or () if not gates.is_heartbeat(each)]
    return [*logs, *asked, *(f"see {path}" for path in effort.discovered_directives or ())]


def _open_items(tx: Transaction, windows: Sequence[Window]) -> list[str]:
    """What is left on the list that was kept last."""
    kept = (resume_contracts.list_calls(tx.db, tx.codec, each.session_id, _MOST_CALLS) for each in windows)
    return find_open(next((calls for calls in kept if calls), []))


def _unique(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))
