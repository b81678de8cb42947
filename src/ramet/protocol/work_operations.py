"""The operations on the queue, on what runs it, and on what it leaves on the disk."""

from ramet import errors
from ramet.model.notice import Notice
from ramet.model.work.driver import DriverRow
from ramet.protocol import work
from ramet.protocol.operation import Operation
from ramet.protocol.replies import EffortReply, Page

_EFFORT = (errors.EffortNotFound,)
_LEASE = (errors.EffortNotFound, errors.LeaseLost)
_GIT = (errors.WorktreeError, errors.GitFailed)

WORK_OPERATIONS = (
    Operation(
        name="work.add",
        purpose="Put an effort into the queue; the task is created where it is new.",
        request=work.AddWork,
        reply=work.WorkReply,
        errors=(errors.EffortNotFound, errors.ProjectNotFound, errors.UnknownSkill),
    ),
    Operation(
        name="work.get",
        purpose="An effort of the queue, and what it waits for.",
        request=work.GetWork,
        reply=work.WorkReply,
        errors=_EFFORT,
        scope="session",
    ),
    Operation(
        name="work.list",
        purpose="The efforts of the queue, the newest first.",
        request=work.ListWork,
        reply=Page[work.WorkReply],
    ),
    Operation(
        name="work.next",
        purpose="The effort that would be claimed next. It claims nothing.",
        request=work.NextWork,
        reply=EffortReply | None,
        errors=(errors.ProjectNotFound,),
    ),
    Operation(
        name="work.blocked",
        purpose="Whether an effort has to wait, for which one, and what that one is doing.",
        request=work.WorkBlocked,
        reply=work.Blocked,
        errors=_EFFORT,
    ),
    Operation(
        name="work.claim",
        purpose="Take the next effort, or the one named, under a lease; or be told why not.",
        request=work.ClaimWork,
        reply=work.Claimed | work.Refused,
        errors=(errors.ProjectNotFound,),
        locks_rows=True,
    ),
    Operation(
        name="work.renew",
        purpose="Keep a lease, and hear whether its holder is asked to stop.",
        request=work.RenewLease,
        reply=work.Lease,
        errors=_LEASE,
        locks_rows=True,
    ),
    Operation(
        name="work.begin",
        purpose="Record that an attempt begins: its session, driver, worktree and prompt.",
        request=work.BeginAttempt,
        reply=work.Attempt,
        errors=(*_LEASE, errors.WorktreeBusy, errors.EffortHeld, errors.AgentBusy, errors.WrongTask),
    ),
    Operation(
        name="work.report",
        purpose="Write what an agent said and did into its session; each number once. It renews the lease.",
        request=work.ReportStream,
        reply=work.Reported,
        errors=(errors.SessionNotFound,),
        locks_rows=True,
    ),
    Operation(
        name="work.complete",
        purpose="Give a claimed effort its outcome and output. A report of an older generation changes nothing.",
        request=work.CompleteWork,
        reply=work.Completed,
        errors=_EFFORT,
        locks_rows=True,
    ),
    Operation(
        name="work.retry",
        purpose="Queue a fresh copy of a finished effort; what waits for it waits for the copy.",
        request=work.RetryWork,
        reply=work.WorkReply,
        errors=(errors.EffortNotFound, errors.NotFinished),
    ),
    Operation(
        name="work.resume",
        purpose="Queue a finished effort again: the same effort, the same context window, one more attempt.",
        request=work.ResumeWork,
        reply=work.WorkReply,
        errors=(errors.EffortNotFound, errors.NotFinished, errors.EffortFinished),
    ),
    Operation(
        name="work.drop",
        purpose="Take an effort out of the queue for good.",
        request=work.DropWork,
        reply=EffortReply,
        errors=(errors.EffortNotFound, errors.EffortHeld, errors.EffortFinished),
    ),
    Operation(
        name="work.chain",
        purpose="An effort, what it is based on, and the reports that its task has.",
        request=work.WorkChain,
        reply=work.Chain,
        errors=_EFFORT,
        scope="session",
    ),
    Operation(
        name="work.output",
        purpose="Replace the text of an effort's output.",
        request=work.SetOutput,
        reply=EffortReply,
        errors=_EFFORT,
    ),
    Operation(
        name="work.prompt",
        purpose="Exactly what the agent is given: the effort's prompt, and what its chain produced.",
        request=work.WorkPrompt,
        reply=work.Prompt,
        errors=_EFFORT,
        host="workplace",
        scope="session",
    ),
    Operation(
        name="work.run",
        purpose="Let the daemon claim and run efforts while the connection stays. Answers when they are done.",
        request=work.RunWork,
        reply=work.WorkDone,
        errors=(errors.ProjectNotFound,),
        host="daemon",
    ),
    Operation(
        name="work.stop",
        purpose="Let the daemon claim no more; what runs goes on to its end.",
        request=work.StopWork,
        reply=work.WorkDone,
        host="daemon",
    ),
    Operation(
        name="fleet.kill",
        purpose="End a running effort with everything that it started, or cancel a queued one.",
        request=work.Kill,
        reply=work.Killed,
        errors=(errors.EffortNotFound, errors.SessionNotFound, errors.EffortFinished, errors.NothingRuns),
    ),
    Operation(
        name="fleet.notices",
        purpose="What needs a person's attention, the newest first.",
        request=work.ListNotices,
        reply=Page[Notice],
        scope="session",
    ),
    Operation(
        name="fleet.dismiss",
        purpose="Put a notice aside, or all of them.",
        request=work.DismissNotice,
        reply=Page[Notice],
        errors=(errors.NoticeNotFound,),
    ),
    Operation(
        name="drivers.list",
        purpose="The agent programs that Ramet can run: which are installed, and what they can do.",
        request=work.ListDrivers,
        reply=Page[DriverRow],
        host="workplace",
    ),
    Operation(
        name="report.sync",
        purpose="Take a report that a person edited on disk back into the database.",
        request=work.SyncReport,
        reply=work.Synced,
        errors=(errors.EffortNotFound, errors.ReportMissing, errors.PathOutside),
        host="workplace",
    ),
    Operation(
        name="worktree.list",
        purpose="The worktrees that Ramet made on this machine, and what is in them that exists nowhere else.",
        request=work.ListWorktrees,
        reply=Page[work.WorktreeRow],
        errors=(errors.ProjectNotFound, *_GIT),
        host="workplace",
    ),
    Operation(
        name="worktree.clean",
        purpose="Remove worktrees that nothing uses. Work that exists nowhere else is kept under a private ref.",
        request=work.CleanWorktrees,
        reply=Page[work.CleanedWorktree],
        errors=(errors.ProjectNotFound, *_GIT),
        host="workplace",
    ),
)
