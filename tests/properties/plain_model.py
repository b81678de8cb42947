"""The rules of projects, tasks, efforts, phases, sessions and agents as plain dictionaries, written from the design.

`refusals` says which typed errors a request may get, from the facts alone; none means that it must succeed. `apply`
then does what the request asks for, with the id that the database gave. No code of the engine is used here.
"""

from collections import Counter, defaultdict
from posixpath import normpath
from typing import Any

Row = dict[str, Any]

SKILLS: dict[str, list[tuple[tuple[int, int], str, dict[str, str]]]] = {
    "do": [],
    "explore": [((1, 0), "1: Look", {}), ((2, 0), "2: Report", {})],
    "implement": [
        ((1, 0), "1: Prepare", {}),
        ((2, 0), "2: Build", {}),
        ((3, 0), "3: Test", {}),
        ((4, 0), "4: Finish", {}),
    ],
    "release": [
        ((1, 0), "1: Check", {"tests": "number"}),
        ((1, 1), "1.A: Sign", {}),
        ((2, 0), "2: Ship", {"url": "string"}),
    ],
    "named": [((1, 0), "Alpha", {}), ((2, 0), "Beta", {})],
}
"""What each skill's phases are: place, label, and the proof that is wanted. The last two are a project's own."""

OWN_SKILLS: dict[str, list[Any]] = {
    "release": [
        {"label": "1: Check", "proof": {"tests": "number"}},
        {"label": "1.A: Sign"},
        {"label": "2: Ship", "proof": {"url": "string"}},
    ],
    "named": ["Alpha", "Beta"],
}

_TYPES = {"number": (int, float), "string": (str,)}


