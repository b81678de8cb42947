"""A schema as a set of parts, so that two can be compared whatever way they came about.

A part is a table, a column, a constraint, an index, a trigger or a view, with its definition. The order of columns is
no part: a column that was added later is at the end.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_LONGEST = 120


class Part(NamedTuple):
    """What a part is called: `column efforts.run_agent`. One without a name of its own is called by its definition."""

    kind: str
    name: str


Schema = dict[Part, str]
"""The definition of each part."""


def compare(expected: Schema, found: Schema) -> list[str]:
    """Each difference as a sentence."""
    return [
        *(f"the {_call(part)} is missing: {_shorten(expected[part])}" for part in expected if part not in found),
        *(f"the {_call(part)} is not Ramet's: {_shorten(found[part])}" for part in found if part not in expected),
        *(
            f"the {_call(part)} is {_shorten(found[part])}, and should be {_shorten(definition)}"
            for part, definition in expected.items()
            if found.get(part, definition) != definition
        ),
    ]


def _call(part: Part) -> str:
    return f"{part.kind} {_shorten(part.name)}"


def _shorten(definition: str) -> str:
    return definition if len(definition) <= _LONGEST else f"{definition[:_LONGEST]}..."


def parse_table(name: str, statement: str) -> Iterator[tuple[Part, str]]:
    """The parts of a table, from the statement that SQLite keeps of it."""
    body, options = _body(statement)
    yield Part("table", name), options
    for item in _split(body):
        words = normalize(item)
        first, _, rest = words.partition(" ")
        if first.upper() in _CONSTRAINTS:
            yield Part("constraint", f"of {name}: {words}"), words
        else:
            yield Part("column", f"{name}.{first}"), rest


_CONSTRAINTS = ("CHECK", "UNIQUE", "PRIMARY", "FOREIGN", "CONSTRAINT")
_PIECE = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\(|\)|,|[^'(),-]+|-")
"""The pieces of a statement that matter for where a part of it ends."""
_QUOTED = re.compile(r'"(\w+)"')


def normalize(statement: str) -> str:
    """A statement without comments and line breaks, and without quotes around plain names."""
    pieces = (piece for piece in _PIECE.findall(statement) if not piece.startswith("--"))
    words = " ".join("".join(pieces).split())
    return _QUOTED.sub(r"\1", words).replace("( ", "(").replace(" )", ")")


def _body(statement: str) -> tuple[str, str]:
    start, end = statement.index("(") + 1, statement.rindex(")")
    return statement[start:end], normalize(statement[end + 1 :])


def _split(body: str) -> Iterator[str]:
    """The parts between the commas that are inside no brackets and no text."""
    depth, part = 0, ""
    for piece in _PIECE.findall(body):
        depth += {"(": 1, ")": -1}.get(piece, 0)
        if (piece, depth) == (",", 0):
            yield part
            part = ""
        else:
            part += piece
    yield part
