"""A random life of a database, compared after every step with the plain model. Each database has a test of its own."""

import json
import os
from datetime import datetime
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.properties.plain_model import OWN_SKILLS, Model, Row
from tests.world import World

from ramet.errors import IdempotencyConflict, RametError
from ramet.model.instant import from_datetime

NOBODY = 987_654

PATHS = ("/p", "/p/", "/p/sub", "/p/sub/../sub/deep", "/pq", "/P", "relative")
TASKS = ("/p/t", "/p/sub/t", "/p/sub/deep/t/", "/pq/t", "/nowhere/t", "/p/T é", "p/t")
AGENTS = ("ada", "Ada", "_b")
LABELS = (
    *("1: Prepare", "2: Build", "3: Test", "4: Finish", "1: Look", "1: Check", "1.A: Sign", "2: Ship"),
    *(
        "1",
        "2",
        "3",
        "1.1",
        "1.2: More",
        "1.B",
        "2.1: Sketch",
        "2.7",
        "9: Nowhere",
        "Alpha",
        "Beta",
        "Gamma",
        "2: Other",
    ),
)
TEXTS = ("", "one", "one, Two", "two,three", "ÄÖ", "50% off_!")
OUTCOMES = ("success", "error", "stuck", "dropped")
PAYLOADS: tuple[Row | None, ...] = (None, {}, {"files": ["a"], "note": "ü"})

COMPARED_EVENTS = (
    *("project.added", "task.added", "effort.started", "effort.phase", "effort.finished", "session.started"),
    *("session.ended", "session.heartbeat", "message.appended", "agent.assigned", "agent.released"),
)

NATIVE = {"driver": "claude", "native_id": "n1"}

DAY_MS = 86_400_000


def bounded(examples: int) -> settings:
    """The same examples every time; RAMET_DEEP asks for that many times as many, new ones each time."""
    deep = int(os.environ.get("RAMET_DEEP", "0"))
    return settings(
        max_examples=examples * max(deep, 1),
        stateful_step_count=60 if deep else 40,
        derandomize=not deep,
        database=None,
        print_blob=True,
    )


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


