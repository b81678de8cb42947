"""What people read when something fails: a fix names a command, never an operation or a page that is not installed."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

import ramet
from ramet import errors
from ramet.cli.main import ramet as ramet_group
from ramet.config.keys import KEYS
from ramet.protocol.operations import OPERATIONS

SOURCE = Path(ramet.__file__).parent
FOR_PROGRAMS = ("protocol/", "library/")
"""Layers that only programs meet: the wire, and the objects of `import ramet`."""
EXCEPTIONS = {
    ("errors.py", "db.task.list"): "an example of a request, for a program that sent an invalid one",
    ("cli/commands/system/rpc.py", "db.task.list"): "an example of `ramet rpc`, which calls an operation by its name",
    ("cli/commands/system/rpc.py", "daemon.ping"): "an example of `ramet rpc`, which calls an operation by its name",
}
"""Names of operations in texts for people, and why they are right."""
_OPERATION = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, OPERATIONS.keys() - KEYS.keys()))})(?!\w)")
"""A name that is also a configuration key is that of the key."""
_COMMAND = re.compile(r"`ramet ([^`]+)`")
_PAGE = re.compile(r"\bdocs/\S+\.md\b")


@cache
def list_texts() -> tuple[tuple[str, str], ...]:
    """What `_read_texts` reads, once for all tests."""
    return tuple(_read_texts())


def _read_texts() -> Iterator[tuple[str, str]]:
    """Every text of the source, with its file: messages, fixes, notices, prompts and log lines.

    Docstrings are left out, but those of errors are their default messages. A value in a text is `…`.
    """
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith(FOR_PROGRAMS):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        silent = {id(part) for node in ast.walk(tree) for part in _parts(node, is_message=name == "errors.py")}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                yield name, "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
                yield name, node.value


def _parts(node: ast.AST, *, is_message: bool) -> list[ast.expr]:
    """What is no text of its own: the pieces of an f-string, and a docstring unless it is a message."""
    match node:
        case ast.JoinedStr(values=values):
            return values
        case ast.Expr(value=value) if not is_message:
            return [value]
    return []


def test_texts_are_found_in_every_layer_that_raises_errors() -> None:
    found = set(list_texts())
    layers = {"ai", "cli", "client", "config", "daemon", "engine", "hooks", "keeper", "mcp", "model", "runner", "store"}
    assert layers <= {name.partition("/")[0] for name, _ in found}
    assert ("engine/record/lookup.py", "there is no effort …") in found
    assert ("errors.py", errors.EffortNotFound.hint) in found
    assert ("errors.py", errors.EffortNotFound.__doc__) in found


def test_no_text_for_people_names_an_operation() -> None:
    texts = ((name, text) for name, text in list_texts() if " " in text)  # without one it is an identifier
    found = {(name, each): text for name, text in texts for each in _OPERATION.findall(text)}
    assert {key: text for key, text in found.items() if key not in EXCEPTIONS} == {}
    assert EXCEPTIONS.keys() <= found.keys(), "an exception that no text needs"


def test_no_text_for_people_names_a_page_that_is_not_installed() -> None:
    assert [(name, text) for name, text in list_texts() if _PAGE.search(text)] == []


def test_every_command_that_a_text_names_exists() -> None:
    commands = {(name, line) for name, text in list_texts() for line in _COMMAND.findall(text)}
    assert len(commands) > 50
    assert {each: problem for each in commands if (problem := _find_problem(each[1]))} == {}


def _find_problem(line: str) -> str | None:
    """The first word or option of a command that the command line does not have."""
    command: click.Command = ramet_group
    words = line.split()
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return words[0]
        command, words = found, words[1:]
    options = {option for param in command.get_params(click.Context(command)) for option in param.opts}
    return next((word for word in words if word.startswith("--") and word not in options), None)


@pytest.mark.parametrize("kind", errors.BY_CODE.values(), ids=lambda kind: kind.__name__)
def test_every_error_says_what_failed_and_how_to_fix_it(kind: type[errors.RametError]) -> None:
    error = kind()
    assert re.fullmatch(r"[A-Z][^\n]*\.", error.message)
    assert re.fullmatch(r"[^A-Z\s][^\n]*[^.\s]", error.fix)


@pytest.mark.requirement("R304")
def test_every_refused_parameter_names_its_field_and_a_fix_of_its_own() -> None:
    """The hint of the class can only point to the list of parameters. What is accepted is known where it is refused."""
    poor = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == errors.InvalidParams.__name__
        and not {"field", "fix"} <= {keyword.arg for keyword in node.keywords}
    ]
    assert poor == []
