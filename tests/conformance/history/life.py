"""A random life of a history: steps that Hypothesis draws, taken by names that each database gives again and again."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.world import World, open_world

from ramet.errors import RametError

Drawn = TypeVar("Drawn")

FORMATS = ("openai", "anthropic", "text")
TEXTS = (
    "a",
    "bb",
    "a",
    "some words and more of them, so that there is something to shorten. " * 3,
    "",
    "ü\n\n- x",
    "{}",
)
BRANCHES = ("main", "side", "kid", "other")
APPENDS = ("say", "say", "say", "call", "answer", "bound", "instruct")
REWRITES = ("edit", "compress", "reset", "pick", "merge", "delete")
OTHERS = ("annotate", "tag", "branch", "spawn", "collapse", "undo", "compile", "register")


class Step(NamedTuple):
    """What is done, on which branch, and three numbers that choose among what there is."""

    verb: str
    branch: str
    first: int
    second: int
    third: int


def steps(
    verbs: tuple[str, ...], *, most: int = 25, branches: tuple[str, ...] = BRANCHES
) -> st.SearchStrategy[list[Step]]:
    number = st.integers(0, 40)
    step = st.builds(Step, st.sampled_from(verbs), st.sampled_from(branches), number, number, number)
    return st.lists(step, max_size=most)


def prove(url: str | None, drawn: st.SearchStrategy[Drawn], law: Callable[[World, Drawn], None], examples: int) -> None:
    """A law holds for what is drawn, each time in a new world; PostgreSQL gets a fifth of the examples."""
    deep = int(os.environ.get("RAMET_DEEP", "0"))
    count = examples if url is None else max(examples // 5, 3)

    @settings(max_examples=count * max(deep, 1), derandomize=not deep, database=None, print_blob=True)
    @given(drawn)
    def holds(value: Drawn) -> None:
        with fresh(url) as world:
            law(world, value)

    holds()


@contextmanager
def fresh(url: str | None) -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="ramet-") as folder, open_world(Path(folder), url) as world:
        try:
            yield world
        finally:
            if url is not None:
                world.empty()


def live(world: World, taken: list[Step]) -> None:
    """Take the steps; what the history refuses is refused."""
    for step in taken:
        world.clock.advance(1)
        with suppress(RametError):
            take(world, step)


class Chosen(NamedTuple):
    """What a step's numbers mean in the world as it is."""

    world: World
    branch: str
    elsewhere: str
    text: str
    one: str
    other: str
    number: int

    def pick(self, *choices: Any) -> Any:
        return choices[self.number % len(choices)]

    def commit(self, **params: Any) -> Any:
        return self.world.call("history.commit", branch=self.branch, **params)

    def tool(self, direction: str) -> Any:
        tool = {"content_type": "tool_io", "tool_name": "t", "direction": direction}
        return self.commit(content={**tool, "text": self.text, "call_id": self.pick("c0", "c1", "c2")})

    def bound(self) -> Any:
        kind, decisions = self.pick(("start", []), ("end", ["x"]), ("checkpoint", ["y"]))
        content = {"content_type": "session", "session_type": kind, "summary": self.text, "decisions": decisions}
        return self.commit(content=content)

    def spawn(self) -> Any:
        mode, more = self.pick(("full_clone", {}), ("head_snapshot", {}), ("selective", {"filter": {"last_turns": 2}}))
        names = {"parent": self.branch, "child": self.elsewhere}
        return self.world.call("history.spawn", purpose="p", inherit=mode, **names, **more)

    def do(self, verb: str, /, **params: Any) -> Any:
        return self.world.call(f"history.{verb}", **params)


VERBS: dict[str, Callable[[Chosen], Any]] = {
    "say": lambda on: on.commit(text=on.text, role=on.pick("user", "assistant", "system")),
    "call": lambda on: on.tool("call"),
    "answer": lambda on: on.tool("result"),
    "bound": lambda on: on.bound(),
    "instruct": lambda on: on.commit(content={"content_type": "instruction", "text": on.text}),
    "annotate": lambda on: on.do("annotate", hash=on.one, priority=on.pick("skip", "normal", "important", "pinned")),
    "tag": lambda on: on.do("tag", hash=on.one, tags=on.pick([], ["t1"], ["t1", "t2"])),
    "register": lambda on: on.do("register", name="own", compiles=on.pick(True, False)),
    "compile": lambda on: on.do("compile", branch=on.branch, format=on.pick(*FORMATS)),
    "edit": lambda on: on.do("edit", branch=on.branch, target=on.one, text=on.text),
    "compress": lambda on: on.do(
        "compress", branch=on.branch, **{"from": on.one}, to=on.other, **on.pick({}, {"text": "in short"})
    ),
    "reset": lambda on: on.do("reset", branch=on.branch, to=on.pick(on.one, on.other, on.elsewhere)),
    "pick": lambda on: on.do("pick", branch=on.branch, hash=(commits_of(on.world, on.elsewhere) or [on.one])[-1]),
    "merge": lambda on: on.do(
        "merge", into=on.branch, **{"from": on.elsewhere}, strategy=on.pick("ours", "theirs", "both")
    ),
    "delete": lambda on: on.do("delete", branch=on.branch),
    "branch": lambda on: on.do("branch", name=on.elsewhere, **{"from": on.pick(on.branch, on.one)}),
    "spawn": lambda on: on.spawn(),
    "collapse": lambda on: on.do("collapse", child=on.branch, text=on.text),
    "undo": lambda on: on.do("undo", branch=on.branch, steps=on.pick(1, 2)),
    "gc": lambda on: on.do("gc", retention_days=0),
}


def take(world: World, step: Step) -> Any:
    """One step."""
    commits = commits_of(world, step.branch)
    one, other = (commits[number % len(commits)] if commits else "0000" for number in (step.first, step.second))
    elsewhere, text = BRANCHES[step.third % len(BRANCHES)], TEXTS[step.second % len(TEXTS)]
    return VERBS[step.verb](Chosen(world, step.branch, elsewhere, text, one, other, step.first))


def names(world: World) -> list[str]:
    return [row.name for row in world.call("history.branches").items]


def commits_of(world: World, branch: str) -> list[str]:
    """The hashes of a branch's commits, the oldest first; none where there is no branch."""
    if branch not in names(world):
        return []
    return [row.hash for row in reversed(world.call("history.log", branch=branch, limit=1000).items)]


def everything(world: World) -> dict[str, Any]:
    """What every branch compiles to, in every form, and within a budget."""
    return {
        f"{branch} {form} {budget}": world.call("history.compile", branch=branch, format=form, max_tokens=budget)
        for branch in names(world)
        for form in FORMATS
        for budget in (None, 30)
    }