class Model:
    """What the database should hold."""

    def __init__(self) -> None:
        self.projects: dict[str, Row] = {}
        self.tasks: dict[str, Row] = {}
        self.own_skills: set[tuple[int, str]] = set()
        self.efforts: dict[int, Row] = {}
        self.phases: list[tuple[int, str, str | None, Any]] = []
        self.sessions: dict[int, Row] = {}
        self.agents: dict[str, Row] = {}
        self.messages: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        self.events: Counter[str] = Counter()
        self.now = 0

    def refusals(self, method: str, params: Row) -> set[str]:
        return set(getattr(self, f"refuse_{_name(method)}", lambda _: ())(params))

    def apply(self, method: str, params: Row, reply: Row) -> None:
        getattr(self, f"do_{_name(method)}")(params, reply)

    # Projects and tasks.

    def refuse_project_upsert(self, params: Row) -> set[str]:
        return set() if params["path"].startswith("/") else {"invalid_params"}

    def do_project_upsert(self, params: Row, reply: Row) -> None:
        path = normpath(params["path"])
        if path not in self.projects:
            project = {"id": reply["id"], "path": path, "name": None, "created_at": self.now}
            self.projects[path] = {**project, "remote": None, "hosts": {}}
            self.events["project.added"] += 1
        if params.get("name") is not None:
            self.projects[path]["name"] = params["name"]

    def refuse_task_upsert(self, params: Row) -> set[str]:
        if not params["dir_path"].startswith("/"):
            return {"invalid_params"}
        path = normpath(params["dir_path"])
        return set() if path in self.tasks or self._project_above(path) else {"project_not_found"}

    def do_task_upsert(self, params: Row, reply: Row) -> None:
        path = normpath(params["dir_path"])
        if path not in self.tasks:
            project = self._project_above(path)
            assert project is not None
            self.tasks[path] = dict.fromkeys(("workspace", "title", "description", "keywords"))
            self.tasks[path] |= {"dir_path": path, "project_id": project["id"], "created_at": self.now}
            self.events["task.added"] += 1
        given = ("workspace", "title", "description", "keywords")
        self.tasks[path] |= {name: params[name] for name in given if params.get(name) is not None}

    def _project_above(self, path: str) -> Row | None:
        above = [known for known in self.projects if known == "/" or f"{path}/".startswith(f"{known}/")]
        return self.projects[max(above, key=len)] if above else None

    def do_skills_upsert(self, params: Row, reply: Row) -> None:
        self.own_skills.add((params["project_id"], params["name"]))

    # Efforts and their phases.

    def refuse_effort_start(self, params: Row) -> set[str]:
        task = self.tasks.get(normpath(params["task_id"]))
        if task is None:
            return {"task_not_found"}
        own = (task["project_id"], params["skill"]) in self.own_skills
        found = set() if own or params["skill"] in set(SKILLS) - set(OWN_SKILLS) else {"unknown_skill"}
        if params.get("session_id") is None:
            return found
        session = self._session(params["session_id"])
        if session is None:
            return found | {"session_not_found"}
        if session["ended_at"] is not None:
            found.add("session_ended")
        if session["task_id"] != task["dir_path"]:
            found.add("wrong_task")
        return found | self._refuse_holding(session["agent_id"], None)

    def do_effort_start(self, params: Row, reply: Row) -> None:
        path = normpath(params["task_id"])
        siblings = [effort for effort in self.efforts.values() if effort["task_id"] == path]
        effort = {
            "id": reply["id"],
            "task_id": path,
            "skill": params["skill"],
            "mode": params.get("mode"),
            "metadata": params.get("metadata"),
            "ordinal": len(siblings) + 1,
            "lifecycle": "active",
            "current_phase": None,
            "outcome": None,
            "created_at": self.now,
            "finished_at": None,
        }
        self.efforts[effort["id"]] = effort
        self.events["effort.started"] += 1
        if params.get("session_id") is not None:
            self._bind(self._session(params["session_id"]), effort["id"])

    def refuse_effort_finish(self, params: Row) -> set[str]:
        return set() if params["effort_id"] in self.efforts else {"effort_not_found"}

    def do_effort_finish(self, params: Row, reply: Row) -> None:
        effort = self.efforts[params["effort_id"]]
        if effort["lifecycle"] == "finished":
            return
        effort |= {"lifecycle": "finished", "outcome": params.get("outcome", "success"), "finished_at": self.now}
        self.events["effort.finished"] += 1
        self._release(effort["id"])
        if params.get("keywords") is not None:
            task = self.tasks[effort["task_id"]]
            task["keywords"] = merged(task["keywords"], params["keywords"])

    def refuse_effort_phase(self, params: Row) -> set[str]:
        effort = self.efforts.get(params["effort_id"])
        if effort is None:
            return {"effort_not_found"}
        if effort["lifecycle"] == "finished":
            return {"effort_finished"}
        declared = SKILLS[effort["skill"]]
        if not declared:
            return set()
        place, label, proof = meant(params["label"], declared)
        if label is None:
            return {"unknown_phase"}
        if label == effort["current_phase"]:
            return set()
        here = next((phase[0] for phase in declared if phase[1] == effort["current_phase"]), None)
        here = here or number(effort["current_phase"] or "") or (-1, 0)
        is_declared = any(phase[0] == place for phase in declared)
        visited = {phase[1] for phase in self.phases if phase[0] == effort["id"]}
        if not is_declared and label not in visited and not (place[0] == here[0] and place[1] > here[1]):
            return {"unknown_phase"}
        skipped = [phase for phase in declared if here < phase[0] < place]
        found = set()
        if (place <= here or skipped) and not (params.get("reason") or "").strip():
            found.add("phase_not_sequential")
        for name, kind in proof.items():
            if not isinstance((params.get("proof") or {}).get(name), _TYPES[kind]):
                found.add("invalid_proof")
        return found

    def do_effort_phase(self, params: Row, reply: Row) -> None:
        effort = self.efforts[params["effort_id"]]
        declared = SKILLS[effort["skill"]]
        label = meant(params["label"], declared)[1] if declared else params["label"].strip()
        assert label is not None
        if label == effort["current_phase"]:
            return
        effort["current_phase"] = label
        self.phases.append((effort["id"], label, params.get("reason"), params.get("proof")))
        self.events["effort.phase"] += 1
        for session in self._open_sessions():
            if session["effort_id"] == effort["id"]:
                session |= {"heartbeat_counter": 0, "last_heartbeat": self.now}

    # Sessions.

    def refuse_session_start(self, params: Row) -> set[str]:
        task = self.tasks.get(normpath(params["task_id"]))
        effort = self.efforts.get(params["effort_id"])
        found = {"task_not_found"} if task is None else set()
        if effort is None:
            return found | {"effort_not_found"}
        if effort["lifecycle"] == "finished":
            found.add("effort_finished")
        if task is not None and effort["task_id"] != task["dir_path"]:
            found.add("wrong_task")
        if params.get("native_id") and not params.get("driver"):
            return found | {"invalid_params"}
        known = self._native(params)
        if known is not None:
            agent, parent = params.get("agent_id") or known["agent_id"], self._session(known["parent_session_id"])
            if known["task_id"] != effort["task_id"]:
                found.add("wrong_task")
        else:
            parent, prev = self._session(params.get("parent_session_id")), self._prev(params)
            agent = params.get("agent_id") or (prev or {}).get("agent_id")
            found |= self._refuse_links(params, effort, parent, prev)
        if parent is not None and parent["effort_id"] == effort["id"]:
            return found
        return found | self._refuse_holding(agent, effort["id"])

    def _refuse_links(self, params: Row, effort: Row, parent: Row | None, prev: Row | None) -> set[str]:
        found = set()
        for name, row in (("parent_session_id", parent), ("prev_session_id", prev)):
            if params.get(name) is not None and row is None:
                found.add("session_not_found")
        if parent is not None and parent["ended_at"] is not None:
            found.add("session_ended")
        if prev is not None and prev["task_id"] != effort["task_id"]:
            found.add("wrong_task")
        return found

    def do_session_start(self, params: Row, reply: Row) -> None:
        known = self._native(params)
        if known is not None:
            return self._resume(known, params)
        parent, prev = self._session(params.get("parent_session_id")), self._prev(params)
        agent = params.get("agent_id") or (prev or {}).get("agent_id")
        self._take(agent, params["effort_id"], parent, going_on=None)
        if prev is not None and parent is None:
            self._end(prev)
        self.sessions[reply["id"]] = {
            "id": reply["id"],
            "task_id": normpath(params["task_id"]),
            "effort_id": params["effort_id"],
            "prev_session_id": prev["id"] if prev else None,
            **self._place(prev, parent, reply["id"]),
            "agent_id": agent,
            "driver": params.get("driver"),
            "native_id": params.get("native_id"),
            "pid": params.get("pid"),
            "heartbeat_counter": 0,
            "last_heartbeat": None,
            "context_usage": None,
            "loaded_files": None,
            "dehydration_payload": None,
            "outcome": None,
            "created_at": self.now,
            "ended_at": None,
        }
        self.events["session.started"] += 1
        return None

    def _place(self, prev: Row | None, parent: Row | None, session_id: int) -> Row:
        """Below its parent, else where the window stood that it continues."""
        if parent is not None:
            depth = parent["spawn_depth"] + 1
            return {
                "parent_session_id": parent["id"],
                "root_session_id": parent["root_session_id"],
                "spawn_depth": depth,
            }
        if prev is not None:
            return {name: prev[name] for name in ("parent_session_id", "root_session_id", "spawn_depth")}
        return {"parent_session_id": None, "root_session_id": session_id, "spawn_depth": 0}

    def _resume(self, known: Row, params: Row) -> None:
        """The same window again: a vendor's id names one session for good."""
        agent = params.get("agent_id") or known["agent_id"]
        parent = self._session(known["parent_session_id"])
        self._take(agent, params["effort_id"], parent, going_on=known)
        known |= {"effort_id": params["effort_id"], "agent_id": agent, "ended_at": None, "outcome": None}
        if params.get("pid") is not None:
            known["pid"] = params["pid"]

    def _take(self, agent: str | None, effort_id: int, parent: Row | None, going_on: Row | None) -> None:
        """The agent holds the effort and leaves its other windows, unless it is a child at its parent's effort."""
        if agent is None:
            return
        self._agent(agent)
        if parent is not None and parent["effort_id"] == effort_id:
            return
        self._hold(agent, effort_id)
        if parent is None:
            for session in self._open_sessions():
                if session["agent_id"] == agent and not self._is_part_of(session, going_on):
                    self._end(session)

    @staticmethod
    def _is_part_of(session: Row, going_on: Row | None) -> bool:
        """Whether a window is the one that goes on, or above or below it. Two roots of a tree are one, continued."""
        if going_on is None or session["root_session_id"] != going_on["root_session_id"]:
            return False
        return session is going_on or not (session["parent_session_id"] is going_on["parent_session_id"] is None)

    def refuse_session_finish(self, params: Row) -> set[str]:
        return set() if self._session(params["session_id"]) else {"session_not_found"}

    def do_session_finish(self, params: Row, reply: Row) -> None:
        session = self._session(params["session_id"])
        assert session is not None
        if session["ended_at"] is None and params.get("dehydration_payload") is not None:
            session["dehydration_payload"] = params["dehydration_payload"]
        self._end(session, params.get("outcome", "success"))

    def refuse_session_bindEffort(self, params: Row) -> set[str]:  # noqa: N802
        session, effort = self._session(params["session_id"]), self.efforts.get(params["effort_id"])
        found = self.refuse_session_heartbeat(params)
        if effort is None:
            return found | {"effort_not_found"}
        if effort["lifecycle"] == "finished":
            found.add("effort_finished")
        if session is None or session["effort_id"] == effort["id"]:
            return found
        if session["task_id"] != effort["task_id"]:
            found.add("wrong_task")
        return found | self._refuse_holding(session["agent_id"], effort["id"])

    def do_session_bindEffort(self, params: Row, reply: Row) -> None:  # noqa: N802
        session = self._session(params["session_id"])
        assert session is not None
        if session["effort_id"] != params["effort_id"]:
            self._bind(session, params["effort_id"])

    def refuse_session_heartbeat(self, params: Row) -> set[str]:
        session = self._session(params["session_id"])
        if session is None:
            return {"session_not_found"}
        return set() if session["ended_at"] is None else {"session_ended"}

    def do_session_heartbeat(self, params: Row, reply: Row) -> None:
        session = self._session(params["session_id"])
        assert session is not None
        session |= {"heartbeat_counter": session["heartbeat_counter"] + 1, "last_heartbeat": self.now}
        self.events["session.heartbeat"] += 1

    refuse_session_updateContextUsage = refuse_session_heartbeat  # noqa: N815
    refuse_session_updateLoadedFiles = refuse_session_heartbeat  # noqa: N815

    def do_session_updateContextUsage(self, params: Row, reply: Row) -> None:  # noqa: N802
        session = self._session(params["session_id"])
        assert session is not None
        session["context_usage"] = params["usage"]

    def do_session_updateLoadedFiles(self, params: Row, reply: Row) -> None:  # noqa: N802
        session = self._session(params["session_id"])
        assert session is not None
        session["loaded_files"] = sorted(set(params["files"]), key=params["files"].index)

    refuse_messages_append = refuse_session_finish

    def do_messages_append(self, params: Row, reply: Row) -> None:
        session = self._session(params["session_id"])
        assert session is not None
        self.messages[session["id"]].append((params["role"], params["content"]))
        self.events["message.appended"] += 1

    def _session(self, ref: int | str | None) -> Row | None:
        if isinstance(ref, str):
            named = (row for row in self.sessions.values() if f"{row['driver']}:{row['native_id']}" == ref)
            return next(named, None)
        return None if ref is None else self.sessions.get(ref)

    def _native(self, params: Row) -> Row | None:
        return self._session(f"{params.get('driver')}:{params['native_id']}") if params.get("native_id") else None

    def _prev(self, params: Row) -> Row | None:
        """What is named; else, for one that is nobody's child, the agent's last window at this effort."""
        if params.get("prev_session_id") is not None:
            return self._session(params["prev_session_id"])
        if params.get("agent_id") is None or params.get("parent_session_id") is not None:
            return None
        own = [row for row in self.sessions.values() if row["agent_id"] == params["agent_id"]]
        return max((row for row in own if row["effort_id"] == params["effort_id"]), key=_by_id, default=None)

    def _open_sessions(self) -> list[Row]:
        return [session for session in self.sessions.values() if session["ended_at"] is None]

    def _end(self, session: Row, outcome: str = "success") -> None:
        if session["ended_at"] is None:
            session |= {"ended_at": self.now, "outcome": outcome}
            self.events["session.ended"] += 1

    def _bind(self, session: Row | None, effort_id: int) -> None:
        assert session is not None
        if session["agent_id"] is not None:
            self._hold(session["agent_id"], effort_id)
        session["effort_id"] = effort_id

    # Agents.

    def do_agents_register(self, params: Row, reply: Row) -> None:
        agent = self._agent(params["id"])
        agent |= {name: params[name] for name in ("label", "claims") if params.get(name) is not None}

    def refuse_agents_assign(self, params: Row) -> set[str]:
        found = set() if params["id"] in self.agents else {"agent_not_found"}
        if params["effort_id"] is None:
            return found
        effort = self.efforts.get(params["effort_id"])
        if effort is None:
            return found | {"effort_not_found"}
        if effort["lifecycle"] == "finished":
            found.add("effort_finished")
        return found | self._refuse_holding(params["id"], effort["id"])

    def do_agents_assign(self, params: Row, reply: Row) -> None:
        held = self.agents[params["id"]]["effort_id"]
        if params["effort_id"] is not None:
            self._hold(params["id"], params["effort_id"])
        elif held is not None:
            self._release(held)

    def _agent(self, agent_id: str) -> Row:
        return self.agents.setdefault(agent_id, {"id": agent_id, "label": None, "claims": None, "effort_id": None})

    def _refuse_holding(self, agent_id: str | None, effort_id: int | None) -> set[str]:
        """Why an agent may not hold an effort; None stands for one that is only being started."""
        if agent_id is None:
            return set()
        held = self.agents.get(agent_id, {}).get("effort_id")
        if held is not None and held == effort_id:
            return set()
        found = {"agent_busy"} if held is not None else set()
        holders = [row["id"] for row in self.agents.values() if row["effort_id"] == effort_id]
        return found | {"effort_held"} if effort_id is not None and holders else found

    def _hold(self, agent_id: str, effort_id: int) -> None:
        agent = self._agent(agent_id)
        if agent["effort_id"] != effort_id:
            agent["effort_id"] = effort_id
            self.events["agent.assigned"] += 1

    def _release(self, effort_id: int) -> None:
        for agent in self.agents.values():
            if agent["effort_id"] == effort_id:
                agent["effort_id"] = None
                self.events["agent.released"] += 1


