"""`ramet completion`: the script that makes a shell complete commands, options and names."""

import click

from ramet.cli.command import Command
from ramet.cli.commands.completion.shells import SHELLS, make_script


@click.command(
    cls=Command,
    examples=[
        'eval "$(ramet completion bash)"                    # in ~/.bashrc',
        'eval "$(ramet completion zsh)"                     # in ~/.zshrc, after compinit',
        "ramet completion fish > ~/.config/fish/completions/ramet.fish",
    ],
)
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    It completes commands, options, and the names of efforts, sessions, runs and branches with their titles. Names
    need a running daemon; completion never starts one.
    """
    click.echo(make_script(ctx.find_root().command, shell), nl=False)
