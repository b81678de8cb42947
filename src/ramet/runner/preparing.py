"""What an attempt needs before it can begin: a driver, a worktree, a prompt, and what its keeper is told.

It runs on a thread, because git does. Nothing here is on record yet: what fails here has changed nothing but, perhaps,
made a worktree that the next attempt will use.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from msgspec import Struct
from msgspec.structs import replace

from ramet.config.settings import ProfileSettings, WorkSettings
from ramet.drivers import choosing
from ramet.drivers.driver import Driver, Start
from ramet.model.effort import Effort
from ramet.model.session import Session
from ramet.protocol.keeping import KeeperSpec
from ramet.protocol.requests import GetSession
from ramet.protocol.work import Attempt, Chain, Claimed, Prompt, WorkChain
from ramet.runner import prompts
from ramet.runner.workshop import Order, Workshop
from ramet.runner.worktrees import owner_of
from ramet.workspace import worktrees
from ramet.workspace.labels import BRANCH_PREFIX
from ramet.workspace.worktrees import Worktree


class Prepared(Struct, frozen=True, kw_only=True):
    """An attempt that may begin."""

    instance: str
    settings: WorkSettings
    """As the effort's project has them."""
    driver: Driver
    profile_name: str
    profile: ProfileSettings
    program: list[str]
    model: str | None
    prompt: Prompt
    project_path: str
    worktree: Worktree | None
    native_id: str | None
    continues: bool


def prepare(shop: Workshop, claimed: Claimed, order: Order) -> Prepared:
    """Find the driver, make the worktree, compose the prompt."""
    chain: Chain = shop.workplace.ask(WorkChain(effort_id=claimed.id))
    settings = shop.workplace.settings_in(chain.project_path, order.environment, order.settings)
    wanted = claimed.driver or ("shell" if claimed.skill == "shell" else order.driver)
    found = choosing.resolve(wanted, settings.drivers, order.environment or shop.environ)
    continued = _continued(shop, claimed, found.driver)
    prompt = prompts.build(shop.workplace, claimed.id)
    return Prepared(
        instance=shop.identify(),
        settings=settings.work,
        driver=found.driver,
        profile_name=found.name,
        profile=found.profile,
        program=found.program,
        model=claimed.model or found.profile.model,
        prompt=prompts.continuation(prompt, claimed.reason) if continued else prompt,
        project_path=chain.project_path,
        worktree=_worktree(shop, claimed, chain),
        native_id=continued.native_id if continued else _new_native_id(shop, found.driver),
        continues=continued is not None,
    )


def move_apart(shop: Workshop, claimed: Claimed, prepared: Prepared) -> Prepared:
    """The same attempt in a worktree of its own: the one that it would have shared is in use.

    A context window does not move with it: programs look for theirs in the folder where it began.
    """
    start = prepared.worktree.base if prepared.worktree else None
    apart = replace(prepared, worktree=_own(shop, claimed, prepared.project_path, start))
    if not prepared.continues:
        return apart
    return replace(
        apart,
        continues=False,
        prompt=prompts.build(shop.workplace, claimed.id),
        native_id=_new_native_id(shop, prepared.driver),
    )


def specify(shop: Workshop, claimed: Claimed, attempt: Attempt, prepared: Prepared, order: Order) -> KeeperSpec:
    """What the keeper is told."""
    settings = prepared.settings
    start = Start(
        instruction=prepared.prompt.instruction,
        context=prepared.prompt.context,
        prompt=prepared.prompt.prompt,
        program=prepared.program,
        directory=prepared.worktree.path if prepared.worktree else prepared.project_path,
        environment=_environment(shop, attempt, prepared, order),
        profile=prepared.profile,
        model=prepared.model,
        native_id=prepared.native_id,
        resumes=prepared.continues,
    )
    return KeeperSpec(
        instance=prepared.instance,
        session_id=attempt.session.id,
        effort_id=claimed.id,
        generation=claimed.generation,
        driver=prepared.driver.name,
        profile=prepared.profile,
        launch=choosing.wrap(prepared.driver.launch(start), prepared.profile),
        folder=str(shop.places.keepers / prepared.instance),
        socket=str(shop.places.socket),
        timeout_seconds=claimed.timeout_seconds or settings.timeout_seconds or None,
        silent_seconds=settings.silent_seconds,
        stuck_seconds=settings.stuck_seconds,
        repeat_limit=settings.repeat_limit,
        grace_seconds=settings.grace_seconds,
        output_max_bytes=settings.output_max_bytes,
        lease_seconds=settings.lease_seconds,
        is_fenced=shop.settings.database.type == "postgres",
    )


def _environment(shop: Workshop, attempt: Attempt, prepared: Prepared, order: Order) -> dict[str, str]:
    """What the agent sees: what is allowed of the environment of whoever asked for the work, else of the daemon's."""
    source: Mapping[str, str] = order.environment or shop.environ
    allowed = prepared.settings.environment
    return {
        **{name: value for name, value in source.items() if any(fnmatchcase(name, pattern) for pattern in allowed)},
        **prepared.profile.environment,
        "RAMET_HOME": str(shop.places.home),
        "RAMET_AGENT": order.slot,
        "RAMET_SESSION": str(attempt.session.id),
        "RAMET_EFFORT": str(attempt.effort.id),
    }


def _continued(shop: Workshop, claimed: Claimed, driver: Driver) -> Session | None:
    """The session whose context window goes on, where there is one and the driver can."""
    if claimed.continues_session_id is None or not driver.abilities.resume:
        return None
    session: Session = shop.workplace.ask(GetSession(session_id=claimed.continues_session_id))
    return session if session.driver == driver.name and session.native_id else None


def _worktree(shop: Workshop, claimed: Claimed, chain: Chain) -> Worktree | None:
    """The chain's worktree where its line goes on, else one of its own.

    A line goes on where its branch still is where the effort that this one is based on left it.
    """
    project = chain.project_path
    if claimed.git_branch is not None:
        worktree = _shared(shop, project, claimed.git_branch, claimed.git_head)
        return replace(worktree, base=claimed.git_base or worktree.base) if worktree else None
    based: Effort | None = chain.efforts[1] if len(chain.efforts) > 1 else None
    if based is None or based.git_branch is None:
        return _own(shop, claimed, project, None)
    if worktrees.head_of(shop.workplace.git, project, based.git_branch) in (None, based.git_head):
        return _shared(shop, project, based.git_branch, based.git_head)
    return _own(shop, claimed, project, based.git_head)


def _shared(shop: Workshop, project: str, branch: str, start: str | None) -> Worktree | None:
    name = branch.removeprefix(BRANCH_PREFIX)
    return worktrees.prepare(shop.workplace.git, shop.places.worktrees, project, name, start)


def _own(shop: Workshop, claimed: Claimed, project: str, start: str | None) -> Worktree | None:
    """One that belongs to this effort and to no other of the same number, from a database that was since reset."""
    git, folder = shop.workplace.git, shop.places.worktrees
    return worktrees.prepare(git, folder, project, f"e{claimed.id}", start, owner=owner_of(claimed))


def _new_native_id(shop: Workshop, driver: Driver) -> str | None:
    """The name of a new context window, where it is ours to choose."""
    if not driver.names_sessions:
        return None
    digits = shop.identify()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
