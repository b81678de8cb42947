"""Make up what agents write and read: prose, code, tool calls and tool outputs, from our own templates.

`train_dictionary` learns from it. Everything in `tools/transcripts/` was written for this purpose; the words that are
put into the templates are drawn by chance, so that what repeats between two pieces is their form.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Template
from typing import Any

_FOLDER = Path(__file__).parent / "transcripts"
_SIZE = 2000


def _words(sort: str) -> list[str]:
    return (_FOLDER / "words" / f"{sort}.txt").read_text(encoding="utf-8").split()


_NOUNS, _VERBS, _PARTICIPLES, _ERRORS = map(_words, ("nouns", "verbs", "participles", "errors"))
_FOLDERS = ("src", "src/app", "src/core", "lib", "app/services", "server/api", "packages/web/src", "internal")
_USERS = ("dev", "user", "ubuntu", "sam")
_BRANCHES = ("main", "feature/cache", "fix/race", "develop")
_TOOLS = ("Bash", "Read", "Edit", "Write", "Grep", "Glob", "TodoWrite")
_COMMANDS = (
    "git status --short",
    "git diff --stat",
    "git log --oneline -10",
    "python -m pytest {test} -x -q 2>&1 | tail -20",
    "ls -la {folder}",
    'grep -rn "{name}" --include="*.py" {folder} | head -20',
    "sed -n '{n},{m}p' {path}",
    "npm run build && npm test",
    "cat {path}",
    "find . -name '*.py' -not -path './.venv/*' | xargs wc -l",
)


def pieces(chance: random.Random, count: int, sources: list[str]) -> Iterator[str]:
    """That many pieces of transcript; `sources` are texts of ours that are read, written and edited in them."""
    templates = {file.stem: file.read_text(encoding="utf-8").split("\n%%\n") for file in sorted(_FOLDER.glob("*.txt"))}
    maker = _Maker(chance, templates, sources)
    for number in range(count):
        yield maker.kinds[number % len(maker.kinds)]()


class _Maker:
    """Draws words, fills templates, and wraps the result as agents' tools do."""

    def __init__(self, chance: random.Random, templates: dict[str, list[str]], sources: list[str]) -> None:
        self._chance = chance
        self._templates = templates
        self._sources = sources
        self.kinds: tuple[Callable[[], str], ...] = (
            self._prose,
            self._prose_and_code,
            self._call,
            self._output,
            self._numbered,
            self._edit,
            self._source,
            self._line,
        )

    def _prose(self) -> str:
        return "\n\n".join(self._filled("prose") for _ in range(self._chance.randint(1, 4)))

    def _prose_and_code(self) -> str:
        return f"{self._filled('prose')}\n\n```python\n{self._code()}\n```"

    def _output(self) -> str:
        return self._filled("outputs")

    def _source(self) -> str:
        return self._cut(self._chance.choice(self._sources))

    def _code(self) -> str:
        if self._chance.random() < 0.6:
            return self._filled("python")
        return self._filled("code") if self._chance.random() < 0.5 else self._source()

    def _numbered(self) -> str:
        first = self._chance.randint(1, 900)
        lines = self._code().splitlines()
        mark = self._chance.choice(("\t", "→", "\t"))
        return "\n".join(f"{number:>6}{mark}{line}" for number, line in enumerate(lines, first))[: _SIZE + 200]

    def _call(self) -> str:
        return json.dumps(self._tool_use(self._chance.choice(_TOOLS)))

    def _edit(self) -> str:
        return json.dumps(self._tool_use(self._chance.choice(("Edit", "Write"))))

    def _tool_use(self, tool: str) -> dict[str, Any]:
        words = self._words()
        path = f"/home/{words['user']}/{words['name']}/{words['path']}"
        code = self._code()
        arguments: dict[str, dict[str, Any]] = {
            "Bash": {"command": self._command(words), "description": f"{words['Verb']} the {words['noun']}"},
            "Read": {"file_path": path, "offset": int(words["n"]), "limit": 200},
            "Edit": {"file_path": path, "old_string": code[:400], "new_string": code, "replace_all": False},
            "Write": {"file_path": path, "content": code},
            "Grep": {"pattern": words["function"], "path": path, "output_mode": "content", "-n": True},
            "Glob": {"pattern": "**/*.py", "path": path},
            "TodoWrite": {"todos": [self._todo(state) for state in ("completed", "in_progress", "pending", "pending")]},
        }
        return {"type": "tool_use", "id": f"toolu_01{self._hex(22)}", "name": tool, "input": arguments[tool]}

    def _todo(self, state: str) -> dict[str, str]:
        words = self._words()
        content = f"{words['Verb']} the {words['noun']} in {words['path']}"
        return {"content": content, "status": state, "activeForm": content}

    def _command(self, words: dict[str, str]) -> str:
        command = self._chance.choice(_COMMANDS)
        folder = self._chance.choice(_FOLDERS)
        return command.format(**words, folder=folder, m=int(words["n"]) + 40)

    def _line(self) -> str:
        """A line of a vendor's transcript, or what a tool gave back, as JSON."""
        words = self._words()
        result = {"type": "tool_result", "tool_use_id": f"toolu_01{self._hex(22)}", "content": self._output()}
        call = {"type": "function_call", "name": "shell", "call_id": f"call_{self._hex(24)}"}
        arguments = json.dumps({"command": ["bash", "-lc", self._command(words)], "timeout_ms": 120000})
        usage = {"input_tokens": int(words["n"]), "cache_read_input_tokens": 0, "output_tokens": int(words["n2"])}
        text = {"type": "text", "text": self._prose()}
        block = self._chance.choice((text, self._tool_use("Bash")))
        message = {"id": f"msg_01{self._hex(22)}", "type": "message", "role": "assistant", "content": [block]}
        reply = {"type": "assistant", "message": {**message, "usage": usage}, "timestamp": words["iso"]}
        grep = "\n".join(f"{each['path']}:{each['n']}:    def {each['function']}(self):" for each in self._several(9))
        return self._chance.choice(
            (json.dumps(result), json.dumps({**call, "arguments": arguments}), json.dumps(reply), grep)
        )

    def _several(self, count: int) -> Iterator[dict[str, str]]:
        return (self._words() for _ in range(count))

    def _filled(self, kind: str) -> str:
        return Template(self._chance.choice(self._templates[kind])).substitute(self._words())

    def _cut(self, text: str) -> str:
        start = self._chance.randrange(max(1, len(text) - _SIZE))
        return text[start : start + _SIZE]

    def _hex(self, digits: int) -> str:
        return f"{self._chance.getrandbits(4 * digits):0{digits}x}"

    def _words(self) -> dict[str, str]:
        """Values for every name that a template may use; one with a number behind it is another of the same sort."""
        words: dict[str, str] = {}
        for mark in ("", "2", "3", "4"):
            noun, other = self._chance.choice(_NOUNS), self._chance.choice(_NOUNS)
            verb, folder = self._chance.choice(_VERBS), self._chance.choice(_FOLDERS)
            name = self._chance.choice((noun, other, f"{noun}_{other}"))
            function = self._chance.choice((f"{verb}_{noun}", f"{verb}_{noun}s", verb, f"get_{noun}"))
            words |= {
                f"noun{mark}": noun,
                f"nouns{mark}": f"{noun}s",
                f"verb{mark}": verb,
                f"Verb{mark}": verb.capitalize(),
                f"participle{mark}": self._chance.choice(_PARTICIPLES),
                f"name{mark}": name,
                f"module{mark}": noun,
                f"function{mark}": function,
                f"Class{mark}": noun.capitalize() + other.capitalize(),
                f"path{mark}": f"{folder}/{name}.py",
                f"test{mark}": f"tests/test_{name}.py",
                f"n{mark}": str(self._chance.randint(10, 900)),
                f"d{mark}": str(self._chance.randint(1, 9)),
                f"sha{mark}": self._hex(40),
                f"short{mark}": self._hex(7),
            }
        day, hour, minute = (self._chance.randint(low, high) for low, high in ((1, 28), (0, 23), (0, 59)))
        month = self._chance.randint(1, 12)
        name, time = ("Jan", "May", "Oct")[month % 3], f"{hour:02d}:{minute:02d}"
        return words | {
            "error": self._chance.choice(_ERRORS),
            "user": self._chance.choice(_USERS),
            "branch": self._chance.choice(_BRANCHES),
            "stamp": f"{name} {day:>2} {time}",
            "day": f"{('Mon', 'Wed', 'Fri')[day % 3]} {name} {day} {time}:00 2026 +0000",
            "iso": f"2026-{month:02d}-{day:02d}T{time}:{day:02d}.{self._chance.randint(0, 999):03d}Z",
        }
