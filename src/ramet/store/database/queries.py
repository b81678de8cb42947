"""Named queries: SQL lives in `.sql` files, each query with a name and a line that says what it is for.

A file in `sql/queries/` holds what both databases run; one of the same name in `sql/queries/postgres/` overrides the
queries that must differ there. Parameters are written `:name`.
"""

import re
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")


class Query:
    """One statement in both dialects."""

    __slots__ = ("name", "postgres", "sqlite")

    def __init__(self, name: str, sqlite: str, postgres: str) -> None:
        self.name = name
        self.sqlite = sqlite
        self.postgres = _PARAMETER.sub(r"%(\1)s", postgres.replace("%", "%%"))


class QueryFile:
    """The queries of one noun, as attributes; read when the first of them is used, or by `read_all`."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        _files.append(self)

    def __getattr__(self, name: str) -> Query:
        query = self.all.get(name)
        if query is None:
            raise AttributeError(f"sql/queries/{self._noun}.sql has no query {name!r}")
        setattr(self, name, query)
        return query

    @cached_property
    def all(self) -> dict[str, Query]:
        """Every query of the file by name."""
        folder = files("ramet.store") / "sql" / "queries"
        shared = read_queries(folder / f"{self._noun}.sql")
        overrides = read_queries(folder / "postgres" / f"{self._noun}.sql")
        return {name: Query(name, text, overrides.get(name, text)) for name, text in shared.items()}


_files: list[QueryFile] = []


def read_all() -> None:
    """Read the queries of every module that was imported, so that no file is needed any more."""
    for file in _files:
        _ = file.all


def read_queries(file: Traversable) -> dict[str, str]:
    """The statements of a file by name, without their comments."""
    if not file.is_file():
        return {}
    _, *parts = _NAME.split(file.read_text(encoding="utf-8"))
    return {name: _statement(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def _statement(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("--")]
    return "\n".join(lines).rstrip(";")


def split_statements(text: str) -> tuple[str, ...]:
    """The statements of a text, each without its semicolon; a comment is a line of its own."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    statements = (part.strip() for part in "\n".join(lines).split(";\n"))
    return tuple(part.rstrip(";") for part in statements if part)
