"""A repository in which agents and people wrote, generated from a seed, with the truth about every line.

Files consist of blocks. Agents and people change blocks; whatever they do, the model in memory has who wrote each line,
and git has to come to the same text. Agents' work lands by merge, rebase, squash and cherry-pick, or never. People type
lines that agents wrote as well, copy blocks, bring back deleted lines, indent, wrap, move and rename.
"""

import os
import random
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ramet.library.local import LocalTransport
from ramet.model.instant import from_datetime
from ramet.protocol.operations import OPERATIONS
from ramet.runner.memory import made_commits

PERSON = (0, 0)
"""Who wrote a line that no agent wrote."""
Author = tuple[int, int]
"""An effort, and the number of the call in it; 0 for a change that no call of a tool tells."""

_COMMON = ("return None", "else:", "try:", "pass", "continue", "break", "i += 1", "result = []", "return result", "}")
_WORDS = (
    *("order", "cart", "price", "stock", "cache", "retry", "token", "route"),
    *("batch", "queue", "limit", "index", "parser", "worker", "branch", "report"),
)


class Line(NamedTuple):
    """A line and who wrote it."""

    text: str
    author: Author


Block = list[Line]
Files = dict[str, dict[int, Block]]


class Project:
    """The repository, the model of it, and the database with what agents did."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.top = folder / "site"
        self.top.mkdir(parents=True)
        self._trees = folder / "trees"
        self._environ = _environment(folder)
        self.files: Files = {}
        self.calls: dict[str, Author] = {}
        """The calls, by their commits in the history."""
        self._blocks = 0
        self._efforts = 0
        self._dropped: list[str] = []
        self.transport = _open(folder)
        self.call("db.project.upsert", path=str(self.top))
        for words in (["init", "-q", "-b", "main"], ["config", "user.name", "P"], ["config", "user.email", "p@x.test"]):
            self.git(*words)
        for number in range(5):
            self.files[f"src/{_WORDS[number]}.py"] = dict(self._new_block(PERSON) for _ in range(5))
        self.commit("start")

    def call(self, name: str, **params: Any) -> Any:
        """Perform an operation."""
        return self.transport.call(OPERATIONS[name], params)

    def git(self, *words: str, cwd: Path | None = None, stdin: str | None = None) -> str:
        """Run git as a person does."""
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.top,
            env=self._environ,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"git {' '.join(words)}: {done.stderr}{done.stdout}")
        return done.stdout

    # Texts.

    def _sentence(self) -> str:
        pick = self.random.choice
        if self.random.random() < 0.3:
            return pick(_COMMON)
        number = self.random.randrange(1000)
        return pick(
            [
                f"{pick(_WORDS)}_{pick(_WORDS)} = load_{pick(_WORDS)}({number})",
                f'log.info("{pick(_WORDS)} {pick(_WORDS)} %s", {number})',
                f"if {pick(_WORDS)} > {number}:",
                f"self.{pick(_WORDS)}.append({pick(_WORDS)}_{number})",
                f"raise ValueError(f'{pick(_WORDS)} {number}')",
            ]
        )

    def _new_block(self, author: Author) -> tuple[int, Block]:
        self._blocks += 1
        name = f"def {self.random.choice(_WORDS)}_{self._blocks}(self):"
        lines = [Line(name, author)]
        lines += [Line(f"    {self._sentence()}", author) for _ in range(self.random.randint(4, 9))]
        return self._blocks, [*lines, Line("", author)]

    def write(self, files: Mapping[str, Mapping[int, Block]], top: Path) -> None:
        """Make the files of a checkout those of a model."""
        for path in (top / "src").rglob("*.py") if (top / "src").exists() else ():
            if str(path.relative_to(top)) not in files:
                path.unlink()
        for name, blocks in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text_of(blocks))

    def commit(self, message: str) -> None:
        """A commit of a person's."""
        self.write(self.files, self.top)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def check(self) -> None:
        """The model and git have the same text, or the truth would be worth nothing."""
        for name, blocks in self.files.items():
            if (self.top / name).read_text() != text_of(blocks):
                raise AssertionError(f"{name} is not as the model has it")

    # Agents.

    def run_effort(self, landing: str) -> None:
        """An effort in a worktree of its own, and how its work comes to main."""
        self._efforts += 1
        name = f"ramet/e{self._efforts}"
        tree = self._trees / f"e{self._efforts}"
        base = self.git("rev-parse", "HEAD").strip()
        self.git("worktree", "add", "-q", "-b", name, str(tree))
        attempt = self._begin(worktree=str(tree), git_branch=name, git_base=base)
        before = _copied(self.files)
        mine = _copied(self.files)
        seq = 1
        for number in range(1, self.random.randint(2, 4) + 1):
            seq = self._change(attempt, mine, tree, number, seq)
            if self.random.random() < 0.3:
                self.git("add", "-A", cwd=tree)
                self.git("commit", "-q", "-m", f"step {number} of {name}", cwd=tree)
        self.git("add", "-A", cwd=tree)
        if self.git("status", "--porcelain", cwd=tree):
            self.git("commit", "-q", "-m", f"do: work\n\nRamet-Effort: e{attempt.effort.id}", cwd=tree)
        head = self.git("rev-parse", "HEAD", cwd=tree).strip()
        machine = self.transport._machine
        since = from_datetime(attempt.session.created_at)
        made_commits.record(machine, attempt.effort.id, str(self.top), name, base, head, since)
        self._end(attempt, seq)
        self._land(landing, name, tree, base, before, mine)

    def run_shared(self) -> None:
        """An agent in the checkout of a person, who commits its work with something of their own."""
        attempt = self._begin()
        seq = 1
        for number in (1, 2):
            seq = self._change(attempt, self.files, self.top, number, seq, is_shared=True)
        self._end(attempt, seq)
        if self.random.random() < 0.5:
            self.type_lines()
        self.commit("what we did together")

    def _begin(self, **place: str) -> Any:
        prompt = f"improve the {self.random.choice(_WORDS)}"
        added = self.call("work.add", prompt=prompt, skill="do", task=f"{self.top}/tasks/shop")
        claimed = self.call("work.claim", worker="bench/1", effort_id=added.id)
        return self.call(
            "work.begin",
            effort_id=added.id,
            generation=claimed.generation,
            driver="claude",
            agent_id=claimed.lease_owner,
            instance=f"keeper{added.id:04}",
            prompt="improve it",
            **place,
        )

    def _end(self, attempt: Any, seq: int) -> None:
        self._report(attempt, [{"kind": "end", "outcome": "success"}], seq)
        effort = attempt.effort
        self.call("work.complete", effort_id=effort.id, generation=effort.lease_generation, outcome="success")

    def _report(self, attempt: Any, events: list[dict[str, Any]], seq: int) -> int:
        instance = f"keeper{attempt.effort.id:04}"
        self.call("work.report", session_id=attempt.session.id, instance=instance, seq=seq, events=events)
        return seq + len(events)

    def _change(self, attempt: Any, files: Files, tree: Path, number: int, seq: int, *, is_shared: bool = False) -> int:
        """One call: an edit of a block, a new block, a new file, or a command that does one of these."""
        author = (attempt.effort.id, number)
        is_shell = not is_shared and self.random.random() < 0.3
        old_texts = {name: text_of(blocks) for name, blocks in files.items()}
        kind = self.random.choice(["replace", "insert", "block", "file"])
        name = self.random.choice(sorted(files))
        if kind == "file":
            name = f"src/{self.random.choice(_WORDS)}_{attempt.effort.id}_{number}.py"
            files[name] = dict(self._new_block(author) for _ in range(3))
            call = (
                "Write",
                {"file_path": str(tree / name), "content": text_of(files[name])},
                "File created successfully",
            )
        else:
            old, new = self._edit(files[name], author, kind)
            call = ("Edit", {"file_path": str(tree / name), "old_string": old, "new_string": new}, "updated")
        self.write(files, tree)
        if is_shell:
            changed = next((each for each in files if old_texts.get(each) != text_of(files[each])), name)
            call = ("Bash", {"command": f"python generate.py {changed}"}, "")
        call_id = f"c{attempt.effort.id}.{number}"
        events: list[dict[str, Any]] = [
            {"kind": "tool_call", "call_id": call_id, "name": call[0], "input": call[1]},
            {"kind": "tool_result", "call_id": call_id, "name": call[0], "output": call[2]},
        ]
        seq = self._report(attempt, events, seq)
        found = self.call("db.messages.list", session_id=attempt.session.id, newest=True, limit=2).items
        self.calls[found[0].commit] = author
        return seq

    def _edit(self, blocks: dict[int, Block], author: Author, kind: str) -> tuple[str, str]:
        """Change one block as an agent does, with a little of the text around it."""
        if kind == "block":
            last = list(blocks)[-1]
            number, block = self._new_block(author)
            blocks[number] = block
            context = text_of({last: blocks[last]})
            return context, context + text_of({number: block})
        number = self.random.choice(sorted(blocks))
        block = blocks[number]
        at = self.random.randrange(1, len(block))
        near = {line.text.strip() for line in block[at - 1 : at + 2]}
        said = [text for _ in range(self.random.randint(1, 4)) if (text := self._sentence()) not in near]
        new = [Line(f"    {text}", author) for text in said or [f"note_{self._blocks}_{at} = {author[1]}"]]
        gone = 1 if kind == "replace" and at < len(block) - 1 else 0
        around = (max(0, at - 1), min(len(block), at + gone + 1))
        old = [line.text for line in block[around[0] : around[1]]]
        block[at : at + gone] = new
        return "\n".join(old), "\n".join(line.text for line in block[around[0] : around[1] - gone + len(new)])

    # How work lands.

    def _land(self, landing: str, branch: str, tree: Path, base: str, before: Files, mine: Files) -> None:
        self.git("worktree", "remove", "--force", str(tree))
        if landing == "never":
            self._dropped += [
                line.text for name in mine for block in mine[name].values() for line in block if line.author != PERSON
            ]
            return
        if self.random.random() < 0.7:
            self._work_meanwhile(before, mine)
        match landing:
            case "merge":
                self.git("merge", "-q", "--no-ff", "-m", "merge it", branch)
            case "rebase":
                self.git("checkout", "-q", branch)
                self.git("rebase", "-q", "main")
                self.git("checkout", "-q", "main")
                self.git("merge", "-q", "--ff-only", branch)
            case "pick":
                self.git("cherry-pick", f"{base}..{branch}")
            case "squash":
                self.git("merge", "-q", "--squash", branch)
                self.git("commit", "-q", "-m", "a better shop")
            case "squash with its message":
                self.git("merge", "-q", "--squash", branch)
                self.git("commit", "-q", "--no-edit")
        self.git("branch", "-q", "-D", branch)
        self._take_over(before, mine)
        self.check()

    def _take_over(self, before: Files, mine: Files) -> None:
        for name, blocks in mine.items():
            for number, block in blocks.items():
                if before.get(name, {}).get(number) != block:
                    self.files.setdefault(name, {})[number] = block

    def _work_meanwhile(self, before: Files, mine: Files) -> None:
        """A person commits to main, in a file that the effort has not touched, so that nothing conflicts."""
        free = [name for name in before if mine.get(name) == before[name] and name in self.files]
        if free:
            self.type_lines(self.random.choice(free))
            self.commit("meanwhile")

    # People.

    def type_lines(self, name: str | None = None) -> None:
        """Type lines of one's own into a block, among them lines that agents wrote elsewhere, here or for nothing."""
        blocks = self.files[name or self.random.choice(sorted(self.files))]
        block = blocks[self.random.choice(sorted(blocks))]
        theirs = [line.text for each in blocks.values() for line in each if line.author != PERSON and line.text]
        for _ in range(self.random.randint(1, 3)):
            choice = self.random.random()
            text = f"    {self._sentence()}"
            if choice < 0.35 and theirs:
                text = self.random.choice(theirs)
            elif choice < 0.5 and self._dropped:
                text = self.random.choice(self._dropped) or text
            at = self.random.randrange(1, len(block))
            if text.strip() not in (block[at - 1].text.strip(), block[at].text.strip()):
                # Nobody can tell two equal lines apart that stand next to each other.
                block.insert(at, Line(text, PERSON))

    def act(self, what: str) -> None:  # noqa: C901  one case for each thing that people do
        """One commit of a person's."""
        name = self.random.choice(sorted(self.files))
        blocks = self.files[name]
        number = self.random.choice(sorted(blocks))
        match what:
            case "type":
                self.type_lines(name)
            case "change":
                place = self.random.randrange(1, len(blocks[number]))
                text = blocks[number][place].text
                blocks[number][place] = Line(
                    f"{text}  # {self._sentence()}" if text else f"    {self._sentence()}", PERSON
                )
            case "copy":
                self._blocks += 1
                blocks[self._blocks] = [Line(line.text, PERSON) for line in blocks[number]]
            case "bring back":
                place = self.random.randrange(1, len(blocks[number]))
                line = blocks[number].pop(place)
                self.commit("away with it")
                blocks[number].insert(place, Line(line.text, PERSON))
            case "indent":
                for each in blocks.values():
                    each[:] = [Line(f"    {line.text}" if line.text else "", line.author) for line in each]
            case "move":
                self.files[name] = {number: blocks.pop(number), **blocks}
            case "move away" if len(blocks) > 1:
                other = self.random.choice(sorted(self.files))
                if other != name:
                    self.files[other][number] = blocks.pop(number)
            case "rename":
                self.files[f"{name.removesuffix('.py')}_x.py"] = self.files.pop(name)
        self.commit(what)


