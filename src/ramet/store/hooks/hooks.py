"""What is remembered for hooks: sessions in one look, what those were told, and turns that only a hook told of."""

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from ramet.model.hooks.hook import Source
from ramet.model.record.session import Session
from ramet.protocol.hooks.hooks import HookProcess
from ramet.protocol.hooks.processes import OpenProcess
from ramet.store.database.connection import Connection, Row, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("hooks/hooks")


class Hooked(Struct, frozen=True, kw_only=True):
    """A session as a hook sees it."""

    id: int
    task_id: str
    effort_id: int
    agent_id: str | None
    driver: str | None
    native_id: str | None
    is_kept: bool
    """Whether a keeper holds its agent: then what was said comes from there."""
    has_ended: bool
    calls: int
    """The tools that were used since the last log entry."""
    tools_in_flight: list[str]
    loaded_files: str | None
    """As JSON; hardly any hook looks at it."""
    context_usage: float | None
    has_handed_off: bool
    pid: int | None
    last_heartbeat: str | None
    permission_tool: str | None
    """The tool for which a person is asked for permission."""
    may_ask_heartbeat: bool
    """Whether its skill says something of heartbeats."""
    missed_start: Source | None
    """How its context window began, if its agent was not told then what it is told at a start."""

    def list_files(self) -> list[str]:
        """The files in its context."""
        return [] if self.loaded_files is None else msgspec.json.decode(self.loaded_files, type=list[str])


class Provisional(Struct, frozen=True):
    """A turn that only a hook has told of."""

    message_id: int
    source_key: str
    content_hash: bytes


def find_native(db: Connection, driver: str, native_id: str) -> Hooked | None:
    """The session that a vendor's own id names."""
    return _hooked(db.one(_sql.by_native, driver=driver, native_id=native_id))


def find(db: Connection, session_id: int) -> Hooked | None:
    """A session by its id."""
    return _hooked(db.one(_sql.by_id, session_id=session_id))


def _hooked(row: Row | None) -> Hooked | None:
    if row is None:
        return None
    session_id, task_id, effort_id, agent_id, driver, native_id, is_kept, has_ended, calls, tools, *rest = row
    files, context_usage, has_handed_off, pid, last_heartbeat, permission_tool, may_ask, missed_start = rest
    return Hooked(
        id=session_id,
        task_id=task_id,
        effort_id=effort_id,
        agent_id=agent_id,
        driver=driver,
        native_id=native_id,
        is_kept=bool(is_kept),
        has_ended=bool(has_ended),
        calls=calls,
        tools_in_flight=[] if tools is None else msgspec.json.decode(tools, type=list[str]),
        loaded_files=files,
        context_usage=context_usage,
        has_handed_off=bool(has_handed_off),
        pid=pid,
        last_heartbeat=last_heartbeat,
        permission_tool=permission_tool,
        may_ask_heartbeat=bool(may_ask),
        missed_start=missed_start,
    )


def beat(
    db: Connection,
    session_id: int,
    now: str,
    *,
    calls: int,
    tools: list[str],
    permission: str | None,
    files: list[str] | None = None,
) -> None:
    """A sign of life, and what it says; `permission` is the tool for which a person is asked."""
    told = {"tools": to_json(tools or None), "files": to_json(files), "permission": permission}
    db.run(_sql.beat, id=session_id, now=now, calls=calls, **told)


def take_back(db: Connection, session_id: int, left: list[str]) -> None:
    """Calls of tools are over of which no hook has told; these are left."""
    db.run(_sql.take_back, id=session_id, left=to_json(left or None))


def set_process(db: Connection, session_id: int, pid: int, process: HookProcess | None) -> None:
    """In which process a context window is open; where only its pid is known, nobody can tell when it is gone."""
    started, host = (process.started, process.host) if process else (None, None)
    db.run(_sql.set_process, id=session_id, pid=pid, started=started, host=host)


