"""`ramet history commit`, `pick` and `edit`: the commands that add a commit to a branch."""

from pathlib import Path
from typing import Any, TypedDict, Unpack, get_args

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.history_places import find_commit
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, say
from ramet.cli.screens.commit_lines import short
from ramet.model.history.content import ContentRole, Priority
from ramet.protocol.history.commits import Commit, CommitReply, Edit, Log, Pick, Show

_NEWEST = 1000


class _Options(TypedDict):
    content_type: str | None
    role: ContentRole | None
    priority: Priority | None
    author: str | None
    metadata: dict[str, Any] | None


@click.command(
    cls=Command,
    examples=[
        "ramet history commit main 'The cart moves to the account.' --role assistant --tag decision",
        "ramet history commit main --type instruction 'Answer in one paragraph.'",
        "git diff | ramet history commit main - --type artifact",
        "ramet history commit main --file plan.md --type output --priority pinned",
        """ramet history commit s7 --content '{"content_type": "session", "session_type": "end", "summary": "Done"}'""",
    ],
)
@click.argument("branch", type=references.place)
@click.argument("text", required=False)
@click.option("--type", "content_type", help="The type of content (default: dialogue).")
@click.option("--role", type=click.Choice(get_args(ContentRole)), help="Who speaks (default: depends on the type).")
@click.option("--tag", "tags", multiple=True, help="A tag (repeatable).")
@click.option("--priority", type=click.Choice(get_args(Priority)), help="The commit's priority.")
@click.option("--file", type=click.Path(), help="Read the text from a file.")
@click.option("--content", type=references.json_object, metavar="JSON", help="Typed content instead of a text.")
@click.option("--author", help="The author.")
@click.option("--metadata", type=references.json_object, metavar="JSON", help="Metadata, a JSON object.")
@click.pass_obj
def commit(
    invocation: Invocation,
    /,
    branch: str,
    text: str | None,
    file: str | None,
    content: dict[str, Any] | None,
    tags: tuple[str, ...],
    **options: Unpack[_Options],
) -> None:
    """Add TEXT to a branch; a new name creates the branch.

    `-` reads TEXT from standard input; without TEXT your editor opens.
    A running agent does not see the commit.
    """
    if sum(part is not None for part in (text, file, content)) > 1:
        raise click.UsageError("give only one of TEXT, --file and --content.")
    said = None if content is not None else _read(file) if file else references.text_or_editor(text)
    request = Commit(branch=branch, text=said, content=content, tags=list(tags) or None, **options)
    _say(invocation, invocation.ask(request))


@click.command(cls=Command, examples=["ramet history pick main 3f9c2b7a", "ramet history pick main side~1"])
@click.argument("branch", type=references.place)
@click.argument("commit_hash", metavar="COMMIT", type=references.place)
@click.pass_obj
def pick(invocation: Invocation, branch: str, commit_hash: str) -> None:
    """Copy a commit to a branch. `ramet history undo BRANCH` removes it again."""
    _say(invocation, invocation.ask(Pick(branch=branch, hash=find_commit(invocation, commit_hash))))


@click.command(
    cls=Command,
    examples=[
        "ramet history edit main 3f9c2b7a",
        "ramet history edit main 3f9c2b7a 'The cart stays with the session.'",
    ],
)
@click.argument("branch", type=references.place)
@click.argument("commit_hash", metavar="COMMIT", type=references.place)
@click.argument("text", required=False)
@click.pass_obj
def edit(invocation: Invocation, branch: str, commit_hash: str, text: str | None) -> None:
    """Replace a commit's text. The old text is kept; `ramet history undo BRANCH` restores it.

    `-` reads TEXT from standard input; without TEXT your editor opens with the current text.
    """
    commit_hash = find_commit(invocation, commit_hash)
    if text is None:
        said = references.text_or_editor(None, _current_text(invocation, branch, commit_hash))
    else:
        said = references.text_or_stdin(text)
    _say(invocation, invocation.ask(Edit(branch=branch, target=commit_hash, text=said)))


def _current_text(invocation: Invocation, branch: str, commit_hash: str) -> str:
    """The text as the branch has it: that of the newest edit among its last commits, else the commit's own."""
    commit = invocation.ask(Show(hash=commit_hash))
    newest = invocation.ask(Log(branch=branch, limit=_NEWEST)).items
    edits = [row.hash for row in newest if row.target == commit.hash]
    return invocation.ask(Show(hash=edits[0])).text if edits else commit.text


def _say(invocation: Invocation, reply: CommitReply) -> None:
    hidden = f", {count(reply.redactions, 'secret')} removed" if reply.redactions else ""
    say(
        invocation,
        reply,
        f"{short(reply.hash)} on {reply.branch}, #{reply.depth}, {count(reply.tokens, 'token')}{hidden}",
    )


def _read(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{file} cannot be read: {error}", param_hint="--file") from error
