"""The lander: takes one landing from its claim to its outcome.

The order is what makes it safe. The candidate is a commit that no check can change. It is recorded with the target's
tip once it has passed the checks, and only then does the target move, by compare-and-swap. Whoever takes over after a
crash sees from the record and the target whether that has happened, and goes on from there: nothing lands twice, and
the target is never at a commit that did not pass.
"""

import logging
import time
from collections.abc import Callable

from msgspec import Struct

from ramet.errors import DaemonStopping, LeaseLost, RametError, WorktreeError
from ramet.model.landing.landing import LandingOutcome
from ramet.protocol.landing.landings import ClaimedLanding, FinishLanding, LandingRow, NoteTested, RenewLanding
from ramet.runner.context import RunnerContext
from ramet.runner.landing.checks import CheckFailed, CheckRun
from ramet.workspace.git import candidates, target_moves
from ramet.workspace.git.candidates import Candidate, Conflict, Work
from ramet.workspace.git.repository import BRANCHES, Repository, find
from ramet.workspace.worktrees import kept_work

log = logging.getLogger(__name__)

_MOST_ROUNDS = 10
_SHOWN = 5
_REASON_LENGTH = 10_000


class _End(Struct, frozen=True, kw_only=True):
    """What became of it; None as the outcome puts it back into the queue."""

    outcome: LandingOutcome | None
    reason: str | None = None
    files: list[str] = []


def land(
    runner: RunnerContext, claimed: ClaimedLanding, lease_seconds: int, is_closing: Callable[[], bool]
) -> LandingRow | None:
    """Land what was claimed; what became of it. None if the lease is over, or the daemon stops.

    It runs on a thread: git and the checks take their time, and it waits for the engine's answers.
    """
    return _Lander(runner, claimed, lease_seconds, is_closing).run()


