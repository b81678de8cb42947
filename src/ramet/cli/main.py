"""The command line's entry point, and the table of its commands."""

import os
import sys

import click

from ramet.cli.command import json_option
from ramet.cli.commands.command_table import Commands, CommandTable
from ramet.cli.commands.moved_commands import MOVED, refuse_moved
from ramet.cli.invocation import Invocation
from ramet.version import __version__

_COMMANDS = "ramet.cli.commands"

DAILY: Commands = {
    "init": (f"{_COMMANDS}.system.init:init", "Set up a project, so that agents that you start are recorded."),
    "run": (f"{_COMMANDS}.runs.run:run", "Run the tasks of a markdown checklist; --resume continues a run."),
    "add": (f"{_COMMANDS}.queue.add:add", "Queue a prompt for an agent."),
    "work": (f"{_COMMANDS}.queue.work:work", "Run the queued efforts and watch them."),
    "chain": (f"{_COMMANDS}.runs.chain:chain", "Plan, implement and review until a review approves."),
    "ps": (f"{_COMMANDS}.look.ps:ps", "List the running agents: what each is doing and what it cost."),
    "show": (f"{_COMMANDS}.look.show:show", "Show anything by its name: e12, s7, r3, a branch, a commit."),
    "diff": (f"{_COMMANDS}.landing.diff:diff", "Show the code that an effort or a run has changed."),
    "land": (f"{_COMMANDS}.landing.land:land", "Merge, test and land what agents made on your branch."),
    "search": (f"{_COMMANDS}.memory.search:search", "Find anything that was said, done or decided."),
    "usage": (f"{_COMMANDS}.memory.usage:usage", "Show what agents used and cost, by day, project, model and more."),
    "undo": (f"{_COMMANDS}.history.undo:undo", "Undo a session's compaction or a branch's last rewrite."),
    "doctor": (f"{_COMMANDS}.system.doctor:doctor", "Check that Ramet and the agent programs can work."),
}
"""The commands of a working day, in its order."""

MORE: dict[str, Commands] = {
    "Watch": {
        "status": (f"{_COMMANDS}.look.status:status", "Show the daemon, the database and the work in progress."),
        "tree": (f"{_COMMANDS}.look.tree:tree", "Show which session spawned which, and what each cost."),
        "queue": (f"{_COMMANDS}.queue.queue:queue", "List running and waiting efforts."),
        "next": (f"{_COMMANDS}.queue.queue:next_work", "Show which effort runs next, or why none does."),
        "report": (f"{_COMMANDS}.queue.report:report", "Show the reports that efforts wrote."),
        "notices": (f"{_COMMANDS}.look.notices:notices", "List what needs your attention."),
        "events": (f"{_COMMANDS}.look.events:events", "List events; --follow waits for new ones."),
        "query": (f"{_COMMANDS}.look.query:query", "Run a read-only SELECT on the database."),
    },
    "Steer": {
        "retry": (f"{_COMMANDS}.queue.queue:retry", "Queue a fresh copy of a finished effort."),
        "resume": (f"{_COMMANDS}.queue.queue:resume", "Queue a finished effort again, in the same context window."),
        "allow": (f"{_COMMANDS}.queue.allow:allow", "Allow the calls that were refused to an agent, and resume it."),
        "drop": (f"{_COMMANDS}.queue.queue:drop", "Remove an effort from the queue."),
        "kill": (f"{_COMMANDS}.queue.kill:kill", "Stop an agent and every process that it started."),
        "spawn": (f"{_COMMANDS}.spawn.spawn:spawn", "Start a child session with a goal and wait for its result."),
        "budget": (f"{_COMMANDS}.spawn.budget:budget", "Show or set a session's budget, including its children."),
        "handoff": (f"{_COMMANDS}.record.handoff:handoff", "End a session and leave notes for the next one."),
        "note": (f"{_COMMANDS}.record.note:note", "Add a note to an effort's log."),
    },
    "Memory": {
        "import": (
            f"{_COMMANDS}.memory.imports.command:import_command",
            "Import the sessions that agents stored here.",
        ),
        "why": (f"{_COMMANDS}.memory.why:why", "Show which edit, prompt and effort a line comes from."),
        "recall": (f"{_COMMANDS}.memory.recall:recall", "Show what earlier sessions know about something."),
        "fix": (f"{_COMMANDS}.memory.recall:fix", "Show what ended an error before."),
        "how": (f"{_COMMANDS}.memory.recall:how", "List the commands of a tool that worked."),
        "files": (f"{_COMMANDS}.memory.recall:files", "List the files that sessions about a topic touched."),
        "export": (
            f"{_COMMANDS}.memory.archives.export:export",
            "Write sessions to a file: as an archive, as ATIF or as Markdown.",
        ),
    },
    "Records": {
        "project": (f"{_COMMANDS}.record.project:project", "Add, list and remove projects."),
        "task": (f"{_COMMANDS}.record.task:task", "Add, list and find tasks."),
        "effort": (f"{_COMMANDS}.record.effort:effort", "Start, list and finish efforts, phase by phase."),
        "session": (f"{_COMMANDS}.record.session:session", "List sessions, read, archive and purge their transcripts."),
        "landings": (f"{_COMMANDS}.landing.landings:landings", "List, show, retry and drop landings."),
        "runs": (f"{_COMMANDS}.runs.runs:runs", "List, show, archive, purge and clean up runs."),
        "agent": (f"{_COMMANDS}.record.agent:agent", "Register agents and assign efforts to them."),
        "skill": (f"{_COMMANDS}.record.skill:skill", "List and read the skills of a project."),
        "worktree": (f"{_COMMANDS}.queue.worktree:worktree", "List and clean up the agents' worktrees."),
    },
    "Context": {
        "history": (f"{_COMMANDS}.history.history:history", "Branch, compress, merge and undo what agents know."),
    },
    "Set up": {
        "config": (f"{_COMMANDS}.system.config:config", "Show, set and unset configuration keys."),
        "trust": (f"{_COMMANDS}.system.trust:trust", "Let a project's ramet.yaml set what only you can set."),
        "redact": (f"{_COMMANDS}.record.redact:redact", "Find and remove secrets that are already stored."),
        "drivers": (f"{_COMMANDS}.queue.drivers:drivers", "List the agent programs that Ramet can run."),
        "hooks": (f"{_COMMANDS}.system.hooks:hooks", "Record the agents that you start yourself."),
        "mcp": (f"{_COMMANDS}.system.mcp:mcp", "Give agents tools to spawn, report and take notes."),
        "status-line": (f"{_COMMANDS}.look.status_line:status_line", "Print an agent's progress in a few characters."),
        "completion": (f"{_COMMANDS}.completion.completion:completion", "Print the completion script for your shell."),
        "daemon": (f"{_COMMANDS}.system.daemon:daemon", "Start, stop and inspect the daemon."),
        "db": (f"{_COMMANDS}.database.db:db", "Back up, measure, check, restore, migrate or reset the database."),
        "uninstall": (f"{_COMMANDS}.uninstall.uninstall:uninstall", "Remove Ramet from this machine, step by step."),
        "rpc": (f"{_COMMANDS}.system.rpc:rpc", "Call any operation by its name, as programs do."),
        "help": (f"{_COMMANDS}.system.help:help_command", "Show this page, a command's help, or --all commands."),
    },
}

