"""Which history spawned which, as a picture."""

from collections.abc import Iterator
from typing import NamedTuple

from ramet.cli.exchanges import ask_many
from ramet.cli.invocation import Invocation
from ramet.cli.screens.styled_lines import Line, is_unicode, print_lines
from ramet.protocol.history.child_branches import SpawnRow, Spawns

Children = dict[str, list[SpawnRow]]
"""The spawns of each history, the oldest first."""


class Tree(NamedTuple):
    """A root history and all its descendants."""

    root: str
    children: Children


def read_tree(invocation: Invocation, name: str) -> Tree:
    """The tree that a history belongs to, read from its root, a generation at a time."""
    ancestors = invocation.ask(Spawns(branch=name)).ancestors
    root = ancestors[-1] if ancestors else name
    children: Children = {}
    generation = [root]
    while generation:
        found = ask_many(invocation, [Spawns(branch=each) for each in generation])
        children |= {each: reply.children for each, reply in zip(generation, found, strict=True)}
        generation = [spawn.child for reply in found for spawn in reply.children if spawn.child not in children]
    return Tree(root, children)


def show_tree(tree: Tree, name: str) -> None:
    """Each history on a line below its parent; the one that a person asked for is highlighted."""
    print_lines(_lines(tree, name), cut=True)


def _lines(tree: Tree, name: str) -> Iterator[Line]:
    last, other, line, gap = ("└─ ", "├─ ", "│  ", "   ") if is_unicode() else ("`- ", "|- ", "|  ", "   ")
    yield [(tree.root, _style(tree.root, name))]
    ahead = [(spawn, "", index == 0) for index, spawn in enumerate(reversed(tree.children[tree.root]))]
    while ahead:
        spawn, indent, is_last = ahead.pop()
        yield [
            (indent + (last if is_last else other), "dim"),
            (spawn.child, _style(spawn.child, name)),
            _rest(spawn),
        ]
        below = indent + (gap if is_last else line)
        spawns = reversed(tree.children.get(spawn.child, []))
        ahead += [(each, below, index == 0) for index, each in enumerate(spawns)]


def _style(branch: str, name: str) -> str:
    return "bold green" if branch == name else ""


def _rest(spawn: SpawnRow) -> tuple[str, str]:
    count = len(spawn.collapses)
    folded = f", collapsed {count} times" if count > 1 else ", collapsed" if count else ""
    return f"  {spawn.purpose} ({spawn.inheritance_mode}{folded})", "dim"
