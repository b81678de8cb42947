"""A schema as data, so that two can be compared."""

import re
from typing import Any

from tests.world import World, words

_COLUMNS = """
SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity, collation_name
FROM information_schema.columns
WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position
"""
_CONSTRAINTS = """
SELECT conrelid::regclass::text, conname, contype, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
_INDEXES = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname"
_VIEWS = "SELECT viewname, definition FROM pg_views WHERE schemaname = current_schema() ORDER BY viewname"


def dump_schema(world: World) -> dict[str, Any]:
    """Everything that the catalog says."""
    if world.is_sqlite:
        rows = world.sql(
            "SELECT type, name, sql FROM sqlite_schema "
            "WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY type, name"
        )
        return {
            "tables": [(name, words(sql)) for kind, name, sql in rows if kind == "table"],
            "others": [(kind, name, words(sql)) for kind, name, sql in rows if kind != "table"],
        }
    schema = str(world.sql("SELECT current_schema()")[0][0])
    listed = {"tables": _COLUMNS, "constraints": _CONSTRAINTS, "indexes": _INDEXES, "views": _VIEWS}
    return {
        name: [re.sub(rf"\b{schema}\.", "", repr(row)) for row in world.sql(statement)]
        for name, statement in listed.items()
    }
