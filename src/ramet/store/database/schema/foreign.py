"""Whether the triggers and views of a database are those that our migrations made.

A trigger runs with each of our writes, and a view answers our reads in place of a table. A file that another person
made can have both. So they are compared before anything is written.
"""

import re
from collections.abc import Iterable

from ramet.errors import DatabaseForeign
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.database.schema.migrations import RESTORING, Dialect, Migration, load_migrations

_sql = QueryFile("database/migrations")
_STATEMENT = re.compile(r"(?P<verb>CREATE|DROP) (?P<kind>TRIGGER|VIEW) (?P<name>\w+)", re.IGNORECASE)


def refuse_altered(connection: Connection, dialect: Dialect, version: int) -> None:
    """Raise if a database of this version has a trigger or a view that is not ours, or if one of ours is different.

    A server does not keep the text of a view, and people make views of their own there. So there the triggers count.
    """
    migrations = load_migrations(dialect)
    if version > migrations[-1].number:
        return  # it is refused for that
    wanted = made_by(each for each in migrations if each.number <= version)
    found = {(kind, name): text for kind, name, text in connection.all(_sql.triggers_and_views)}
    for (kind, name), text in found.items():
        if (kind, name) not in wanted:
            raise _foreign(f"it has the {kind} {name}, which is not Ramet's", f"DROP {kind.upper()} {name}")
        if text is not None and text != wanted[kind, name]:
            raise _foreign(f"its {kind} {name} was changed", RESTORING[dialect])
    if dialect == "sqlite" and (missing := next((each for each in wanted if each not in found), None)):
        raise _foreign(f"its {' '.join(missing)} is missing", RESTORING[dialect])


def made_by(migrations: Iterable[Migration]) -> dict[tuple[str, str], str]:
    """The statement of each trigger and view that these migrations leave, by its kind and name."""
    made: dict[tuple[str, str], str] = {}
    for statement in (each for migration in migrations for each in migration.statements):
        if found := _STATEMENT.match(statement):
            key = (found["kind"].lower(), found["name"])
            if found["verb"].upper() == "CREATE":
                made[key] = statement
            else:
                made.pop(key, None)
    return made


def _foreign(problem: str, fix: str) -> DatabaseForeign:
    return DatabaseForeign(problem, field="database.path", fix=fix)