SECTIONS: dict[str, Commands] = {"Daily": DAILY, **MORE}
COMMANDS = {name: row for section in SECTIONS.values() for name, row in section.items()}


class FirstScreen(CommandTable):
    """The top level. Its help fits one screen: the daily commands, and the names of the others."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing:
            refuse_moved(ctx, args)
        return super().resolve_command(ctx, args)

    def suggestions(self, ctx: click.Context) -> dict[str, str]:
        moved = {old[-1]: f"ramet {' '.join(new)}" for old, new in MOVED.items()}
        return {**moved, **super().suggestions(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, [*DAILY, *MORE]))
        with formatter.section("Daily"):
            formatter.write_dl([(f"{name:{width}}", purpose) for name, (_, purpose) in DAILY.items()])
        with formatter.section("More"):
            formatter.write_dl([(f"{heading:{width}}", ", ".join(commands)) for heading, commands in MORE.items()])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        names = [param.opts[-1] for param in self.get_params(ctx)]
        with formatter.section("Options before a command"):
            formatter.write_text(f"{', '.join(names)}: `ramet help --all` explains them")


def _show_version(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from ramet.build import own_revision  # noqa: PLC0415

        click.echo(f"ramet, version {__version__}, build {own_revision()}")
        ctx.exit()


@click.group(
    cls=FirstScreen,
    sections=SECTIONS,
    epilog="`ramet COMMAND --help` has examples. `ramet help --all` lists every command.",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[json_option()],
)
@click.option("--home", metavar="DIR", help="Use this data directory instead of RAMET_HOME.")
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Set a configuration key (repeatable).")
@click.option("--debug", is_flag=True, help="Show the traceback if Ramet itself fails.")
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and the build.",
)
@click.pass_obj
def ramet(invocation: Invocation, home: str | None, assignments: tuple[str, ...], debug: bool) -> None:
    """Run coding agents, keep everything that they do, and continue after any crash."""
    invocation.shows_tracebacks = debug
    invocation.use(home, assignments)


def main() -> int:
    """Run the command line; its exit status."""
    invocation = Invocation(dict(os.environ))
    if "_RAMET_COMPLETE" in os.environ:
        from ramet.cli.commands.completion.shells import complete  # noqa: PLC0415

        return complete(ramet, invocation)
    try:
        status = ramet.main(prog_name="ramet", standalone_mode=False, obj=invocation)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  people never see a traceback that they did not ask for
        from ramet.cli.failures import report  # noqa: PLC0415

        return report(error, invocation)
    return status if isinstance(status, int) else 0
