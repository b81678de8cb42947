"""The table of operations: everything that may be asked of Ramet, each once.

The RPC server, the library, the generated reference and the completeness tests all read this table. A new
operation is a row here, a request in `requests`, and a function in `ramet.engine`.
"""

from ramet import errors
from ramet.model.event import Event
from ramet.model.record.agent import Agent, FleetMember
from ramet.model.record.message import Message
from ramet.model.record.project import Project
from ramet.model.record.session import Session
from ramet.model.record.skill import Skill
from ramet.model.record.task import Task
from ramet.protocol import replies, requests
from ramet.protocol.ai import AI_OPERATIONS
from ramet.protocol.command_operations import COMMAND_OPERATIONS
from ramet.protocol.history_operations import HISTORY_OPERATIONS
from ramet.protocol.hook_operations import HOOK_OPERATIONS
from ramet.protocol.operation import Operation
from ramet.protocol.replies import Page
from ramet.protocol.run_operations import RUN_OPERATIONS
from ramet.protocol.spawn_operations import SPAWN_OPERATIONS
from ramet.protocol.work_operations import WORK_OPERATIONS

__all__ = ["BY_REQUEST", "OPERATIONS", "Operation"]

_SESSION = (errors.SessionNotFound,)
_EFFORT = (errors.EffortNotFound,)

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation(
            name="db.project.upsert",
            purpose="Register a project by its absolute path, or change its name.",
            request=requests.UpsertProject,
            reply=Project,
        ),
        Operation(
            name="db.project.list",
            purpose="All projects.",
            request=requests.ListProjects,
            reply=Page[Project],
        ),
        Operation(
            name="db.task.upsert",
            purpose="Create a task, or change what is given; its project is the one whose path contains it.",
            request=requests.UpsertTask,
            reply=Task,
            errors=(errors.ProjectNotFound,),
        ),
        Operation(
            name="db.task.find",
            purpose="The tasks that match a keyword, a workspace or a project.",
            request=requests.FindTasks,
            reply=Page[Task],
            errors=(errors.ProjectNotFound,),
        ),
        Operation(
            name="db.task.list",
            purpose="All tasks, or those of one project, the most recently active first.",
            request=requests.ListTasks,
            reply=Page[Task],
            errors=(errors.ProjectNotFound,),
        ),
        Operation(
            name="db.effort.start",
            purpose="Apply a skill to a task. With a session, that session goes on with the new effort.",
            request=requests.StartEffort,
            reply=replies.EffortReply,
            errors=(
                errors.TaskNotFound,
                errors.UnknownSkill,
                errors.SessionNotFound,
                errors.SessionEnded,
                errors.WrongTask,
                errors.AgentBusy,
            ),
        ),
        Operation(
            name="db.effort.finish",
            purpose="Finish an effort with its outcome; its agent is free again. Twice changes nothing.",
            request=requests.FinishEffort,
            reply=replies.EffortReply,
            errors=(errors.EffortNotFound, errors.EffortHeld),
        ),
        Operation(
            name="db.effort.phase",
            purpose="Enter a phase of the effort's skill, with its proof. The same phase again changes nothing.",
            request=requests.EnterPhase,
            reply=replies.PhaseReply,
            errors=(
                errors.EffortNotFound,
                errors.EffortFinished,
                errors.UnknownPhase,
                errors.PhaseNotSequential,
                errors.InvalidProof,
            ),
        ),
        Operation(
            name="db.effort.get",
            purpose="An effort, its holder, and the phases it went through.",
            request=requests.GetEffort,
            reply=replies.EffortDetail,
            errors=_EFFORT,
            scope="session",
        ),
        Operation(
            name="db.effort.list",
            purpose="The efforts of a task by their ordinal.",
            request=requests.ListEfforts,
            reply=Page[replies.EffortReply],
            errors=(errors.TaskNotFound,),
        ),
        Operation(
            name="db.effort.validate",
            purpose="Whether an effort's record is complete: pass or fail for each check.",
            request=requests.ValidateEffort,
            reply=replies.Validation,
            errors=_EFFORT,
            host="workplace",
        ),
        Operation(
            name="db.session.start",
            purpose="Record a context window at work on an effort; the agent's session before it ends.",
            request=requests.StartSession,
            reply=replies.SessionReply,
            errors=(
                errors.TaskNotFound,
                errors.EffortNotFound,
                errors.SessionNotFound,
                errors.EffortFinished,
                errors.WrongTask,
                errors.EffortHeld,
                errors.AgentBusy,
                errors.SessionEnded,
            ),
        ),
        Operation(
            name="db.session.finish",
            purpose="End a session, with what it hands to the next. Twice changes nothing.",
            request=requests.FinishSession,
            reply=replies.SessionReply,
            errors=_SESSION,
        ),
        Operation(
            name="db.session.bindEffort",
            purpose="Let a session go on with another effort of its task.",
            request=requests.BindEffort,
            reply=replies.SessionReply,
            errors=(
                errors.SessionNotFound,
                errors.SessionEnded,
                errors.EffortNotFound,
                errors.EffortFinished,
                errors.WrongTask,
                errors.EffortHeld,
                errors.AgentBusy,
            ),
        ),
        Operation(
            name="db.session.heartbeat",
            purpose="A sign of life: counts one tool call and notes the time.",
            request=requests.Heartbeat,
            reply=replies.SessionReply,
            errors=(errors.SessionNotFound, errors.SessionEnded),
        ),
        Operation(
            name="db.session.updateContextUsage",
            purpose="How full the session's context window is, from 0 to 1.",
            request=requests.UpdateContextUsage,
            reply=replies.SessionReply,
            errors=(errors.SessionNotFound, errors.SessionEnded),
        ),
        Operation(
            name="db.session.updateLoadedFiles",
            purpose="Which files the session has in its context.",
            request=requests.UpdateLoadedFiles,
            reply=replies.SessionReply,
            errors=(errors.SessionNotFound, errors.SessionEnded),
        ),
        Operation(
            name="db.session.get",
            purpose="A session by its id, or by its driver and native id.",
            request=requests.GetSession,
            reply=Session,
            errors=_SESSION,
            scope="session",
        ),
        Operation(
            name="db.session.find",
            purpose="Sessions by task, effort or agent, the newest first.",
            request=requests.FindSessions,
            reply=Page[Session],
            scope="session",
        ),
        Operation(
            name="db.skills.upsert",
            purpose="Register a project's skill, or replace the parts that are given.",
            request=requests.UpsertSkill,
            reply=Skill,
            errors=(errors.ProjectNotFound,),
        ),
        Operation(
            name="db.skills.get",
            purpose="A skill as a project sees it: its own, else the built-in one.",
            request=requests.GetSkill,
            reply=Skill,
            errors=(errors.ProjectNotFound, errors.SkillNotFound),
        ),
        Operation(
            name="db.skills.list",
            purpose="A project's skills, built-in ones included.",
            request=requests.ListSkills,
            reply=Page[Skill],
            errors=(errors.ProjectNotFound,),
        ),
        Operation(
            name="db.skills.delete",
            purpose="Forget a project's skill; a built-in one of that name shows again.",
            request=requests.DeleteSkill,
            reply=replies.Deleted,
            errors=(errors.ProjectNotFound,),
        ),
        Operation(
            name="db.skills.find",
            purpose="Registered skills whose name or content has a word, in one project or all.",
            request=requests.FindSkills,
            reply=Page[Skill],
            errors=(errors.ProjectNotFound,),
        ),
        Operation(
            name="db.messages.append",
            purpose="Add one turn to a session's transcript.",
            request=requests.AppendMessage,
            reply=Message,
            errors=_SESSION,
        ),
        Operation(
            name="db.messages.list",
            purpose="A session's transcript in order, a page at a time.",
            request=requests.ListMessages,
            reply=Page[Message],
            errors=_SESSION,
        ),
        Operation(
            name="db.agents.register",
            purpose="Register an agent, or change what is given.",
            request=requests.RegisterAgent,
            reply=Agent,
        ),
        Operation(
            name="db.agents.get",
            purpose="An agent and the effort it holds.",
            request=requests.GetAgent,
            reply=Agent,
            errors=(errors.AgentNotFound,),
        ),
        Operation(
            name="db.agents.list",
            purpose="All agents and the efforts they hold.",
            request=requests.ListAgents,
            reply=Page[Agent],
        ),
        Operation(
            name="db.agents.assign",
            purpose="Give an agent an effort, or with null take its effort away.",
            request=requests.AssignAgent,
            reply=Agent,
            errors=(
                errors.AgentNotFound,
                errors.EffortNotFound,
                errors.EffortFinished,
                errors.EffortHeld,
                errors.AgentBusy,
            ),
        ),
        Operation(
            name="db.counts",
            purpose="How much there is of everything, and how much of it is going on.",
            request=requests.CountRows,
            reply=replies.Counts,
        ),
        Operation(
            name="db.query",
            purpose="Run one SELECT. It reads, and only reads.",
            request=requests.Query,
            reply=replies.QueryResult,
            errors=(errors.QueryRefused, errors.QueryFailed, errors.QueryTimeout),
            host="store",
        ),
        Operation(
            name="db.check",
            purpose="Verify the database: its pages, references, hashes and branches.",
            request=requests.CheckDatabase,
            reply=replies.CheckReport,
            host="store",
        ),
        Operation(
            name="db.backup",
            purpose="Write a consistent copy of the database to a new SQLite file, while work goes on.",
            request=requests.BackUpDatabase,
            reply=replies.BackupReport,
            errors=(errors.InvalidParams, errors.StorageFailed),
            host="store",
        ),
        Operation(
            name="fleet.status",
            purpose="Who is doing what: every agent that holds an effort.",
            request=requests.FleetStatus,
            reply=Page[FleetMember],
        ),
        Operation(
            name="fleet.stale",
            purpose="Open sessions without a sign of life for as long as limits.stale_seconds says.",
            request=requests.FleetStale,
            reply=Page[Session],
        ),
        Operation(
            name="events.list",
            purpose="Events in order, from any id on, or the newest.",
            request=requests.ListEvents,
            reply=Page[Event],
        ),
        Operation(
            name="events.subscribe",
            purpose="Events as they happen, from any id on; without one, from now.",
            request=requests.SubscribeEvents,
            reply=replies.Subscribed,
            host="daemon",
        ),
        Operation(
            name="daemon.hello",
            purpose="Say who calls, and learn who answers.",
            request=requests.Hello,
            reply=replies.HelloReply,
            host="daemon",
            scope="session",
        ),
        Operation(
            name="daemon.ping",
            purpose="Whether the daemon answers.",
            request=requests.Ping,
            reply=replies.Pong,
            host="daemon",
            scope="session",
        ),
        Operation(
            name="daemon.status",
            purpose="The daemon's socket, process, version, database and load.",
            request=requests.DaemonStatus,
            reply=replies.DaemonStatusReply,
            host="daemon",
        ),
        Operation(
            name="daemon.stop",
            purpose="Finish what is under way and stop.",
            request=requests.StopDaemon,
            reply=replies.Stopping,
            host="daemon",
        ),
        *HISTORY_OPERATIONS,
        *WORK_OPERATIONS,
        *RUN_OPERATIONS,
        *SPAWN_OPERATIONS,
        *HOOK_OPERATIONS,
        *COMMAND_OPERATIONS,
        *AI_OPERATIONS,
    )
}

BY_REQUEST: dict[type[requests.Request], Operation] = {row.request: row for row in OPERATIONS.values()}
"""The operation that a request is for."""
