"""Front matter: the YAML between two lines of `---` at the top of a markdown file, each key with its line."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import yaml
from msgspec import Struct

from ramet.errors import SkillFileInvalid

_MARK = "---"
_LONGEST = 64 * 1024
_LONGEST_NUMBER = 40
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


class _Loader(yaml.SafeLoader):
    """YAML as data alone. What points back at another place is refused: a few lines of it can mean gigabytes. So are
    numbers that take minutes to work out, and characters that only an escape can bring in and nobody can store.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="an alias is not allowed here", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_scalar(self, node: Any) -> Any:
        value = super().construct_scalar(node)
        if node.tag in _NUMBERS and len(value) > _LONGEST_NUMBER:
            raise yaml.MarkedYAMLError(problem="a number is too long", problem_mark=node.start_mark)
        if _UNSTORABLE.search(value):
            raise yaml.MarkedYAMLError(problem="a character cannot be stored as text", problem_mark=node.start_mark)
        return value


class Field(Struct, frozen=True):
    """One key, or an item of its list: what it is called and where it stands."""

    name: str
    line: int | None
    node: Any = None

    def refuse(self, message: str, fix: str, value: object = None) -> NoReturn:
        """Say what is wrong with it."""
        raise SkillFileInvalid(f"{self.name} {message}", line=self.line, field=self.name, value=value, fix=fix)

    def item(self, index: int) -> "Field":
        """An item of a list."""
        nodes = self.node.value if isinstance(self.node, yaml.SequenceNode) else []
        line = nodes[index].start_mark.line + 1 if index < len(nodes) else self.line
        return Field(f"{self.name}[{index}]", line)


class FrontMatter:
    """The keys of a file's front matter, and what stands behind it."""

    def __init__(self, text: str) -> None:
        front, self.body = _split(text)
        node, values = _load(front)
        self._values: Mapping[Any, Any] = values
        self._fields = {key.value: Field(key.value, key.start_mark.line + 1, value) for key, value in node}

    def line_of(self, key: str) -> int | None:
        """Where a key stands."""
        return self._fields[key].line if key in self._fields else None

    def read(self, key: str, reading: Callable[[Field, Any], Any]) -> Any:
        """What a key says, read as what it should be; None where it says nothing. `_` may stand for `-`."""
        spelled = key if key in self._values else key.replace("-", "_")
        value = self._values.get(spelled)
        return None if value is None else reading(self._fields[spelled], value)


def _split(text: str) -> tuple[str, str]:
    """The YAML, behind an empty line so that lines count as in the file; and what follows it."""
    lines = text.split("\n")
    if lines[0].rstrip() != _MARK:
        fix = "start the file with a line `---`, then `name: …` and `description: …`, then another line `---`"
        raise SkillFileInvalid("there is no front matter", line=1, fix=fix)
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() == _MARK), None)
    if end is None:
        raise SkillFileInvalid("the front matter does not end", line=1, fix="add a line `---` after it")
    front = "\n".join(["", *lines[1:end]])
    if len(front) > _LONGEST:
        raise SkillFileInvalid(
            f"the front matter is longer than {_LONGEST:,} characters", line=1, fix="move details below it"
        )
    return front, "\n".join(lines[end + 1 :]).strip("\n")


def _load(front: str) -> tuple[list[Any], dict[Any, Any]]:
    """The nodes of the keys and their values, as YAML has them."""
    try:
        loader = _Loader(front)
        node = loader.get_single_node()
        values = {} if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise SkillFileInvalid(f"not YAML: {error.problem}", line=line, fix="fix the YAML there") from error
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # PyYAML lets the others escape for values that only look like a date or a number, and for deep nesting.
        raise SkillFileInvalid("the front matter is not YAML", line=1, fix="fix the YAML") from error
    if not isinstance(values, dict):
        raise SkillFileInvalid("the front matter has no keys", line=2, fix="write `name: …` and `description: …`")
    return [] if node is None else node.value, values
