"""What an attempt needs before it can start: a driver, a worktree, a prompt, and its keeper's instructions.

It runs on a thread, because git does. Nothing here is on record yet: a failure here has changed nothing, except that it
may have created a worktree, which the next attempt uses.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from ramet.config.environment import read_environment
from ramet.config.files import user_home
from ramet.config.settings import ProfileSettings, SandboxSettings, WorkSettings, WorktreeSettings
from ramet.model.record.session import Session
from ramet.model.runs.run import Run
from ramet.model.work import tool_guide
from ramet.model.work.driver import NEVER_PARKED
from ramet.model.work.permission_rule import Policy
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.work.attempts import Attempt, Chain, Prompt, WorkChain
from ramet.protocol.work.drivers import Admission, AdmitDriver, Hold, HoldWork
from ramet.protocol.work.keepers import KeeperRedaction, KeeperSpec
from ramet.protocol.work.leases import Claimed, Completed
from ramet.runner.attempts import prompts, sandbox_setup, worktree_setup
from ramet.runner.attempts.agent_environment import find_visible
from ramet.runner.attempts.sandbox_setup import Sandbox
from ramet.runner.attempts.sandbox_worktrees import find_git_places
from ramet.runner.budgets import daily_budgets
from ramet.runner.context import Order, RunnerContext
from ramet.runner.project_files import starting_points
from ramet.runner.runs import line_worktrees
from ramet.runner.settlement.worktrees import owner_of
from ramet.runner.spawn import child_setup
from ramet.runner.spawn.child_setup import Spawned
from ramet.vendors import policies, selection
from ramet.vendors.contract.driver_protocol import Driver, Start
from ramet.vendors.selection import Found
from ramet.workspace.git.repository import find
from ramet.workspace.worktrees import worktree as worktrees
from ramet.workspace.worktrees.labels import BRANCH_PREFIX
from ramet.workspace.worktrees.worktree import Worktree


class Prepared(Struct, frozen=True, kw_only=True):
    """An attempt that may start."""

    instance: str
    settings: WorkSettings
    """As the effort's project has them."""
    sandbox_settings: SandboxSettings
    policy: Policy
    worktree_settings: WorktreeSettings
    driver: Driver
    profile_name: str
    profile: ProfileSettings
    program: list[str]
    model: str | None
    prompt: Prompt
    project_path: str
    worktree: Worktree | None
    workspace: str | None
    """The given directory, if there is one; else the worktree, or the project."""
    timeout_seconds: int | None
    spawned: Spawned
    native_id: str | None
    continues: bool
    leased_at: float | None = None
    """When its lease was last asked for, by the steady clock."""


class Postponed(Exception):
    """The effort is back in the queue: its driver is not used for a while, or a budget is used up."""

    def __init__(self, requeued: Completed) -> None:
        super().__init__(requeued.reason)
        self.requeued = requeued


def prepare(runner: RunnerContext, claimed: Claimed, order: Order) -> Prepared:
    """Find the driver, create the worktree, compose the prompt. `Postponed` if the driver may not be used now."""
    chain: Chain = runner.machine.ask(WorkChain(effort_id=claimed.id, host=runner.host))
    settings = runner.machine.settings_in(chain.project_path, order.environment, order.settings)
    found = selection.resolve(_wanted(claimed, order), settings.drivers, order.environment or runner.environ)
    spawned = child_setup.read(claimed)
    child_setup.require_confinement(found.driver, spawned)
    source = order.environment or runner.environ
    visible = find_visible(source, settings.work, found.driver.name, found.profile)
    sandbox_setup.require(runner, found, settings.sandbox, visible)
    _require_budget(runner, claimed, chain.project_path, order)
    _be_admitted(runner, claimed, found)
    workspace = child_setup.find_workspace(runner.machine, claimed, chain.project_path)
    continued = _continued(runner, claimed, found.driver)
    prompt = prompts.build(runner.machine, claimed.id)
    return Prepared(
        instance=runner.identify(),
        settings=settings.work,
        sandbox_settings=settings.sandbox,
        policy=policies.find_policy(settings, chain.project_path, str(user_home(order.environment or runner.environ))),
        worktree_settings=settings.worktree,
        driver=found.driver,
        profile_name=found.name,
        profile=found.profile,
        program=found.program,
        model=_model(claimed, found),
        prompt=prompts.continuation(prompt, claimed.reason) if continued else prompt,
        project_path=chain.project_path,
        worktree=None if workspace else _worktree(runner, claimed, chain, order.run),
        workspace=workspace,
        timeout_seconds=claimed.timeout_seconds or settings.work.timeout_seconds or None,
        spawned=spawned,
        native_id=continued.native_id if continued else _new_native_id(runner, found.driver),
        continues=continued is not None,
    )


