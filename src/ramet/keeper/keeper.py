"""The keeper: one loop on one thread that starts an agent, reads its output and looks after it until its end.

The output goes through the driver's reader, gets a number, is written to the spool and then reported to the daemon,
whose answer renews the lease. The daemon may stop and start again; the agent does not notice. When the agent ends,
every process that it started ends with it, and the last report says how it went.
"""

import os
import selectors
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ramet.build import PROTOCOL_VERSION
from ramet.keeper import kernel
from ramet.keeper.agent import Agent, Outlet, explain, explain_sandbox
from ramet.keeper.agent_output import AgentOutput
from ramet.keeper.daemon_reports import ASKED_TO_STOP, DaemonReports
from ramet.keeper.log import Log
from ramet.keeper.process_tree import Tree
from ramet.keeper.spool import Spool
from ramet.keeper.time_limits import Verdict, Watch
from ramet.model.record.effort import StopRequest
from ramet.model.work.stream import End, Remark, Started
from ramet.protocol.work.keepers import LOOKS_FILE, RECORD_FILE, SPOOL_FILE, STOP_FILE, KeeperRecord, KeeperSpec
from ramet.runner.processes import keepers, process_identity
from ramet.vendors import registry

if TYPE_CHECKING:
    from ramet.keeper.proxy import ProxyProcess
    from ramet.runner.memory.shell_changes import ShellWatch

_DRAIN_SECONDS = 1.0
"""How long a pipe may stay open when everybody who could write to it is gone."""
_COLLAPSE_SECONDS = 5.0
"""How long the kernel may take to end what is inside a sandbox whose first process has ended."""
_FAREWELL_SECONDS = 10.0
"""How long the daemon may be away when all is said."""
_LOOK_SECONDS = 0.2
"""How long a last look at the worktree may take."""
_NEVER = float("inf")

_Hear = Callable[[int, list[str], float], None]


