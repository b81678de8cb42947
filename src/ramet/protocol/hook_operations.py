"""The operations of the hooks, and of what follows from them: transcripts, hand-offs and resume contracts."""

from ramet import errors
from ramet.protocol import hooks
from ramet.protocol.operation import Operation
from ramet.protocol.requests import Change

_SESSION = (errors.SessionNotFound, errors.Forbidden)
_BINDING = (*_SESSION, errors.InvalidParams)


def _hook(name: str, purpose: str, request: type[Change], reply: type = hooks.HookNoted) -> Operation:
    return Operation(
        name=f"hooks.{name}", purpose=purpose, request=request, reply=reply, errors=_SESSION, scope="session"
    )


HOOK_OPERATIONS = (
    Operation(
        name="hooks.event",
        purpose="A hook as a vendor's program calls it; answered in that vendor's words, and never with an error.",
        request=hooks.HookCall,
        reply=hooks.HookOutput,
        host="daemon",
    ),
    Operation(
        name="hooks.timings",
        purpose="How long each kind of hook takes: median and 95th percentile of the latest ones.",
        request=hooks.ListTimings,
        reply=hooks.HookTimings,
        host="daemon",
    ),
    Operation(
        name="hooks.record",
        purpose="A hook in our own words: note what it says, and answer what the agent may do and is told.",
        request=hooks.RecordHook,
        reply=hooks.HookReply,
        errors=_BINDING,
    ),
    Operation(
        name="hooks.sessionStart",
        purpose="A context window opens: its session, its effort, what it needs, and what the one before left.",
        request=hooks.HookSessionStart,
        reply=hooks.SessionContext,
        errors=_BINDING,
    ),
    _hook("sessionEnd", "A context window closes.", hooks.HookSessionEnd),
    _hook(
        "preToolUse",
        "A tool is about to be used: the heartbeat and directive gates.",
        hooks.HookPreToolUse,
        hooks.Verdict,
    ),
    _hook(
        "postToolUse",
        "A tool was used: heartbeat, loaded files, discovered directories and directives.",
        hooks.HookPostToolUse,
        hooks.ToolNoted,
    ),
    _hook("postToolUseFailure", "A tool failed.", hooks.HookPostToolUseFailure),
    _hook("userPrompt", "A person said something.", hooks.HookUserPrompt, hooks.PromptNoted),
    _hook("preCompact", "A context is about to be compacted: mark where it is whole.", hooks.HookPreCompact),
    _hook("permissionRequest", "An agent waits for somebody's leave.", hooks.HookPermissionRequest),
    _hook("notification", "A program has something to tell its user.", hooks.HookNotification),
    _hook("stop", "An agent has answered and waits.", hooks.HookStop),
    _hook("subagentStart", "A vendor's own sub-agent begins: a child session.", hooks.HookSubagentStart),
    _hook("subagentStop", "A vendor's own sub-agent is done; its parent goes on.", hooks.HookSubagentStop),
    _hook("taskCompleted", "An agent ticked something off its list.", hooks.HookTaskCompleted),
    _hook("teammateIdle", "A teammate of an agent has nothing to do.", hooks.HookTeammateIdle),
    Operation(
        name="hooks.fleetStart",
        purpose="A fleet begins: register its agents with what they claim.",
        request=hooks.HookFleetStart,
        reply=hooks.Fleet,
    ),
    Operation(
        name="hooks.processes",
        purpose="The processes of a machine in which sessions are open that people started themselves.",
        request=hooks.ListProcesses,
        reply=hooks.OpenProcesses,
    ),
    Operation(
        name="hooks.vanished",
        purpose="The process of a session is gone: the session is over, whether or not its program said so.",
        request=hooks.Vanish,
        reply=hooks.HookNoted,
        errors=(errors.SessionNotFound,),
    ),
    Operation(
        name="hooks.logged",
        purpose="A log entry was written: its effort's sessions count their tool calls anew.",
        request=hooks.NoteLog,
        reply=hooks.LogNoted,
        errors=(*_SESSION, errors.EffortNotFound, errors.InvalidParams),
        scope="session",
    ),
    Operation(
        name="db.session.handoff",
        purpose="End a context window with a boundary commit, whose fields the next one is given.",
        request=hooks.HandOff,
        reply=hooks.HandedOff,
        errors=_SESSION,
        scope="session",
    ),
    Operation(
        name="db.session.continue",
        purpose="Begin the next context window of an effort at the same phase, with what the one before left.",
        request=hooks.ContinueSession,
        reply=hooks.SessionContext,
        errors=(
            errors.SessionNotFound,
            errors.EffortFinished,
            errors.EffortHeld,
            errors.AgentBusy,
            errors.WrongTask,
            errors.InvalidParams,
        ),
    ),
    Operation(
        name="db.session.contract",
        purpose="The resume contract: what a session would be told after a compaction.",
        request=hooks.ShowContract,
        reply=hooks.Contract,
        errors=_SESSION,
        scope="session",
    ),
    Operation(
        name="db.session.compactions",
        purpose="The places of a session's history that hold its exact context before each compaction.",
        request=hooks.ListCompactions,
        reply=hooks.Compactions,
        errors=_SESSION,
        scope="session",
    ),
    Operation(
        name="ingest.add",
        purpose="What was read of a transcript, in its order; what is known already is not written again.",
        request=hooks.AddEntries,
        reply=hooks.Ingested,
        errors=(errors.SessionNotFound,),
    ),
    Operation(
        name="ingest.list",
        purpose="Which transcripts are read, and how far.",
        request=hooks.ListIngests,
        reply=hooks.Ingests,
        errors=(errors.SessionNotFound,),
    ),
)
