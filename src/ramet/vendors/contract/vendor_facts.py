"""Facts: what is true of an agent program whoever runs it. They are plain data, so that asking for them costs little.

A fact is here if code outside the vendor's folder needs it and it is no part of starting the program (`driver`), of its
hooks or of its files. This module imports only `typing`: commands that agents run many times a minute read facts.
"""

from typing import NamedTuple


class Facts(NamedTuple):
    """The facts about one program. A program that has no such thing leaves the default."""

    title: str
    """The program's name as people write it."""
    passed_variables: tuple[str, ...] = ()
    """The environment variables that hold its settings and keys; * stands for anything. Agents see them by default."""
    session_variables: tuple[str, ...] = ()
    """The variables that tell the commands that it starts which session runs them. The first that is set counts."""
    server_session_variable: str | None = None
    """The variable that tells its MCP servers the same."""
    call_session_field: str | None = None
    """The field of `_meta` in each call of an MCP tool that tells it, if no variable does."""
    own_variables: frozenset[str] = frozenset()
    """All variables that describe its running session to the commands that it starts. No agent may inherit them: it
    would pass for a part of that session, and hold its keys.
    """
    directive_file: str | None = None
    """The name of the files from which it reads a project's directives."""
    settings_folder: str | None = None
    """The folder in a project whose files say what it runs: settings, hooks, commands."""
    skill_folder: str | None = None
    """The folder of its skills, in a project and in the user's home."""
    permission_mode: str | None = None
    """The mode that it runs in, unless a profile names another."""
    freedoms: dict[str, int] | None = None
    """What each of its permission modes lets it do unasked: 0 read, 1 what a person approves, 2 edit, 3 everything. A
    program of the user's own has no modes.
    """
    resume_arguments: tuple[str, ...] = ()
    """What a person types behind the program's name, before its own name of a session, to open that session again."""
    shows_status_line: bool = False
    """Whether it shows a line of ours below its prompt."""
