"""The operations of spawning, and of the budgets that bound it."""

from ramet import errors
from ramet.model.spawn.child import SpawnResult
from ramet.protocol import spawning
from ramet.protocol.history import CollapseReply
from ramet.protocol.operation import Operation
from ramet.protocol.work import Killed

_SESSION = (errors.SessionNotFound, errors.Forbidden)
_SPAWN = (
    errors.SpawnDepthExceeded,
    errors.SpawnLimitExceeded,
    errors.SpawnTimeTooShort,
    errors.BudgetExceeded,
    errors.SessionNotFound,
    errors.SessionEnded,
    errors.Forbidden,
    errors.UnknownSkill,
    errors.PathOutside,
    errors.SpawnError,
)

SPAWN_OPERATIONS = (
    Operation(
        name="spawn.agent",
        purpose="Spawn a child session with a goal; with `wait`, answer with its result.",
        request=spawning.SpawnAgent,
        reply=SpawnResult,
        errors=_SPAWN,
        scope="session",
    ),
    Operation(
        name="spawn.agents",
        purpose="Spawn up to ten children at once; results in the order of the request, each refusal as data.",
        request=spawning.SpawnAgents,
        reply=spawning.Results,
        errors=(errors.SpawnLimitExceeded, errors.SessionNotFound, errors.SessionEnded, errors.Forbidden),
        scope="session",
    ),
    Operation(
        name="spawn.wait",
        purpose="Wait for children, and lend them the parent's slot meanwhile.",
        request=spawning.AwaitChildren,
        reply=spawning.Results,
        errors=_SESSION,
        host="daemon",
        scope="session",
    ),
    Operation(
        name="spawn.expect",
        purpose="Note that a parent waits for children, or does no more.",
        request=spawning.ExpectChildren,
        reply=spawning.Expected,
        errors=_SESSION,
        scope="session",
    ),
    Operation(
        name="spawn.stranded",
        purpose="The children that wait for somebody who is not there any more.",
        request=spawning.ListStranded,
        reply=spawning.Stranded,
    ),
    Operation(
        name="spawn.tend",
        purpose="Give children whose parents are gone an outcome, or their place in the queue.",
        request=spawning.TendChildren,
        reply=spawning.Tended,
    ),
    Operation(
        name="spawn.results",
        purpose="What came of children so far.",
        request=spawning.ListResults,
        reply=spawning.Results,
        errors=_SESSION,
        scope="session",
    ),
    Operation(
        name="spawn.report",
        purpose="Leave a session's closing report, which its parent receives.",
        request=spawning.ReportSession,
        reply=SpawnResult,
        errors=(*_SESSION, errors.SessionEnded),
        scope="session",
    ),
    Operation(
        name="spawn.cancel",
        purpose="End a session that runs, and all below it.",
        request=spawning.CancelSpawn,
        reply=Killed,
        errors=(*_SESSION, errors.NothingRuns, errors.EffortFinished),
        scope="session",
    ),
    Operation(
        name="spawn.collapse",
        purpose="Fold what a child session did into its parent's history.",
        request=spawning.CollapseSession,
        reply=CollapseReply,
        errors=(*_SESSION, errors.SpawnError),
    ),
    Operation(
        name="spawn.children",
        purpose="The sessions that a session spawned.",
        request=spawning.ListChildren,
        reply=spawning.Trees,
        errors=_SESSION,
        scope="session",
    ),
    Operation(
        name="spawn.ancestors",
        purpose="From a session's parent up to its root.",
        request=spawning.ListAncestors,
        reply=spawning.Trees,
        errors=_SESSION,
        scope="session",
    ),
    Operation(
        name="spawn.tree",
        purpose="The whole tree of a session, with status, outcome and cost, from any of its names.",
        request=spawning.ShowTree,
        reply=spawning.Trees,
        errors=(*_SESSION, errors.EffortNotFound, errors.BranchNotFound, errors.TaskNotFound, errors.RunNotFound),
        scope="session",
    ),
    Operation(
        name="budget.get",
        purpose="What a session and all below it may use, have used and have promised.",
        request=spawning.GetBudget,
        reply=spawning.BudgetReply,
        errors=_SESSION,
        scope="session",
    ),
    Operation(
        name="budget.set",
        purpose="Bound what a session and all below it may use.",
        request=spawning.SetBudget,
        reply=spawning.BudgetReply,
        errors=(errors.SessionNotFound,),
        locks_rows=True,
    ),
)
