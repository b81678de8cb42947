"""`ramet trust`: let a project's `ramet.yaml` set the keys that otherwise only its owner can set, or let a database
file inside a project be opened.
"""

import sys
from pathlib import Path

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import cell, clean, print_json, say, short_path, show_items
from ramet.config import trust as trusted_files
from ramet.config.database_trust import list_databases, trust_database
from ramet.config.files import read_file
from ramet.config.layers import list_owner_keys
from ramet.config.places import find_home
from ramet.config.project_files import PROJECT_FILE, ProjectFile, find_project_file
from ramet.config.secrets import hide_password
from ramet.errors import ConfigError, Forbidden
from ramet.protocol.replies import Page


@click.command(
    cls=Command,
    examples=[
        "ramet trust",
        "ramet trust ~/shop --yes",
        "ramet trust --list",
        "ramet trust --revoke ~/shop",
        "ramet trust ~/shop/dev.db",
    ],
)
@click.argument("path", required=False, type=references.path)
@click.option("--list", "is_list", is_flag=True, help="List the trusted files.")
@click.option("--revoke", is_flag=True, help="Trust the file no more.")
@click.option("--yes", is_flag=True, help="Trust the file without asking.")
@click.pass_obj
def trust(invocation: Invocation, path: str | None, is_list: bool, revoke: bool, yes: bool) -> None:
    """Show what the project's ramet.yaml would be allowed to do, and trust it.

    A ramet.yaml that you cloned can lower limits, but it cannot set a program, a driver, a database, an address or an
    environment variable. If you trust it, it can set everything, until its content changes. PATH is the file or its
    folder (default: the project here).

    A database file inside a project needs your trust, too: PATH is the file, which need not exist yet.
    """
    if is_list:
        return _list(invocation)
    if "RAMET_TOKEN" in invocation.environ or "RAMET_SESSION" in invocation.environ:
        raise Forbidden("an agent cannot change what is trusted", fix="run `ramet trust` in your own terminal")
    if revoke:
        return _revoke(invocation, path)
    if path is not None and _is_database(Path(path)):
        return _trust_database(invocation, Path(path).resolve(), is_sure=yes)
    return _trust(invocation, _find(invocation, path), is_sure=yes)


def _list(invocation: Invocation) -> None:
    environ = invocation.environ
    rows = Page(items=[*trusted_files.list_trusted(environ), *list_databases(environ)])
    columns = {
        "STATE": lambda row: "trusted" if row.is_current else "changed: no longer trusted",
        "FILE": lambda row: short_path(invocation, row.path),
    }
    show_items(invocation, rows, columns, nothing="no project's file is trusted")


def _revoke(invocation: Invocation, path: str | None) -> None:
    file = _name(invocation, path)
    was_trusted = trusted_files.revoke(invocation.environ, file)
    outcome = "is no longer trusted" if was_trusted else "was not trusted"
    say(invocation, {"path": str(file), "was_trusted": was_trusted}, f"{file} {outcome}")


def _trust(invocation: Invocation, found: ProjectFile, *, is_sure: bool) -> None:
    assert found.path is not None  # noqa: S101
    keys = list_owner_keys(found.path, found.content)
    shown = {name: hide_password(value) if name == "database.url" else cell(value) for name, value in keys.items()}
    if not invocation.as_json:
        _show(invocation, found.path, shown)
    if not is_sure:
        _confirm(found.path)
    trusted_files.trust(invocation.environ, found.path, found.content)
    if invocation.as_json:
        return print_json({"path": str(found.path), "keys": shown})
    return click.echo(f"{found.path} is trusted until it changes; `ramet trust --revoke {found.path}` revokes it")


def _is_database(path: Path) -> bool:
    return path.name != PROJECT_FILE and not path.is_dir()


def _trust_database(invocation: Invocation, file: Path, *, is_sure: bool) -> None:
    if not invocation.as_json:
        click.echo(
            clean(f"{short_path(invocation, str(file))} is a database. Ramet would run the efforts in its queue,")
        )
        click.echo("with your rights, and give its texts to your agents.")
    if not is_sure:
        _confirm(file)
    trust_database(invocation.environ, file)
    again = f"`ramet trust --revoke {file}` revokes it"
    say(invocation, {"path": str(file)}, f"{file} is trusted until another file is in its place; {again}")


def _show(invocation: Invocation, path: Path, keys: dict[str, str]) -> None:
    file = short_path(invocation, str(path))
    if not keys:
        return click.echo(f"{file} sets nothing that needs your trust.")
    click.echo(f"{file} would set:")
    for name, value in keys.items():
        click.echo(clean(f"  {name}: {value}"))
    return click.echo("It can then run programs, with your rights, and choose where your data goes.")


def _confirm(path: Path) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError("trust asks before it changes anything, and there is no terminal to ask on; give --yes.")
    if not click.confirm(f"Trust {path}?", err=True):
        click.echo("nothing was changed", err=True)
        raise click.exceptions.Exit(1)


def _find(invocation: Invocation, path: str | None) -> ProjectFile:
    """The file with its content. It has to pass the checks that it passes when it is used."""
    named = None if path is None else Path(path)
    folder = invocation.cwd if named is None else named.parent if named.name == PROJECT_FILE else named
    found = find_project_file(folder, invocation.environ)
    if found.path is not None and (named is None or found.path.parent == folder):
        read_file(found.path)  # so that a faulty file is refused before anything of it is shown
        return found
    reasons = "".join(f"; {each.path} {each.reason}" for each in found.passed_over)
    raise ConfigError(
        f"there is no {PROJECT_FILE} in {folder}{reasons}",
        value=str(folder),
        fix=f"name the file or its folder: `ramet trust PATH`; it must belong to you: `ls -l {folder}`",
    )


def _name(invocation: Invocation, path: str | None) -> Path:
    """The path by which a file is known, which may be gone."""
    if path is None:
        return _find(invocation, None).path or invocation.cwd
    named = Path(path)
    if trusted_files.read_entry(find_home(invocation.environ), named.resolve()):
        return named.resolve()
    return named if named.name == PROJECT_FILE else named / PROJECT_FILE
