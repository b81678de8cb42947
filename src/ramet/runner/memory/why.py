"""`memory.why`: which commit, edit, prompt, effort and task the lines of a file come from."""

import time
from collections.abc import Sequence

from ramet.errors import Forbidden, InvalidParams
from ramet.model.instant import to_datetime
from ramet.model.memory.attribution import Attributed, FileLine
from ramet.model.memory.edit import EditMaker
from ramet.protocol.memory.edits import DescribeEdit
from ramet.protocol.memory.why import AskWhy, Certainty, Why, WhyEdit, WhyRange, WhySource
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.work.attempts import WorkChain
from ramet.runner import projects
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.runner.memory import line_facts
from ramet.runner.memory.call_edits import read_edits
from ramet.runner.memory.checkouts import Checkout, open_checkout, read_file
from ramet.runner.memory.redacted_lines import redact_lines
from ramet.vendors.contract.edits.calls import decode, text

_READING_SECONDS = 5.0
_MOST_SOURCES = 200
_LONGEST_PROMPT = 2000
_LONGEST_COMMAND = 500

_Key = tuple[int, int | None]
"""What lines have in common that come from the same place: the effort, and the message of the edit."""


@answers(AskWhy)
def why(machine: Machine, request: AskWhy) -> Why:
    """The operation `memory.why`."""
    checkout = open_checkout(machine, request.path)
    _admit(machine, request, checkout)
    file = read_file(checkout, request.path)
    total = len(file.text.removesuffix("\n").split("\n")) if file.text else 0
    first, last = _range(request, total)
    left = read_edits(machine, checkout.site, checkout.prefix, _READING_SECONDS)
    facts = line_facts.look(machine, checkout, file, time.time_ns() // 1_000_000)
    lines = [line for line in facts.lines if first <= line.number <= last]
    keys, ranges = _group(lines, facts.attributed)
    makers = {maker.effort_id: maker for maker in facts.found.makers}
    known = sum(line.number in facts.attributed for line in lines)
    redactor = machine.redactor_in(str(checkout.site.root))
    by_number = facts.attributed
    edits = {_key(attributed): attributed for attributed in by_number.values()}
    return Why(
        path=file.path,
        project_id=checkout.site.project.id,
        lines=len(lines),
        agent_lines=known,
        unknown_lines=len(lines) - known,
        ranges=ranges,
        sources=[_source(machine, makers[key[0]], edits[key]) for key in keys[:_MOST_SOURCES]],
        unread_sessions=left,
        text=redact_lines(redactor, lines[0].text) if len(lines) == 1 else None,
    )


def _admit(machine: Machine, request: AskWhy, checkout: Checkout) -> None:
    """An agent can only ask about its own project."""
    if request.session_id is None:
        return
    session = machine.ask(GetSession(session_id=request.session_id))
    own = machine.ask(WorkChain(effort_id=session.effort_id, host=machine.host)).project_path
    if projects.find(machine, own).project.id != checkout.site.project.id:
        raise Forbidden(f"session {session.id} cannot access {request.path}", field="path", value=request.path)


def _range(request: AskWhy, total: int) -> tuple[int, int]:
    first = request.first or 1
    last = request.last or request.first or total
    if request.first is not None and (last < first or first > total):
        there = f"the file has {total} lines" if first > total else f"{last} is before {first}"
        fix = f"give a line from 1 to {total}" if total else "the file is empty"
        raise InvalidParams(f"there is no line {first}: {there}", field="first", value=first, fix=fix)
    return first, min(last, total)


def _key(attributed: Attributed) -> _Key:
    return attributed.effort_id, None if attributed.edit is None else attributed.edit.message_id


def _group(lines: Sequence[FileLine], attributed: dict[int, Attributed]) -> tuple[list[_Key], list[WhyRange]]:
    keys: dict[_Key, int] = {}
    ranges: list[WhyRange] = []
    for line in lines:
        found = attributed.get(line.number)
        source = None if found is None else keys.setdefault(_key(found), len(keys))
        last = ranges[-1] if ranges else None
        first = line.number
        if last is not None and (last.git_commit, last.source) == (line.commit, source):
            first = ranges.pop().first
        certainty: Certainty = "unknown" if found is None else "effort" if found.edit is None else "edit"
        ranges.append(
            WhyRange(first=first, last=line.number, git_commit=line.commit, certainty=certainty, source=source)
        )
    return list(keys), ranges


def _source(machine: Machine, maker: EditMaker, attributed: Attributed) -> WhySource:
    edit = attributed.edit
    message_id = None if edit is None else edit.message_id
    described = machine.ask(DescribeEdit(effort_id=maker.effort_id, message_id=message_id))
    origin = described.origin
    shown = None
    if edit is not None:
        shown = WhyEdit(
            kind=edit.kind,
            session_id=edit.session_id,
            driver=origin.driver if origin else None,
            tool=origin.tool if origin else None,
            at=to_datetime(edit.at_ms),
            commit=origin.commit if origin else None,
            command=_command(described.given) if edit.kind == "shell" else None,
        )
    return WhySource(
        effort_id=maker.effort_id,
        task_id=maker.task_id,
        task_title=maker.task_title,
        skill=maker.skill,
        driver=(origin.driver if origin else None) or maker.driver,
        session_id=origin.session_id if origin else None,
        edit=shown,
        prompt=(described.prompt or "")[:_LONGEST_PROMPT] or None,
        decisions=described.decisions,
        notes=described.notes,
    )


def _command(given: str | None) -> str | None:
    """The command that a tool was given, as far as it can be read there."""
    values = decode(given or "")
    words = values.get("command")
    if isinstance(words, list):
        command: str | None = " ".join(word for word in words if isinstance(word, str))
    else:
        command = text(values, "command", "cmd", "script") or given
    return (command or "")[:_LONGEST_COMMAND] or None