def meant(label: str, declared: list[tuple[tuple[int, int], str, dict[str, str]]]) -> Any:
    """The place, label and wanted proof that a label means; a label of None where it means nothing."""
    label = label.strip()
    place = number(label)
    for phase in declared:
        if label == phase[1] or (place == phase[0] and ":" not in label):
            return phase
    if place is None or any(place == phase[0] for phase in declared):
        return (-1, 0), None, {}
    return place, label, {}


def number(label: str) -> tuple[int, int] | None:
    """`2: Build` is (2, 0), `2.1` is (2, 1), `2.B` is (2, 2)."""
    major, _, minor = label.partition(":")[0].strip().partition(".")
    if not major.isdigit() or (minor and not minor.isdigit() and not (len(minor) == 1 and minor.isalpha())):
        return None
    return int(major), int(minor or 0) if (minor or "0").isdigit() else ord(minor.upper()) - 64


def merged(known: str | None, added: str) -> str | None:
    """Keywords behind those that are there, each once, whatever its case."""
    words = [word.strip() for word in f"{known or ''},{added}".split(",") if word.strip()]
    first = {word.casefold(): word for word in reversed(words)}
    return ", ".join(dict.fromkeys(first[word.casefold()] for word in words)) or None


def _by_id(row: Row) -> int:
    return int(row["id"])


def _name(method: str) -> str:
    return method.removeprefix("db.").replace(".", "_")
