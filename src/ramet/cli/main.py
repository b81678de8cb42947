"""The command line's entry point, and the table of its commands.

A command's module is imported when the command is run, so that `ramet --help` costs little more than click itself.
"""

import os
import sys
from importlib import import_module

import click

from ramet.cli.command import Group, json_option
from ramet.cli.invocation import Invocation
from ramet.version import __version__

SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Look": {
        "status": ("ramet.cli.commands.look.status:status", "One screen: the daemon, the database, what is going on."),
        "ps": ("ramet.cli.commands.look.ps:ps", "Who is doing what: every agent that holds an effort."),
        "tree": ("ramet.cli.commands.look.tree:tree", "Who spawned whom, what each is doing, and what it cost."),
        "log": ("ramet.cli.commands.history.log:log", "The commits of branches, the newest first; --graph draws them."),
        "show": ("ramet.cli.commands.look.show:show", "Whatever a reference names: a commit, a branch, e12, s7, r3."),
        "diff": ("ramet.cli.commands.history.diff:diff", "How two contexts differ."),
        "compile": ("ramet.cli.commands.history.compile:compile_branch", "What a model would be given of a branch."),
        "expand": ("ramet.cli.commands.history.compress:expand", "What stands behind a summary or a collapse."),
        "events": ("ramet.cli.commands.look.events:events", "What happened, and with --follow what happens."),
        "query": ("ramet.cli.commands.look.query:query", "Run one SELECT on the database. It reads, and only reads."),
    },
    "Queue": {
        "add": ("ramet.cli.commands.queue.add:add", "Put an effort into the queue."),
        "queue": ("ramet.cli.commands.queue.queue:queue", "What runs and what waits."),
        "next": ("ramet.cli.commands.queue.queue:next_work", "What would be claimed next, or why nothing would."),
        "work": ("ramet.cli.commands.queue.work:work", "Run what is queued, and watch."),
        "retry": ("ramet.cli.commands.queue.queue:retry", "Queue a fresh copy of a finished effort."),
        "resume": ("ramet.cli.commands.queue.queue:resume", "Queue a finished effort again, with its context window."),
        "drop": ("ramet.cli.commands.queue.queue:drop", "Take an effort out of the queue for good."),
        "kill": ("ramet.cli.commands.queue.kill:kill", "End what runs, with everything that it started."),
        "notices": ("ramet.cli.commands.look.notices:notices", "What needs your attention."),
        "report": ("ramet.cli.commands.queue.report:report", "The texts that efforts leave behind."),
        "worktree": (
            "ramet.cli.commands.queue.worktree:worktree",
            "List and clean up the worktrees that agents work in.",
        ),
        "drivers": (
            "ramet.cli.commands.queue.drivers:drivers",
            "The agent programs: which are installed, what they can do.",
        ),
    },
    "Runs": {
        "run": (
            "ramet.cli.commands.runs.run:run",
            "Run the tasks of a markdown checklist, and watch; go on with --resume.",
        ),
        "chain": ("ramet.cli.commands.runs.chain:chain", "Plan, implement and review until a review approves."),
        "runs": ("ramet.cli.commands.runs.runs:runs", "List, show, archive and clean up runs."),
    },
    "Spawn": {
        "spawn": (
            "ramet.cli.commands.spawn.spawn:spawn",
            "Give a session a child with a goal, and wait for what comes of it.",
        ),
        "budget": (
            "ramet.cli.commands.spawn.budget:budget",
            "What sessions may use with all below them, and what they have used.",
        ),
    },
    "Work": {
        "project": ("ramet.cli.commands.record.project:project", "The directory trees that agents work on."),
        "task": ("ramet.cli.commands.record.task:task", "The persistent containers of work."),
        "effort": ("ramet.cli.commands.record.effort:effort", "Skills applied to tasks, phase by phase."),
        "session": ("ramet.cli.commands.record.session:session", "The context windows at work, and their transcripts."),
        "note": ("ramet.cli.commands.record.note:note", "Write into the log of an effort."),
        "handoff": (
            "ramet.cli.commands.record.handoff:handoff",
            "End a context window, and leave what the next one needs.",
        ),
        "agent": ("ramet.cli.commands.record.agent:agent", "The identities in the fleet, and the efforts they hold."),
        "skill": ("ramet.cli.commands.record.skill:skill", "The recipes of a project."),
    },
    "History": {
        "commit": ("ramet.cli.commands.history.commit:commit", "Add a text to a branch."),
        "branch": (
            "ramet.cli.commands.history.branch:branch",
            "List, create and delete branches; spawn and collapse children.",
        ),
        "merge": ("ramet.cli.commands.history.merge:merge", "Join what was added elsewhere into a branch."),
        "pick": ("ramet.cli.commands.history.commit:pick", "Add a copy of a commit to a branch."),
        "edit": ("ramet.cli.commands.history.commit:edit", "Put another text in the place of a commit's."),
        "compress": ("ramet.cli.commands.history.compress:compress", "Put a summary in the place of a range."),
        "reset": ("ramet.cli.commands.history.branch:reset", "Let a branch point at another place."),
        "undo": (
            "ramet.cli.commands.history.undo:undo",
            "Take back the rewrites of a branch, or the compaction of a session.",
        ),
        "pin": ("ramet.cli.commands.history.annotate:pin", "Keep a commit within any budget."),
        "skip": ("ramet.cli.commands.history.annotate:skip", "Leave a commit out of what models read."),
        "annotate": ("ramet.cli.commands.history.annotate:annotate", "Say how much a commit matters."),
        "tag": ("ramet.cli.commands.history.annotate:tag", "Set a commit's tags."),
        "gc": ("ramet.cli.commands.history.gc:gc", "Delete what nothing reaches any more."),
    },
    "Ramet itself": {
        "daemon": ("ramet.cli.commands.system.daemon:daemon", "Start, stop and look at the process that stays up."),
        "db": ("ramet.cli.commands.system.db:db", "Back up, check, migrate or reset the database."),
        "config": (
            "ramet.cli.commands.system.config:config",
            "Every configuration key, its value and where it comes from.",
        ),
        "init": ("ramet.cli.commands.system.init:init", "Set a project up in one step; --remove takes it back."),
        "hooks": (
            "ramet.cli.commands.system.hooks:hooks",
            "What agents that you start yourself tell Ramet while they work.",
        ),
        "status-line": (
            "ramet.cli.commands.look.status_line:status_line",
            "What an agent is at, in a few characters: [2:impl:P3].",
        ),
        "mcp": (
            "ramet.cli.commands.system.mcp:mcp",
            "The tools that agents call, and which agent programs know of them.",
        ),
        "doctor": ("ramet.cli.commands.system.doctor:doctor", "Check that everything Ramet needs is there and well."),
        "rpc": ("ramet.cli.commands.system.rpc:rpc", "Every operation by its name, as programs call it."),
    },
}
"""The commands under their headings in the help. Each: where it is, and what its line says."""