LANDINGS = ("merge", "rebase", "pick", "squash", "squash with its message", "never")
ACTS = ("type", "type", "change", "copy", "bring back", "indent", "move", "move away", "rename")


def generate(folder: Path, seed: int, efforts: int) -> Project:
    """A project with so many efforts, and as many commits of people between them."""
    project = Project(folder, seed)
    for number in range(efforts):
        project.run_effort(LANDINGS[number % len(LANDINGS)])
        if number % 4 == 1:
            project.run_shared()
        for _ in range(2):
            project.act(project.random.choice(ACTS))
    project.check()
    return project


def text_of(blocks: Mapping[int, Block]) -> str:
    """The text of a file."""
    return "".join(f"{line.text}\n" for block in blocks.values() for line in block)


def _open(folder: Path) -> LocalTransport:
    """A database of its own, whose home is not the user's."""
    (folder / "home").mkdir()
    before = dict(os.environ)
    os.environ["RAMET_HOME"] = str(folder / "home")
    try:
        return LocalTransport.open(folder / "why.db")
    finally:
        os.environ.clear()
        os.environ.update(before)


def _copied(files: Files) -> Files:
    return {name: {number: list(block) for number, block in blocks.items()} for name, blocks in files.items()}


def _environment(folder: Path) -> dict[str, str]:
    fixed = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true", "HOME": str(folder)}
    return {**{name: value for name, value in os.environ.items() if not name.startswith("GIT_")}, **fixed}