class Keeper:
    """Holds one agent."""

    def __init__(self, spec: KeeperSpec) -> None:
        now = time.monotonic()
        driver = registry.find_driver(spec.driver)
        self._spec = spec
        self._folder = Path(spec.folder)
        self._selector = selectors.DefaultSelector()
        self._spool = Spool(self._folder / SPOOL_FILE, spec.redaction)
        self._tree = Tree(spec, os.getpid())
        self._watch = Watch(
            spec,
            now,
            self._tree.cpu_seconds,
            lambda stuck: self._spool.add(stuck, time.monotonic()),
            is_talkative=driver.abilities.tools,
        )
        log = Log()
        self._telling = DaemonReports(spec, self._spool, self._selector, log, now, self._watch.hear)
        self._hearing = AgentOutput(
            driver.reader(spec.profile, spec.launch.environment),
            self._spool,
            self._watch,
            log,
            max_bytes=spec.output_max_bytes,
            is_structured=driver.abilities.tools,
        )
        self._agent: Agent | None = None
        self._proxy: ProxyProcess | None = None
        self._shell_watch: ShellWatch | None = None
        self._exited_at = _NEVER
        self._open_outlets = 0
        self._adopts_orphans = False
        self._is_asked_to_stop = False
        self._is_killed = False
        self._is_dismissed = False
        self._verdict: Verdict | None = None
        self._concluded_at: float | None = None

    def run(self) -> int:
        """Keep the agent until its end. 0 if the daemon has received everything; else the spool has it."""
        self._listen_to_signals()
        self._adopts_orphans = kernel.adopt_orphans()
        self._launch(time.monotonic())
        while not self._is_over(now := time.monotonic()):
            due_at = self._due_at()
            for key, events in self._selector.select(None if due_at == _NEVER else max(due_at - now, 0)):
                key.data(events, time.monotonic())
            self._step(time.monotonic())
        self._telling.close()
        return 0 if self._spool.is_delivered else 1

    # Beginning.

    def _launch(self, now: float) -> None:
        """Start the agent. The record comes first: what is not on record would not be found by the next daemon."""
        try:
            self._write_record(None, None)
        except OSError as error:
            reason = f"the keeper cannot write in {self._folder}: {error.strerror}; check the disk"
            self._conclude(End(outcome="error", failure="infrastructure", reason=reason), now)
            return
        try:
            self._start_proxy()
            self._agent = Agent(self._spec.launch, self._spec.instance)
        except (OSError, ValueError) as error:
            self._conclude(explain(error, self._spec.launch), now)
            return
        started_at = process_identity.started_at(self._agent.pid) or time.time()
        with suppress(OSError):  # the keeper is on record, and the agent's marker is its instance
            self._write_record(self._agent.pid, started_at)
        self._spool.add(Started(pid=self._agent.pid, started_at=started_at), now)
        self._open(self._agent)
        self._watch_worktree()

    def _watch_worktree(self) -> None:
        """Look which lines the agent's commands write. The thread starts behind the agent: a process that has threads
        must not fork the way that the agent is started.
        """
        vendor = registry.find_edits(self._spec.driver) if self._spec.worktree is not None else None
        if vendor is None or self._spec.worktree is None:
            return
        from ramet.runner.memory.shell_changes import ShellWatch  # noqa: PLC0415  the agent starts without waiting for it

        self._shell_watch = ShellWatch(
            Path(self._spec.worktree), self._folder / LOOKS_FILE, vendor.shells, self._spec.redaction
        )
        self._hearing.listener = self._shell_watch.hear
        self._shell_watch.start()

    def _start_proxy(self) -> None:
        """What a strict sandbox mounts has to be there before it."""
        if self._spec.proxy is None:
            return
        from ramet.keeper.proxy import ProxyProcess  # noqa: PLC0415  most agents have none

        self._proxy = proxy = ProxyProcess(self._spec.proxy, self._spec.instance)
        self._tree.spared.add(proxy.pid)
        self._selector.register(proxy.output.pipe, selectors.EVENT_READ, partial(self._hear_proxy, proxy))

    def _write_record(self, agent_pid: int | None, agent_started_at: float | None) -> None:
        record = KeeperRecord(
            instance=self._spec.instance,
            session_id=self._spec.session_id,
            effort_id=self._spec.effort_id,
            generation=self._spec.generation,
            driver=self._spec.driver,
            pid=os.getpid(),
            started_at=process_identity.started_at(os.getpid()) or 0.0,
            agent_pid=agent_pid,
            agent_started_at=agent_started_at,
            protocol=PROTOCOL_VERSION,
        )
        keepers.replace_file(self._folder / RECORD_FILE, msgspec.json.encode(record))

    def _open(self, agent: Agent) -> None:
        self._selector.register(agent.stdin, selectors.EVENT_WRITE, partial(self._feed, agent))
        for outlet, hear in ((agent.output, self._hearing.hear), (agent.errors, self._hearing.hear_errors)):
            self._selector.register(outlet.pipe, selectors.EVENT_READ, partial(self._read, outlet, hear))
            self._open_outlets += 1

    def _listen_to_signals(self) -> None:
        """A signal wakes the loop through a pair of sockets; what it asks for is done there."""
        ears, mouth = socket.socketpair()
        for end in (ears, mouth):
            end.setblocking(False)
        signal.set_wakeup_fd(mouth.detach(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "_is_asked_to_stop", True))
        self._selector.register(ears, selectors.EVENT_READ, lambda *_: ears.recv(4096))

    # Hearing and feeding.

    def _feed(self, agent: Agent, _events: int, _now: float) -> None:
        if agent.feed():
            self._selector.unregister(agent.stdin)
            agent.stdin.close()

    def _read(self, outlet: Outlet, hear: _Hear, _events: int, now: float) -> None:
        size, lines = outlet.read()
        if size or lines:
            hear(size, lines, now)
        if outlet.is_at_end:
            self._selector.unregister(outlet.pipe)
            outlet.pipe.close()
            self._open_outlets -= 1

    def _hear_proxy(self, proxy: "ProxyProcess", _events: int, now: float) -> None:
        for refusal in proxy.read():
            self._spool.add(refusal, now)
        if proxy.output.is_at_end:
            self._selector.unregister(proxy.output.pipe)

    # Going on.

    def _due_at(self) -> float:
        """When there is something to do, unless something happens before."""
        if self._concluded_at is not None:
            return min(self._telling.due_at, self._farewell_at)
        if self._tree.gone_at is not None:
            return min(self._telling.due_at, self._tree.gone_at + _DRAIN_SECONDS)
        ends_at = min(self._watch.due_at if self._lingers_until is None else self._lingers_until, self._collapsed_at)
        due_at = min(self._telling.due_at, self._tree.advance_at if self._tree.is_ending else ends_at)
        due_at = min(due_at, self._hearing.due_at)
        return due_at if self._is_killed else min(due_at, self._telling.lost_at)

    def _step(self, now: float) -> None:
        """Do everything that is due."""
        if self._agent is not None and self._concluded_at is None:
            self._hearing.look(now)
        self._telling.tell(now)
        if self._agent is None or self._concluded_at is not None:
            self._telling.outlive_lease()
            return
        if self._reap(self._agent) and self._agent.status is not None:
            self._stop_proxy(now)
        has_children = self._reap(self._agent)
        if now >= self._telling.lost_at and not self._is_killed:
            self._kill(self._agent)
        self._end_tree(self._agent, now, has_children=has_children)
        if self._tree.gone_at is not None:
            is_drained = not self._open_outlets and self._agent.status is not None
            if is_drained or now >= self._tree.gone_at + _DRAIN_SECONDS:
                self._conclude(self._heard(self._agent), now)

    def _end_tree(self, agent: Agent, now: float, *, has_children: bool) -> None:
        """End what the agent started, when the agent has ended or has to."""
        has_exited = agent.status is not None
        if self._tree.is_ending:
            if now >= self._tree.advance_at:
                self._tree.advance(now)
        elif has_exited and not has_children and self._adopts_orphans:
            self._tree.vanish(now)
        elif has_exited and now < self._collapsed_at != _NEVER:
            pass  # the kernel ends what is inside the sandbox, and tells
        elif has_exited or self._judge(now):
            self._tree.end(agent.pid, self._telling.grace_seconds, now)

    def _heard(self, agent: Agent) -> End:
        """How it went, as the driver reads it, unless the agent was never started."""
        end = self._hearing.conclude(agent.status, is_dismissed=self._is_dismissed)
        return explain_sandbox(end, self._hearing.errors) if self._spec.launch.is_confined else end

    @property
    def _collapsed_at(self) -> float:
        """When everything in the sandbox of an agent that has exited is gone."""
        return self._exited_at + _COLLAPSE_SECONDS if self._spec.launch.is_confined else _NEVER

    def _reap(self, agent: Agent) -> bool:
        """Wait for ended processes, the agent or its orphans; whether there are others."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == agent.pid:
                agent.exited(status)
                self._exited_at = time.monotonic()
                self._telling.outlive_lease()

    def _stop_proxy(self, now: float) -> None:
        """The last counts come before the end of the stream."""
        if self._proxy is None:
            return
        proxy, self._proxy = self._proxy, None
        if not proxy.output.is_at_end:
            self._selector.unregister(proxy.output.pipe)
        for refusal in proxy.stop():
            self._spool.add(refusal, now)

    def _kill(self, agent: Agent) -> None:
        """At once and without checking anything: on a busy machine, stopping it gently takes too long."""
        self._is_killed = True
        if agent.status is None:  # else its number may be somebody else's
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(agent.pid, signal.SIGKILL)

    def _judge(self, now: float) -> bool:
        """Whether there is a reason to end the agent; the first one counts. When its turn is over, it is not late or
        stuck: its program is dismissed, and the outcome is the driver's.
        """
        lingers_until = self._lingers_until
        self._verdict = self._asked() or self._telling.verdict or self._hearing.verdict
        if self._verdict is None and lingers_until is None:
            self._verdict = self._watch.check(now)
        self._is_dismissed = self._verdict is None and lingers_until is not None and now >= lingers_until
        if self._is_dismissed:
            seconds = self._spec.lingering_seconds
            text = f"the turn was over, and the program still ran {seconds} seconds later; it was ended"
            self._spool.add(Remark(text=text), now)
        return self._verdict is not None or self._is_dismissed

    @property
    def _lingers_until(self) -> float | None:
        """When a program has to be gone whose agent's turn is over; None while the agent works."""
        over_at = self._hearing.over_at
        return None if over_at is None else over_at + self._spec.lingering_seconds

    def _asked(self) -> Verdict | None:
        if not self._is_asked_to_stop:
            return None
        try:
            stop = msgspec.json.decode((self._folder / STOP_FILE).read_bytes(), type=StopRequest)
        except (OSError, msgspec.DecodeError):
            stop = StopRequest()
        return Verdict(stop.outcome, None, stop.reason or ASKED_TO_STOP)

    # Ending.

    def _conclude(self, end: End, now: float) -> None:
        """The last word. What the keeper decided goes before what the driver read."""
        if self._verdict is not None:
            verdict = self._verdict
            end = replace(end, outcome=verdict.outcome, failure=verdict.failure, reason=verdict.reason)
        if left := self._tree.left:
            names = ", ".join(f"{process.name} ({process.pid})" for process in left)
            end = replace(end, reason=f"{end.reason or end.outcome}; these processes could not be stopped: {names}")
        if self._shell_watch is not None:
            self._shell_watch.finish(_LOOK_SECONDS)
        self._spool.add(replace(end, ended=self._tree.ended), now)
        self._telling.finish()
        self._concluded_at = now

    @property
    def _farewell_at(self) -> float:
        return max(self._concluded_at or 0.0, self._telling.answered_at) + _FAREWELL_SECONDS

    def _is_over(self, now: float) -> bool:
        if self._concluded_at is None:
            return False
        return self._spool.is_delivered or self._telling.is_refused or now >= self._farewell_at
