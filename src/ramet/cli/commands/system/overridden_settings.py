"""Settings of this place that hooks ignore: hooks read only the user's own settings, in every project."""

from collections.abc import Iterable, Iterator

import click

from ramet.cli.commands.system.hook_states import Problem
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, short_path
from ramet.config.files import user_file
from ramet.config.keys import KEYS
from ramet.config.layers import Configuration, load_own
from ramet.config.settings import Places
from ramet.hooks.program import find_own

_HEEDED = ("daemon.autostart", "hooks.deadline_ms", "hooks.start_deadline_ms", "hooks.on_daemon_down")
"""The keys that the hook program is made from, beside those of the database."""


def find_unheeded(invocation: Invocation) -> Iterator[Problem]:
    """Differences that a person who works here may not expect."""
    here, own = invocation.configuration, load_own(invocation.environ)
    places, own_places = invocation.places, find_own(invocation.environ, invocation.places.home).places
    file = short_path(invocation, str(user_file(invocation.environ)))
    if places.socket != own_places.socket:
        source = short_path(invocation, here.sources["database.path" if places.database else "database.url"])
        yield Problem(
            f"hooks write to your own database, {_database(invocation, own, own_places)}, but commands here use "
            f"{_database(invocation, here, places)} (from {source}) and do not show what hooks report",
            f"set the database in {file}, for all projects",
        )
    for key in (KEYS[name] for name in _HEEDED):
        if here.value(key) != own.value(key):
            source = short_path(invocation, here.sources[key.name])
            yield Problem(
                f"hooks ignore {key.name}: {here.value(key)} (from {source}) and use your own: {own.value(key)}",
                f"set {key.name} in {file}, for all projects",
            )


def _database(invocation: Invocation, configuration: Configuration, places: Places) -> str:
    """As people name it."""
    if places.database is None:
        return str(configuration.value(KEYS["database.url"]))
    return short_path(invocation, str(places.database))


def show_problems(problems: Iterable[Problem], *, err: bool = False) -> None:
    """Each with what to do about it."""
    for problem in problems:
        click.echo(clean(f"{problem.text}\n  fix: {problem.fix}"), err=err)