def _wanted(claimed: Claimed, order: Order) -> str | None:
    """The driver. A resumed run may use another one for its lines, except for those that name theirs."""
    is_open = order.run is not None and claimed.run_agent is None and claimed.skill != "shell"
    if is_open and order.driver is not None:
        return order.driver
    return claimed.driver or ("shell" if claimed.skill == "shell" else order.driver)


def _model(claimed: Claimed, found: Found) -> str | None:
    """A model is known to the program that it was chosen for, and to no other."""
    is_another = claimed.attempts > 1 and claimed.driver not in (None, found.name)
    return found.profile.model if is_another else claimed.model or found.profile.model


def move_apart(runner: RunnerContext, claimed: Claimed, prepared: Prepared) -> Prepared:
    """The same attempt in a worktree of its own: the one that it would have shared is in use.

    A context window does not move with it: programs search for theirs in the folder where it started.
    """
    start = prepared.worktree.base if prepared.worktree else None
    apart = replace(prepared, worktree=_own(runner, claimed, prepared.project_path, start))
    if not prepared.continues:
        return apart
    return replace(
        apart,
        continues=False,
        prompt=prompts.build(runner.machine, claimed.id),
        native_id=_new_native_id(runner, prepared.driver),
    )


def set_up(runner: RunnerContext, claimed: Claimed, prepared: Prepared, order: Order) -> bool:
    """Prepare the worktree, so that the project runs in it; whether that took time. Once the attempt is on record, as
    for the sandbox.
    """
    if prepared.worktree is None:
        return False
    site = worktree_setup.Site(
        worktree=prepared.worktree,
        project_path=prepared.project_path,
        settings=prepared.worktree_settings,
        is_sandboxed=prepared.profile.sandbox != "off",
        environ=find_visible(
            order.environment or runner.environ, prepared.settings, prepared.driver.name, prepared.profile
        ),
        grace_seconds=prepared.settings.grace_seconds,
    )
    return worktree_setup.prepare(runner, claimed, site)


def confine(runner: RunnerContext, claimed: Claimed, prepared: Prepared, order: Order) -> Sandbox | None:
    """Make the sandbox that the profile asks for. Only once the attempt is on record: before, another one may still
    work in the worktree.
    """
    source = order.environment or runner.environ
    wanted = sandbox_setup.Wanted(
        instance=prepared.instance,
        driver=prepared.driver.name,
        profile=prepared.profile,
        settings=prepared.sandbox_settings,
        environ=find_visible(source, prepared.settings, prepared.driver.name, prepared.profile),
        program=prepared.program,
        project_path=prepared.project_path,
        directory=_directory(prepared),
        is_spawned=claimed.spawned_by is not None,
        native_id=prepared.native_id if prepared.continues else None,
    )
    return sandbox_setup.make(runner, wanted)


