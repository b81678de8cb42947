"""The operations on runs, and on drivers that are not used for a while."""

from ramet import errors
from ramet.protocol import runs
from ramet.protocol.operation import Operation
from ramet.protocol.replies import Page

_RUN = (errors.RunNotFound,)

RUN_OPERATIONS = (
    Operation(
        name="run.start",
        purpose="Record a run and queue its lines; a chain begins with its plan. Nothing runs until it is attended.",
        request=runs.StartRun,
        reply=runs.RunDetail,
        errors=(errors.ProjectNotFound, errors.UnknownSkill, errors.TaskFileInvalid),
    ),
    Operation(
        name="run.get",
        purpose="A run with its lines, its conversation and what its reviews found.",
        request=runs.GetRun,
        reply=runs.RunDetail,
        errors=_RUN,
    ),
    Operation(
        name="run.turns",
        purpose="A run's conversation, the oldest turn first; of one that saves none, nothing.",
        request=runs.ListTurns,
        reply=Page[runs.TurnRow],
        errors=_RUN,
    ),
    Operation(
        name="run.list",
        purpose="The runs, the newest first; archived ones only where asked for.",
        request=runs.ListRuns,
        reply=Page[runs.RunReply],
    ),
    Operation(
        name="run.branches",
        purpose="What each line of a run left in git, and which branches conflict with each other.",
        request=runs.ListBranches,
        reply=runs.RunBranches,
        errors=(errors.RunNotFound, errors.WorktreeError, errors.GitFailed),
        host="workplace",
    ),
    Operation(
        name="run.attend",
        purpose="Begin, resume or go on with a run: only what is attended is worked on.",
        request=runs.AttendRun,
        reply=runs.RunReply,
        errors=(errors.RunNotFound, errors.RunAttended, errors.RunChanged, errors.RunFinished),
    ),
    Operation(
        name="run.leave",
        purpose="Attend a run no longer: what is not done is interrupted.",
        request=runs.LeaveRun,
        reply=runs.RunReply,
        errors=_RUN,
    ),
    Operation(
        name="run.turn",
        purpose="Add a turn to a run's conversation.",
        request=runs.AddTurn,
        reply=runs.RunReply,
        errors=_RUN,
    ),
    Operation(
        name="run.archive",
        purpose="Hide a run from the list, or show it again.",
        request=runs.ArchiveRun,
        reply=runs.RunReply,
        errors=(errors.RunNotFound, errors.RunAttended),
    ),
    Operation(
        name="run.clean",
        purpose="Delete runs that have been archived or finished for a while.",
        request=runs.CleanRuns,
        reply=runs.Cleaned,
    ),
    Operation(
        name="drivers.parked",
        purpose="The drivers that are not used for a while, until when and why.",
        request=runs.ListParked,
        reply=Page[runs.ParkedDriver],
    ),
    Operation(
        name="drivers.release",
        purpose="Let a parked driver be used again at once, and what waits for it begin.",
        request=runs.ReleaseDriver,
        reply=runs.Released,
    ),
    Operation(
        name="drivers.admit",
        purpose="Let a claimed effort begin with a driver; where that is parked, put the effort back until it is not.",
        request=runs.AdmitDriver,
        reply=runs.Admission,
        errors=(errors.EffortNotFound, errors.LeaseLost),
    ),
)