COMMANDS = {name: command for section in SECTIONS.values() for name, command in section.items()}


class CommandTable(Group):
    """The top level: it knows its commands by name and imports one when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, COMMANDS))
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", purpose) for name, (_, purpose) in commands.items()])


@click.group(
    cls=CommandTable,
    epilog="`ramet COMMAND --help` has examples.",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[json_option()],
)
@click.option("--home", metavar="DIR", help="Where Ramet keeps its things, instead of RAMET_HOME.")
@click.option(
    "--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Set a configuration key; may be repeated."
)
@click.version_option(__version__, prog_name="ramet")
@click.pass_obj
def ramet(invocation: Invocation, home: str | None, assignments: tuple[str, ...]) -> None:
    """The durable memory and the supervisor of a fleet of coding agents."""
    if home is not None:
        invocation.environ["RAMET_HOME"] = os.path.abspath(home)  # noqa: PTH100
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not equals:
            raise click.BadParameter(f"{assignment!r} is not KEY=VALUE", param_hint="--set")
        invocation.flags[key] = value


def main() -> int:
    """Run the command line; its exit status."""
    invocation = Invocation(dict(os.environ))
    try:
        status = ramet.main(prog_name="ramet", standalone_mode=False, obj=invocation)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  what is nobody's fault is raised again
        from ramet.cli.failures import report  # noqa: PLC0415

        return report(error, as_json=invocation.as_json)
    return status if isinstance(status, int) else 0