def specify(
    runner: RunnerContext,
    claimed: Claimed,
    attempt: Attempt,
    prepared: Prepared,
    order: Order,
    sandbox: Sandbox | None = None,
) -> KeeperSpec:
    """The keeper's instructions."""
    settings = prepared.settings
    start = _start(runner, attempt, prepared, _environment(runner, attempt, prepared, order), sandbox)
    return KeeperSpec(
        instance=prepared.instance,
        session_id=attempt.session.id,
        effort_id=claimed.id,
        generation=claimed.generation,
        driver=prepared.driver.name,
        profile=prepared.profile,
        launch=selection.launch(prepared.driver, start, sandbox.arguments if sandbox else ()),
        folder=str(runner.places.keepers / prepared.instance),
        socket=str(runner.places.socket),
        timeout_seconds=prepared.timeout_seconds,
        silent_seconds=settings.silent_seconds,
        stuck_seconds=settings.stuck_seconds,
        repeat_limit=settings.repeat_limit,
        grace_seconds=settings.grace_seconds,
        lingering_seconds=settings.lingering_seconds,
        output_max_bytes=settings.output_max_bytes,
        lease_seconds=runner.settings.work.lease_seconds,  # as the claim has it, whatever the project's own file says
        is_fenced=runner.settings.database.type == "postgres",
        leased_at=prepared.leased_at,
        proxy=sandbox.proxy if sandbox else None,
        redaction=_redaction(runner, prepared.project_path, start.environment),
        worktree=prepared.worktree.path if prepared.worktree and not prepared.workspace else None,
    )


def _redaction(runner: RunnerContext, project_path: str, environment: Mapping[str, str]) -> KeeperRedaction:
    """What the daemon redacts, what the project adds to it, and the secrets of the agent's own environment."""
    settings = runner.settings
    values = {*read_environment(runner.environ, settings).denied, *read_environment(environment, settings).denied}
    patterns = runner.machine.redactor_in(project_path).patterns
    return KeeperRedaction(is_enabled=settings.redaction.enabled, patterns=patterns, values=sorted(values))


def _start(
    runner: RunnerContext, attempt: Attempt, prepared: Prepared, environ: dict[str, str], sandbox: Sandbox | None
) -> Start:
    tools = child_setup.tool_server(prepared.driver, prepared.settings, prepared.timeout_seconds)
    if sandbox is not None:
        environ = sandbox.adapt(environ)
    depths = {"spawn_depth": attempt.session.spawn_depth, "max_depth": runner.settings.spawn.depth}
    return Start(
        instruction=prepared.prompt.instruction,
        context=prepared.prompt.context,
        prompt=prepared.prompt.prompt,
        program=sandbox.program if sandbox else prepared.program,
        directory=_directory(prepared),
        environment=environ,
        profile=prepared.profile,
        model=prepared.model,
        native_id=prepared.native_id,
        resumes=prepared.continues,
        tools=tools,
        guidance=tool_guide.compose(**depths) if tools else "",
        allowed_tools=prepared.spawned.allowed_tools,
        policy=prepared.policy,
        git=None if sandbox else find_git_places(runner, prepared.project_path, _directory(prepared)),
    )


def _directory(prepared: Prepared) -> str:
    """Where the agent works."""
    return prepared.workspace or (prepared.worktree.path if prepared.worktree else prepared.project_path)


def _environment(runner: RunnerContext, attempt: Attempt, prepared: Prepared, order: Order) -> dict[str, str]:
    """The agent's environment: the allowed part of the caller's environment, else of the daemon's."""
    source = order.environment or runner.environ
    return {
        **find_visible(source, prepared.settings, prepared.driver.name, prepared.profile),
        "RAMET_HOME": str(runner.places.home),
        "RAMET_AGENT": order.slot,
        "RAMET_SESSION": str(attempt.session.id),
        "RAMET_EFFORT": str(attempt.effort.id),
        "RAMET_SOCKET": str(runner.places.agents_socket),
        "RAMET_TOKEN": runner.token(attempt.session.id),
        **worktree_setup.find_ports(runner, _directory(prepared)),
    }


def _require_budget(runner: RunnerContext, claimed: Claimed, project_path: str, order: Order) -> None:
    """Put the effort back if a budget has been used up since it was chosen."""
    bounds = daily_budgets.find(runner.machine, project_path, order.environment or None, order.settings)
    if bounds:
        asked = HoldWork(effort_id=claimed.id, generation=claimed.generation, bounds=bounds)
        hold: Hold = runner.machine.ask(asked)
        if hold.requeued is not None:
            raise Postponed(hold.requeued)


