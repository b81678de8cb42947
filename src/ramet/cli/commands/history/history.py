"""`ramet history`: the version control of what agents know, in git's words."""

import click

from ramet.cli.commands.command_table import Commands, CommandTable

_FOLDER = "ramet.cli.commands.history"

SECTIONS: dict[str, Commands] = {
    "Read": {
        "log": (f"{_FOLDER}.log:log", "List the commits of branches; --graph draws them."),
        "show": (f"{_FOLDER}.show:show", "Show a commit, or the last commit of a branch."),
        "compile": (f"{_FOLDER}.compile:compile_branch", "Print the messages that a model gets from a branch."),
        "diff": (f"{_FOLDER}.diff:diff", "Compare what a model gets from two branches."),
        "expand": (f"{_FOLDER}.compress:expand", "Show the commits that a summary or a collapse replaced."),
        "moves": (f"{_FOLDER}.moves:moves", "List the rewrites of a branch."),
    },
    "Add": {
        "branch": (f"{_FOLDER}.branch:branch", "List, create and delete branches."),
        "commit": (f"{_FOLDER}.commit:commit", "Add a text to a branch."),
        "pick": (f"{_FOLDER}.commit:pick", "Copy a commit to a branch."),
        "merge": (f"{_FOLDER}.merge:merge", "Merge one branch into another."),
        "spawn": (f"{_FOLDER}.spawn:spawn", "Start a child branch from a parent."),
        "collapse": (f"{_FOLDER}.spawn:collapse", "Fold a child branch into its parent as one commit."),
    },
    "Rewrite": {
        "edit": (f"{_FOLDER}.commit:edit", "Replace a commit's text."),
        "compress": (f"{_FOLDER}.compress:compress", "Replace a range of commits with a summary."),
        "reset": (f"{_FOLDER}.moves:reset", "Move a branch to another commit."),
        "undo": (f"{_FOLDER}.undo:undo_rewrite", "Undo the last rewrites of a branch."),
    },
    "Mark": {
        "pin": (f"{_FOLDER}.annotate:pin", "Keep a commit in every budget."),
        "skip": (f"{_FOLDER}.annotate:skip", "Hide a commit from models."),
        "annotate": (f"{_FOLDER}.annotate:annotate", "Set a commit's priority."),
        "tag": (f"{_FOLDER}.annotate:tag", "Set a commit's tags."),
    },
    "Clean up": {
        "gc": (f"{_FOLDER}.gc:gc", "Delete commits that no branch reaches."),
    },
}


@click.group(
    cls=CommandTable,
    sections=SECTIONS,
    epilog="`ramet history COMMAND --help` has examples. `git` versions your code; this versions what agents know.",
)
def history() -> None:
    """Version control of what agents know: every session's context is a branch of commits.

    `s7` names the branch of session 7. Nothing is lost by rewriting: `ramet history undo BRANCH` restores it.
    """
