"""What a database says about itself, in the same words for both."""

from typing import Any

import apsw
import pytest
from tests.world import World


def columns_of(world: World, table: str) -> dict[str, bool]:
    """The columns of a table or a view, and whether each may be null."""
    if world.is_sqlite:
        rows = world.sql(f"SELECT name, \"notnull\" = 0 FROM pragma_table_info('{table}')")
    else:
        rows = world.sql(
            "SELECT column_name, is_nullable = 'YES' FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name = :name",
            name=table,
        )
    return {name: bool(nullable) for name, nullable in rows}


def relations(world: World, kind: str) -> set[str]:
    """The names of the tables, views or indexes."""
    if world.is_sqlite:
        rows = world.sql("SELECT name FROM sqlite_schema WHERE type = :kind AND name NOT LIKE 'sqlite%'", kind=kind)
    else:
        listing = {
            "table": "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
            "view": "SELECT viewname FROM pg_views WHERE schemaname = current_schema()",
            "index": "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()",
        }
        rows = world.sql(listing[kind])
    return {str(row[0]) for row in rows}


def refused(world: World, statement: str, /, **params: Any) -> str:
    """Run a statement that the database itself must refuse; what it says."""
    with pytest.raises(Exception, match=r"(?i)constraint|violates|duplicate") as refusal:
        world.sql(statement, **params)
    said = refusal.value.__cause__ or refusal.value
    if world.is_sqlite:
        assert isinstance(said, apsw.ConstraintError)
    else:
        assert type(said).__mro__[1].__name__ == "IntegrityError"
    return str(said)