def _be_admitted(runner: RunnerContext, claimed: Claimed, found: Found) -> None:
    if found.driver.name in NEVER_PARKED:
        return
    asked = AdmitDriver(effort_id=claimed.id, generation=claimed.generation, driver=found.name)
    admission: Admission = runner.machine.ask(asked)
    if admission.requeued is not None:
        raise Postponed(admission.requeued)


def _continued(runner: RunnerContext, claimed: Claimed, driver: Driver) -> Session | None:
    """The session whose context window continues, if there is one on this machine and the driver can resume it."""
    if claimed.continues_session_id is None or not driver.abilities.resume:
        return None
    session: Session = runner.machine.ask(GetSession(session_id=claimed.continues_session_id))
    if runner.host is not None and not runner.is_ours(session.agent_id):
        return None  # a context window is on the disk where it began
    return session if session.driver == driver.name and session.native_id else None


def _worktree(runner: RunnerContext, claimed: Claimed, chain: Chain, run: Run | None) -> Worktree | None:
    """The chain's worktree if its line continues, else one of its own; a run decides where its lines work.

    A line continues if its branch is still where the effort that this one is based on left it.
    """
    project = chain.project_path
    if claimed.git_branch is not None and _is_left(runner, project, claimed):
        worktree = _shared(runner, project, claimed.git_branch, claimed.git_head)
        return replace(worktree, base=claimed.git_base or worktree.base) if worktree else None
    if run is not None and run.mode != "chain":
        return line_worktrees.place(runner.machine, claimed, run, project)
    based: EffortRow | None = chain.efforts[1] if len(chain.efforts) > 1 else None
    if based is None or based.git_branch is None:
        return _own(runner, claimed, project, starting_points.require(runner.machine, project, chain.efforts, run))
    _require_commit(runner, project, based, run)
    if worktrees.head_of(runner.machine.git, project, based.git_branch) in (None, based.git_head):
        return _shared(runner, project, based.git_branch, based.git_head)
    return _own(runner, claimed, project, based.git_head)


def _is_left(runner: RunnerContext, project: str, claimed: Claimed) -> bool:
    """Whether this clone has what an earlier attempt left. Without it, or if another machine has it, the effort starts
    again at its base.
    """
    branch, is_known = claimed.git_branch or "", runner.host is None and claimed.git_head is not None
    return is_known or worktrees.head_of(runner.machine.git, project, branch) is not None


def _require_commit(runner: RunnerContext, project: str, based: EffortRow, run: Run | None) -> None:
    """What an effort is based on may be in another machine's clone. Then that one should have it, and may yet; but the
    line of a run is for who attends the run, and fails.
    """
    repository = find(runner.machine.git, project) if runner.host is not None and based.git_head else None
    if repository is None or repository.commit(based.git_head or "") is not None:
        return
    missing = f"commit {based.git_head} on {based.git_branch}, the work of e{based.id}, is not in {project}"
    raise starting_points.on_another_machine(missing, based.git_branch or "", run, based.git_host)


def _shared(runner: RunnerContext, project: str, branch: str, start: str | None) -> Worktree | None:
    name = branch.removeprefix(BRANCH_PREFIX)
    return worktrees.prepare(runner.machine.git, runner.places.worktrees, project, name, start)


def _own(runner: RunnerContext, claimed: Claimed, project: str, start: str | None) -> Worktree | None:
    """One that belongs to this effort and to no other of the same number, from a database that was since reset."""
    git, folder = runner.machine.git, runner.places.worktrees
    return worktrees.prepare(git, folder, project, f"e{claimed.id}", start, owner=owner_of(claimed))


def _new_native_id(runner: RunnerContext, driver: Driver) -> str | None:
    """The name of a new context window, if we can choose it."""
    if not driver.names_sessions:
        return None
    digits = runner.identify()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
