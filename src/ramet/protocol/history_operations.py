"""The operations on histories."""

from ramet import errors
from ramet.protocol import history
from ramet.protocol.operation import Operation
from ramet.protocol.replies import CheckReport, Page

_BRANCH = (errors.BranchNotFound,)
_PLACE = (errors.BranchNotFound, errors.CommitNotFound)

HISTORY_OPERATIONS = (
    Operation(
        name="history.commit",
        purpose="Add a text or a typed content to a branch; a branch that does not exist yet begins with it.",
        request=history.Commit,
        reply=history.CommitReply,
        errors=(errors.InvalidParams, errors.UnknownContentType),
    ),
    Operation(
        name="history.log",
        purpose="The commits of a branch, the newest first.",
        request=history.Log,
        reply=Page[history.CommitRow],
        errors=_PLACE,
        scope="session",
    ),
    Operation(
        name="history.show",
        purpose="One commit with all that it says.",
        request=history.Show,
        reply=history.CommitDetail,
        errors=_PLACE,
        scope="session",
    ),
    Operation(
        name="history.compile",
        purpose="A branch as the messages that a model is given, within a budget.",
        request=history.Compile,
        reply=history.Compiled,
        errors=_PLACE,
        scope="session",
    ),
    Operation(
        name="history.branch",
        purpose="A new branch at a place, or an empty one. It copies nothing.",
        request=history.CreateBranch,
        reply=history.BranchRow,
        errors=(errors.BranchExists, *_PLACE),
    ),
    Operation(
        name="history.branches",
        purpose="The branches whose names begin so, by name.",
        request=history.ListBranches,
        reply=Page[history.BranchRow],
    ),
    Operation(
        name="history.delete",
        purpose="Let go of a branch's name. Its commits stay until nothing reaches them; `undo` brings it back.",
        request=history.DeleteBranch,
        reply=history.BranchRow,
        errors=(errors.BranchNotFound, errors.BranchInUse),
    ),
    Operation(
        name="history.reset",
        purpose="Let a branch point at another place.",
        request=history.Reset,
        reply=history.BranchRow,
        errors=_PLACE,
    ),
    Operation(
        name="history.undo",
        purpose="Take back the last rewrites of a branch, exactly.",
        request=history.Undo,
        reply=history.BranchRow,
        errors=(errors.BranchNotFound, errors.NothingToUndo),
    ),
    Operation(
        name="history.moves",
        purpose="The rewrites of a branch, the newest first.",
        request=history.ListMoves,
        reply=Page[history.MoveRow],
        errors=_BRANCH,
    ),
    Operation(
        name="history.diff",
        purpose="How two contexts differ, by commit and by compiled text.",
        request=history.Diff,
        reply=history.DiffReply,
        errors=_PLACE,
    ),
    Operation(
        name="history.merge",
        purpose="Join what was added elsewhere since the two parted; conflicts come back as data.",
        request=history.Merge,
        reply=history.MergeReply,
        errors=_PLACE,
    ),
    Operation(
        name="history.pick",
        purpose="Add a copy of a commit to a branch.",
        request=history.Pick,
        reply=history.CommitReply,
        errors=_PLACE,
    ),
    Operation(
        name="history.edit",
        purpose="Put another text in the place of a commit's; the first one stays addressable.",
        request=history.Edit,
        reply=history.CommitReply,
        errors=(*_PLACE, errors.NotInHistory),
    ),
    Operation(
        name="history.annotate",
        purpose="Say how much a commit matters: skip, normal, important or pinned.",
        request=history.Annotate,
        reply=history.CommitDetail,
        errors=(errors.CommitNotFound,),
    ),
    Operation(
        name="history.tag",
        purpose="Set a commit's tags.",
        request=history.Tag,
        reply=history.CommitDetail,
        errors=(errors.CommitNotFound,),
    ),
    Operation(
        name="history.compress",
        purpose="Put a summary in the place of a range; the originals stay, and `undo` brings them back.",
        request=history.Compress,
        reply=history.CommitReply,
        errors=(*_PLACE, errors.NotInHistory, errors.InvalidRange, errors.ModelMissing, errors.ModelFailed),
    ),
    Operation(
        name="history.at",
        purpose="Where a branch stood at a time, or whether it contains a commit.",
        request=history.At,
        reply=history.BranchRow,
        errors=(*_PLACE, errors.NotInHistory),
    ),
    Operation(
        name="history.register",
        purpose="Register a kind of content of your own.",
        request=history.RegisterType,
        reply=history.RegisterType,
        errors=(errors.InvalidParams,),
    ),
    Operation(
        name="history.spawn",
        purpose="A child history that inherits its parent's whole, as one snapshot, or in part.",
        request=history.Spawn,
        reply=history.SpawnRow,
        errors=(errors.BranchNotFound, errors.BranchExists, errors.SpawnError),
    ),
    Operation(
        name="history.collapse",
        purpose="Fold a child's work into its parent as one commit that remembers where it comes from.",
        request=history.Collapse,
        reply=history.CollapseReply,
        errors=(errors.BranchNotFound, errors.SpawnError, errors.ModelMissing, errors.ModelFailed),
    ),
    Operation(
        name="history.expand",
        purpose="Open a collapse or a compression back into what stands behind it.",
        request=history.Expand,
        reply=history.Expanded,
        errors=(*_PLACE, errors.NothingToExpand),
    ),
    Operation(
        name="history.spawns",
        purpose="A history's parent, ancestors and children.",
        request=history.Spawns,
        reply=history.SpawnTree,
        errors=_BRANCH,
    ),
    Operation(
        name="history.latest",
        purpose="The newest root history that was not brought to its end, for going on after a crash.",
        request=history.ResumeLatest,
        reply=history.Latest,
    ),
    Operation(
        name="history.gc",
        purpose="Delete what no branch, recent move, spawn or collapse reaches.",
        request=history.CollectGarbage,
        reply=history.Collected,
    ),
    Operation(
        name="history.check",
        purpose="Verify every hash and every pointer of the history.",
        request=history.CheckHistory,
        reply=CheckReport,
        host="store",
    ),
)