def list_processes(db: Connection, host: str | None) -> list[OpenProcess]:
    """The processes of a machine in which sessions are open that no keeper holds."""
    rows = db.all(_sql.processes, host=host)
    return [OpenProcess(session_id=session_id, pid=pid, started=started) for session_id, pid, started in rows]


def is_amid_turn(db: Connection, session_id: int) -> bool:
    """Whether a session's last word is a person's or a tool's, so that its agent has yet to answer."""
    row = db.one(_sql.last_turn, session_id=session_id)
    return row is not None and (row[0] == "user" or row[1] is not None)


def list_answered(db: Connection, session_ids: Sequence[int]) -> set[int]:
    """Those of these sessions whose last word is their agent's own."""
    return {row[0] for row in db.all(_sql.answered, ids=to_json(list(session_ids)))}


def find_last_of_process(db: Connection, driver: str, pid: int, host: str | None, since: str) -> Session | None:
    """The session that a program had in the same process until a moment ago."""
    return db.struct(Session, _sql.last_of_process, driver=driver, pid=pid, host=host, since=since)


def list_open_within(db: Connection, session_id: int, effort_id: int) -> list[int]:
    """The sessions of a session's own sub-agents that are open."""
    return [row[0] for row in db.all(_sql.open_within, session_id=session_id, effort_id=effort_id)]


def is_within_kept(db: Connection, session_id: int) -> bool:
    """Whether a session is that of a sub-agent of an agent which a keeper holds."""
    return db.one(_sql.within_kept, session_id=session_id) is not None


def list_told(db: Connection, session_id: int) -> dict[str, str | None]:
    """The directories that a session has come to, and the directives that it was told, with their hashes."""
    return dict(db.all(_sql.told, session_id=session_id))


def tell(db: Connection, session_id: int, path: str, told: str | None) -> None:
    """A session comes to a directory, or is told a directive of a hash."""
    db.run(_sql.tell, session_id=session_id, path=path, hash=told)


def forget_told(db: Connection, session_id: int) -> None:
    """A session has its directives in its context no more."""
    db.run(_sql.forget_told, session_id=session_id)


def miss_start(db: Connection, session_id: int, source: Source) -> None:
    """The agent of a session was not told what it is told at a start."""
    db.run(_sql.miss_start, session_id=session_id, source=source)


def forget_missed_start(db: Connection, session_id: int) -> None:
    """It was told, or begins anew."""
    db.run(_sql.forget_missed_start, session_id=session_id)


def set_discovered(db: Connection, effort_id: int, directories: list[str], directives: list[str]) -> None:
    """What an effort has come to."""
    db.run(
        _sql.discover,
        id=effort_id,
        directories=to_json(directories or None),
        directives=to_json(directives or None),
    )


def list_provisional(db: Connection, session_id: int) -> list[Provisional]:
    """The turns of a session that only hooks have told of."""
    return [Provisional(*row) for row in db.all(_sql.provisional, session_id=session_id)]


def put_provisional(db: Connection, session_id: int, commit_id: int, source_key: str, now_ms: int) -> int | None:
    """A turn that a hook tells of; None where it is known."""
    row = db.one(_sql.put_provisional, session_id=session_id, commit_id=commit_id, source_key=source_key, now_ms=now_ms)
    return None if row is None else int(row[0])


def forget_provisional(db: Connection, message_id: int) -> None:
    """The transcript has a turn that a hook told of."""
    db.run(_sql.forget_provisional, id=message_id)


def is_said(db: Connection, session_id: int, content_hash: bytes, since_ms: int) -> bool:
    """Whether a person has said a content since an instant."""
    return db.one(_sql.is_said, session_id=session_id, hash=content_hash, since_ms=since_ms) is not None


def find_newest_prompt(db: Connection, session_id: int) -> tuple[int, int, bytes] | None:
    """The message that is the newest prompt, when it was, and the hash of its content."""
    row = db.one(_sql.newest_prompt, session_id=session_id)
    return None if row is None else (row[0], row[1], row[2])
