"""The command line's entry point, and the table of its commands.

A command's module is imported when the command is run, so that `ramet --help` costs little more than click itself.
"""

import os
import sys
from importlib import import_module

import click

from ramet.cli.commands import Group, json_option
from ramet.cli.invocation import Invocation
from ramet.version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "status": ("ramet.cli.status:status", "One screen: the daemon, the database, what is going on."),
    "ps": ("ramet.cli.ps:ps", "Who is doing what: every agent that holds an effort."),
    "project": ("ramet.cli.project:project", "The directory trees that agents work on."),
    "task": ("ramet.cli.task:task", "The persistent containers of work."),
    "effort": ("ramet.cli.effort:effort", "Skills applied to tasks, phase by phase."),
    "session": ("ramet.cli.session:session", "The context windows at work, and their transcripts."),
    "agent": ("ramet.cli.agent:agent", "The identities in the fleet, and the efforts they hold."),
    "skill": ("ramet.cli.skill:skill", "The recipes of a project."),
    "events": ("ramet.cli.events:events", "What happened, and with --follow what happens."),
    "query": ("ramet.cli.query:query", "Run one SELECT on the database. It reads, and only reads."),
    "rpc": ("ramet.cli.rpc:rpc", "Every operation by its name, as programs call it."),
    "daemon": ("ramet.cli.daemon:daemon", "Start, stop and look at the process that stays up."),
    "db": ("ramet.cli.db:db", "Back up, check, migrate or reset the database."),
    "config": ("ramet.cli.config:config", "Every configuration key, its value and where it comes from."),
    "doctor": ("ramet.cli.doctor:doctor", "Check that everything Ramet needs is there and well."),
}
"""Each command: where it is, and what its line in the help says."""


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
        with formatter.section("Commands"):
            formatter.write_dl([(name, purpose) for name, (_, purpose) in COMMANDS.items()])


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