class _Lander:
    """Lands one claimed landing."""

    def __init__(
        self, runner: RunnerContext, claimed: ClaimedLanding, lease_seconds: int, is_closing: Callable[[], bool]
    ) -> None:
        assert claimed.landing is not None  # noqa: S101  whoever has claimed nothing has nothing to land
        self._runner = runner
        self._landing = claimed.landing
        self._undoes = claimed.undoes
        self._lease_seconds = lease_seconds
        self._is_closing = is_closing
        self._renewed = time.monotonic()
        self._is_lost = False
        self._checks = CheckRun(runner, claimed.landing, self._must_stop)

    def run(self) -> LandingRow | None:
        """Land it, and record what became of it."""
        try:
            end = self._try()
            request = FinishLanding(
                landing_id=self._landing.id,
                generation=self._landing.lease_generation,
                outcome=end.outcome,
                reason=None if end.reason is None else end.reason.replace("\0", "\\0")[:_REASON_LENGTH],
                files=end.files,
            )
            finished = self._runner.machine.ask(request)
        except (LeaseLost, DaemonStopping):
            return None
        return finished

    def _try(self) -> _End:
        try:
            self._runner.faults.reach("landing_claimed")
            repository = find(self._runner.machine.git, self._landing.directory)
            if repository is None:
                return _End(outcome="stopped", reason=f"{self._landing.directory} is in no git repository")
            for _ in range(_MOST_ROUNDS):
                end = self._attempt(repository)
                if end is not None:
                    return end
        except CheckFailed as failed:
            if self._must_stop():
                return _End(outcome=None, reason="its lander was stopped")
            return _End(outcome="failed", reason=f"the check {failed}; log: {self._checks.log.parent}")
        except (LeaseLost, DaemonStopping):
            raise
        except RametError as error:
            if self._must_stop():
                return _End(outcome=None, reason="its lander was stopped")
            return _End(outcome="stopped", reason=f"{error.message}; {error.fix}")
        except Exception as error:  # whatever a branch made of us: its landing ends, and the queue goes on
            log.exception("a landing failed id=%d", self._landing.id)
            return _End(outcome="stopped", reason=f"{type(error).__name__}: {error}; see the daemon's log")
        return _End(outcome=None, reason=f"{self._landing.target} keeps moving")

    def _attempt(self, repository: Repository) -> _End | None:
        """One attempt from the target's present tip; None if the target has moved meanwhile."""
        tip = self._find_tip(repository)
        if self._has_moved(repository, tip):
            return _End(outcome="landed")
        built = self._build(repository, tip)
        self._runner.faults.reach("landing_built")
        if isinstance(built, Conflict):
            return _End(outcome="conflicted", reason=f"conflicts in {_few(built.files)}", files=built.files)
        if built.commit == tip:
            return _End(outcome="landed", reason=f"{self._landing.target} has all of it already")
        target_moves.require_free(repository, self._landing.target, tip, built.commit)
        if candidates.contains(repository.git, repository.checkout, tip, built.commit):
            self._keep(repository, tip)  # an earlier tip was the target before, and needs no check
        else:
            self._checks.run(repository, built.commit)
        self._runner.faults.reach("landing_checked")
        self._note(tip, built)
        self._runner.faults.reach("landing_tested")
        label = f"ramet: landing {self._landing.id}"
        is_moved = target_moves.move(repository, self._landing.target, tip, built.commit, label)
        self._runner.faults.reach("landing_moved")
        return _End(outcome="landed") if is_moved else None

    def _find_tip(self, repository: Repository) -> str:
        tip = repository.commit(BRANCHES + self._landing.target)
        if tip is None:
            raise WorktreeError(
                f"the branch {self._landing.target} does not exist any more",
                value=self._landing.target,
                fix=f"create it, then `ramet landings retry l{self._landing.id}`",
            )
        return tip

    def _build(self, repository: Repository, tip: str) -> Candidate | Conflict:
        git, directory, landing = repository.git, repository.checkout, self._landing
        if self._undoes is None:
            for commit in (landing.head, *landing.left_out):
                if repository.commit(commit) is None:
                    raise WorktreeError(
                        f"the commit {commit[:8]} of {landing.branch} does not exist any more",
                        value=commit,
                        fix=f"fetch it, or `ramet landings drop l{landing.id}`",
                    )
            work = Work(landing.head, landing.left_out, landing.message)
            return candidates.build(git, directory, tip, work, landing.method)
        before, landed = self._undoes.tip or "", self._undoes.tested or ""
        if tip == landed and not target_moves.is_pushed(repository, landed):
            return Candidate(before)
        return candidates.revert(git, directory, tip, landed, before, landing.message)

    def _keep(self, repository: Repository, tip: str) -> None:
        """Keep what only the target has, once its branches are tidied, before the target moves back."""
        kept_work.keep(repository.git, repository.checkout, self._landing.branch.rpartition("/")[2], tip)

    def _has_moved(self, repository: Repository, tip: str) -> bool:
        """Whether the target has moved to the commit that an earlier lander recorded."""
        before, tested = self._landing.tip, self._landing.tested
        if before is None or tested is None:
            return False
        git, directory = repository.git, repository.checkout
        if candidates.contains(git, directory, tested, before):
            return candidates.contains(git, directory, tip, tested)
        return not candidates.contains(git, directory, tip, before)

    def _note(self, tip: str, built: Candidate) -> None:
        log = str(self._checks.log.parent) if self._landing.checks else None
        request = NoteTested(
            landing_id=self._landing.id,
            generation=self._landing.lease_generation,
            tip=tip,
            tested=built.commit,
            log=log,
        )
        self._landing = self._runner.machine.ask(request)

    def _must_stop(self) -> bool:
        """Whether the lease is lost or the daemon stops. Asked every few seconds, it renews the lease."""
        if self._is_closing() or self._is_lost:
            return True
        if time.monotonic() - self._renewed > self._lease_seconds / 3:
            self._renewed = time.monotonic()
            request = RenewLanding(
                landing_id=self._landing.id,
                generation=self._landing.lease_generation,
                lease_seconds=self._lease_seconds,
            )
            try:
                self._runner.machine.ask(request)
            except LeaseLost:
                self._is_lost = True
        return self._is_lost


def _few(files: list[str]) -> str:
    more = [f"{len(files) - _SHOWN} more"] if len(files) > _SHOWN else []
    return ", ".join([*files[:_SHOWN], *more])