class Life(RuleBasedStateMachine):
    """The rules: what clients may ask, well or badly. A subclass says on which database."""

    def open(self) -> World:
        raise NotImplementedError

    def reopen(self, world: World) -> World:
        """The same database after a restart."""
        raise NotImplementedError

    def close(self, world: World) -> None:
        raise NotImplementedError

    def __init__(self) -> None:
        super().__init__()
        self.world = self.open()
        self.model = Model()
        self.kept: dict[str, tuple[int, str, Row, Any]] = {}

    def teardown(self) -> None:
        try:
            report = self.world.call("db.check")
            assert report.findings == []
        finally:
            self.close(self.world)

    @initialize()
    def begin(self) -> None:
        self.ask("db.project.upsert", {"path": "/p"})
        self.ask("db.task.upsert", {"dir_path": "/p/t"})
        self.ask("db.task.upsert", {"dir_path": "/p/u"})
        project = self.model.projects["/p"]["id"]
        for name, phases in OWN_SKILLS.items():
            self.ask("db.skills.upsert", {"project_id": project, "name": name, "phases": phases})
        for skill in ("implement", "release", "do"):
            self.ask("db.effort.start", {"task_id": "/p/t", "skill": skill})
        one, two, _ = sorted(self.model.efforts)
        self.ask("db.session.start", {"task_id": "/p/t", "effort_id": one, "agent_id": "ada"})
        self.ask("db.session.start", {"task_id": "/p/t", "effort_id": two, "agent_id": "Ada"} | NATIVE)

    # Asking, and predicting the answer.

    def ask(self, method: str, params: Row, key: str | None = None) -> None:
        """One request: refused exactly when the model says so, and as it says; else done."""
        params = {name: value for name, value in params.items() if value is not None or name == "effort_id"}
        if key is not None and key not in self.kept:
            params["idempotency_key"] = key
        self.model.now = self.world.clock.now_ms()
        refusals = self.model.refusals(method, params)
        try:
            reply = msgspec.to_builtins(self.world.call(method, **params))
        except RametError as error:
            self.refused(error, refusals, f"{method} {params}")
            return
        assert not refusals, f"{method} {params}: done, expected {refusals}"
        self.model.apply(method, params, reply)
        if "idempotency_key" in params:
            self.kept[params["idempotency_key"]] = (self.model.now, method, params, reply)

    def refused(self, error: RametError, predicted: set[str], asked: str) -> None:
        assert error.code in predicted, f"{asked}: {error.code}, expected {predicted or 'success'}"
        assert error.fix

    def draw_id(self, data: st.DataObject, rows: dict[int, Row]) -> int:
        """Mostly what is going on, sometimes what is over, rarely what never was."""
        going_on = [row_id for row_id, row in rows.items() if row.get("lifecycle") == "active"]
        return data.draw(st.sampled_from([*going_on[::-1] * 3, *rows, NOBODY]))

    def draw_session(self, data: st.DataObject) -> int | str:
        sessions = self.model.sessions
        still_open = [row_id for row_id, row in sessions.items() if row["ended_at"] is None]
        native = [f"{row['driver']}:{row['native_id']}" for row in sessions.values() if row["native_id"]]
        refs: list[int | str] = [*still_open[::-1] * 3, *native, *sessions, NOBODY, "claude:nobody"]
        return data.draw(st.sampled_from(refs))

    def draw_key(self, data: st.DataObject) -> str | None:
        number = data.draw(st.integers(0, 999))
        return f"key {number}" if number % 4 == 3 else None

    # The rules.

    @rule(data=st.data(), path=st.sampled_from(PATHS), name=maybe(st.sampled_from(TEXTS)))
    def upsert_project(self, data: st.DataObject, path: str, name: str | None) -> None:
        self.ask("db.project.upsert", {"path": path, "name": name}, self.draw_key(data))

    @rule(
        data=st.data(),
        path=st.sampled_from(TASKS),
        title=maybe(st.sampled_from(TEXTS)),
        workspace=maybe(st.sampled_from(TEXTS)),
        keywords=maybe(st.sampled_from(TEXTS)),
    )
    def upsert_task(
        self, data: st.DataObject, path: str, title: str | None, workspace: str | None, keywords: str | None
    ) -> None:
        params = {"dir_path": path, "title": title, "workspace": workspace, "keywords": keywords}
        self.ask("db.task.upsert", params, self.draw_key(data))

    @rule(data=st.data(), with_session=st.booleans(), metadata=st.sampled_from(PAYLOADS))
    def start_effort(self, data: st.DataObject, with_session: bool, metadata: Row | None) -> None:
        params = {
            "task_id": data.draw(st.sampled_from([*sorted(self.model.tasks), "/p/t/", "/p/none"])),
            "skill": data.draw(
                st.sampled_from(["implement", "implement", "explore", "do", "release", "named", "juggle"])
            ),
            "mode": data.draw(st.sampled_from([None, "fast"])),
            "metadata": metadata,
            "session_id": self.draw_session(data) if with_session else None,
        }
        self.ask("db.effort.start", params, self.draw_key(data))

    @rule(data=st.data(), outcome=st.sampled_from(OUTCOMES), keywords=maybe(st.sampled_from(TEXTS)))
    def finish_effort(self, data: st.DataObject, outcome: str, keywords: str | None) -> None:
        effort_id = self.draw_id(data, self.model.efforts)
        params = {"effort_id": effort_id, "outcome": outcome, "keywords": keywords}
        self.ask("db.effort.finish", params, self.draw_key(data))

    @rule(
        data=st.data(),
        label=st.sampled_from(LABELS),
        reason=st.sampled_from([None, None, " ", "because"]),
        proof=st.sampled_from([None, {}, {"tests": 3}, {"tests": "3"}, {"tests": 1.5, "url": "u"}, {"url": "u"}]),
    )
    def enter_phase(self, data: st.DataObject, label: str, reason: str | None, proof: Row | None) -> None:
        effort_id = self.draw_id(data, self.model.efforts)
        params = {"effort_id": effort_id, "label": label, "reason": reason, "proof": proof}
        self.ask("db.effort.phase", params, self.draw_key(data))

    @rule(data=st.data())
    def enter_the_next_phase(self, data: st.DataObject) -> None:
        effort_id = self.draw_id(data, self.model.efforts)
        current = self.model.efforts.get(effort_id, {}).get("current_phase")
        following = str(int(current.split(":")[0].split(".")[0]) + 1) if current and current[0].isdigit() else "1"
        params = {"effort_id": effort_id, "label": following, "proof": {"tests": 1, "url": "u"}}
        self.ask("db.effort.phase", params, self.draw_key(data))

    @rule(
        data=st.data(),
        agent=maybe(st.sampled_from(AGENTS)),
        links=st.sampled_from(["", "", "prev", "parent", "parent prev"]),
        native=st.sampled_from([None, None, None, "n1", "n2"]),
        driver=st.sampled_from([None, "claude", "claude", "codex"]),
        pid=maybe(st.integers(1, 9)),
    )
    def start_session(
        self,
        data: st.DataObject,
        agent: str | None,
        links: str,
        native: str | None,
        driver: str | None,
        pid: int | None,
    ) -> None:
        effort_id = self.draw_id(data, self.model.efforts)
        own_task = self.model.efforts.get(effort_id, {}).get("task_id", "/p/t")
        params = {
            "task_id": data.draw(st.sampled_from([own_task] * 8 + ["/p/u", "/p/none"])),
            "effort_id": effort_id,
            "agent_id": agent,
            "driver": driver,
            "native_id": native,
            "pid": pid,
            "prev_session_id": self.draw_session(data) if "prev" in links else None,
            "parent_session_id": self.draw_session(data) if "parent" in links else None,
        }
        self.ask("db.session.start", params, self.draw_key(data))

    @rule(data=st.data(), agent=st.sampled_from(AGENTS), pid=maybe(st.integers(1, 9)))
    def open_the_same_window_again(self, data: st.DataObject, agent: str | None, pid: int | None) -> None:
        known = [row for row in self.model.sessions.values() if row["native_id"]]
        window = data.draw(st.sampled_from(known))
        params = {
            "task_id": window["task_id"],
            "effort_id": data.draw(st.sampled_from([window["effort_id"]] * 3 + list(self.model.efforts))),
            "agent_id": data.draw(st.sampled_from([None, window["agent_id"], agent])),
            "pid": pid,
        }
        native = {"driver": window["driver"], "native_id": window["native_id"]}
        self.ask("db.session.start", params | native, self.draw_key(data))

    @rule(data=st.data(), agent=maybe(st.sampled_from(AGENTS)), native=st.sampled_from([None, "n3", "n4"]))
    def start_a_child(self, data: st.DataObject, agent: str | None, native: str | None) -> None:
        parent = data.draw(st.sampled_from(list(self.model.sessions.values())))
        params = {
            "task_id": parent["task_id"],
            "effort_id": data.draw(st.sampled_from([parent["effort_id"]] * 3 + list(self.model.efforts))),
            "agent_id": agent,
            "parent_session_id": parent["id"],
            "driver": "claude",
            "native_id": native,
        }
        self.ask("db.session.start", params, self.draw_key(data))

    @rule(data=st.data())
    def finish_what_is_held(self, data: st.DataObject) -> None:
        held = [row["effort_id"] for row in self.model.agents.values() if row["effort_id"]]
        self.ask("db.effort.finish", {"effort_id": data.draw(st.sampled_from([*held, NOBODY]))}, self.draw_key(data))

    @precondition(lambda self: any(row["effort_id"] for row in self.model.agents.values()))
    @rule(data=st.data(), is_named=st.booleans())
    def continue_in_a_new_window(self, data: st.DataObject, is_named: bool) -> None:
        holders = [row for row in self.model.agents.values() if row["effort_id"]]
        agent = data.draw(st.sampled_from(holders))
        own = [row["id"] for row in self.model.sessions.values() if row["agent_id"] == agent["id"]]
        params = {
            "task_id": self.model.efforts[agent["effort_id"]]["task_id"],
            "effort_id": agent["effort_id"],
            "agent_id": agent["id"],
            "prev_session_id": data.draw(st.sampled_from(own)) if is_named and own else None,
        }
        self.ask("db.session.start", params, self.draw_key(data))

    @rule(data=st.data(), payload=st.sampled_from(PAYLOADS), outcome=st.sampled_from(OUTCOMES))
    def finish_session(self, data: st.DataObject, payload: Row | None, outcome: str) -> None:
        params = {"session_id": self.draw_session(data), "dehydration_payload": payload, "outcome": outcome}
        self.ask("db.session.finish", params, self.draw_key(data))

    @rule(data=st.data())
    def bind_effort(self, data: st.DataObject) -> None:
        params = {"session_id": self.draw_session(data), "effort_id": self.draw_id(data, self.model.efforts)}
        self.ask("db.session.bindEffort", params, self.draw_key(data))

    @rule(data=st.data())
    def beat(self, data: st.DataObject) -> None:
        self.ask("db.session.heartbeat", {"session_id": self.draw_session(data)}, self.draw_key(data))

    @rule(data=st.data(), usage=st.sampled_from([0.0, 0.25, 1.0]), files=st.lists(st.sampled_from(["/a", "/b", "/ä"])))
    def update_session(self, data: st.DataObject, usage: float, files: list[str]) -> None:
        session = self.draw_session(data)
        self.ask("db.session.updateContextUsage", {"session_id": session, "usage": usage}, self.draw_key(data))
        self.ask("db.session.updateLoadedFiles", {"session_id": session, "files": files}, self.draw_key(data))

    @rule(
        data=st.data(),
        role=st.sampled_from(["user", "assistant", "system", "tool"]),
        content=st.sampled_from(["hello", "hello", "", "a\0b", "🙂" * 40, "x" * 5000]),
    )
    def append_message(self, data: st.DataObject, role: str, content: str) -> None:
        params = {"session_id": self.draw_session(data), "role": role, "content": content}
        self.ask("db.messages.append", params, self.draw_key(data))

    @rule(
        data=st.data(),
        agent=st.sampled_from(AGENTS),
        label=maybe(st.sampled_from(TEXTS)),
        claims=maybe(st.lists(st.sampled_from(["plan", "do"]), max_size=2)),
    )
    def register_agent(self, data: st.DataObject, agent: str, label: str | None, claims: list[str] | None) -> None:
        self.ask("db.agents.register", {"id": agent, "label": label, "claims": claims}, self.draw_key(data))

    @rule(data=st.data(), agent=st.sampled_from([*AGENTS, "nobody"]), release=st.booleans())
    def assign_agent(self, data: st.DataObject, agent: str, release: bool) -> None:
        effort_id = None if release else self.draw_id(data, self.model.efforts)
        self.ask("db.agents.assign", {"id": agent, "effort_id": effort_id}, self.draw_key(data))

    # Keys, time and restarts.

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def repeat_with_the_same_key(self, data: st.DataObject) -> None:
        _, method, params, reply = self.kept[data.draw(st.sampled_from(sorted(self.kept)))]
        assert msgspec.to_builtins(self.world.call(method, **params)) == reply

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def use_a_key_for_something_else(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.kept)))
        with pytest.raises(IdempotencyConflict):
            self.world.call("db.agents.register", id="thief", idempotency_key=key)

    @rule(milliseconds=st.sampled_from([1, 999, 60_000, 6 * 60_000, DAY_MS]))
    def skip_time(self, milliseconds: int) -> None:
        self.world.clock.now += milliseconds

    @rule()
    def forget_old_keys(self) -> None:
        self.world.clock.now += 4 * DAY_MS
        now = self.world.clock.now_ms()
        self.world.db.begin()
        self.world.engine.forget_old_replies(self.world.db, now, 1000)
        self.world.db.commit()
        self.kept = {key: entry for key, entry in self.kept.items() if entry[0] >= now - 7 * DAY_MS}

    @rule()
    def restart(self) -> None:
        self.world = self.reopen(self.world)

    # What must hold after every step.

    @invariant()
    def projects_and_tasks_are_the_models(self) -> None:
        assert self.listed("db.project.list") == sorted(self.model.projects.values(), key=lambda row: row["id"])
        tasks = self.listed("db.task.list")
        expected = [self.summary(task) for task in self.model.tasks.values()]
        expected.sort(key=lambda row: row["dir_path"].encode())
        expected.sort(key=lambda row: row["last_activity"] or row["created_at"], reverse=True)
        assert tasks == expected

    def summary(self, task: Row) -> Row:
        efforts = [effort for effort in self.model.efforts.values() if effort["task_id"] == task["dir_path"]]
        efforts.sort(key=lambda effort: effort["ordinal"])
        return task | {
            "effort_count": len(efforts),
            "active_count": sum(effort["lifecycle"] == "active" for effort in efforts),
            "latest_skill": efforts[-1]["skill"] if efforts else None,
            "last_activity": efforts[-1]["created_at"] if efforts else None,
        }

    @invariant()
    def efforts_and_phases_are_the_models(self) -> None:
        for path in self.model.tasks:
            expected = [effort for effort in self.model.efforts.values() if effort["task_id"] == path]
            expected.sort(key=lambda effort: effort["ordinal"])
            listed = self.listed("db.effort.list", task_id=path)
            assert [only(row, effort) for row, effort in zip(listed, expected, strict=True)] == expected
        rows = self.world.sql("SELECT effort_id, phase_label, reason, proof FROM phase_history ORDER BY id")
        found = [(*row[:3], None if row[3] is None else decoded(row[3])) for row in rows]
        assert found == self.model.phases

    @invariant()
    def sessions_and_messages_are_the_models(self) -> None:
        expected = sorted(self.model.sessions.values(), key=lambda row: row["id"], reverse=True)
        listed = self.listed("db.session.find")
        assert [only(row, session) for row, session in zip(listed, expected, strict=True)] == expected
        still_open = [row["id"] for row in expected if row["ended_at"] is None]
        assert [row["id"] for row in self.listed("db.session.find", open=True)] == still_open
        for session_id in self.model.sessions:
            turns = self.listed("db.messages.list", session_id=session_id)
            assert [(turn["role"], turn["content"]) for turn in turns] == self.model.messages[session_id]

    @invariant()
    def agents_and_what_they_hold_are_the_models(self) -> None:
        expected = []
        for agent in sorted(self.model.agents.values(), key=lambda row: row["id"].encode()):
            effort = self.model.efforts.get(agent["effort_id"], {})
            held = {name: effort.get(name) for name in ("skill", "current_phase", "task_id")}
            task = self.model.tasks.get(held["task_id"] or "", {})
            expected.append(agent | held | {"project_id": task.get("project_id")})
        assert self.listed("db.agents.list") == expected
        fleet = [(row["agent"], row["effort_id"], row["session_id"]) for row in self.listed("fleet.status")]
        assert fleet == [
            (agent["id"], agent["effort_id"], self.speaker(agent)) for agent in expected if agent["effort_id"]
        ]

    def speaker(self, agent: Row) -> int | None:
        """The newest open session nearest the root, of those of the effort that are the holder's or nobody's."""
        serving = [row for row in self.model.sessions.values() if row["effort_id"] == agent["effort_id"]]
        own = [row for row in serving if row["ended_at"] is None and row["agent_id"] in (agent["id"], None)]
        nearest = min(own, key=lambda row: (row["spawn_depth"], -row["id"]), default=None)
        return None if nearest is None else int(nearest["id"])

    @invariant()
    def every_change_has_its_event(self) -> None:
        rows = self.world.sql("SELECT kind, count(*) FROM events GROUP BY kind")
        found = {kind: count for kind, count in rows if kind in COMPARED_EVENTS}
        assert found == dict(self.model.events)

    def listed(self, method: str, **params: Any) -> list[Row]:
        page = msgspec.to_builtins(
            self.world.call(method, **params, **({"limit": 1000} if "messages" in method else {}))
        )
        return [{name: instant(name, value) for name, value in row.items()} for row in page["items"]]


def only(row: Row, expected: Row) -> Row:
    """The part of a row that the model knows."""
    return {name: row[name] for name in expected}


def instant(name: str, value: Any) -> Any:
    is_time = isinstance(value, str) and (name.endswith("_at") or name in ("last_heartbeat", "last_activity"))
    return from_datetime(datetime.fromisoformat(value)) if is_time else value


def decoded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
