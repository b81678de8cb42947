"""Three runs whose branches are never rewritten, the same every time.

The prompts in `tests/data/run_prompts.json` were recorded before prompts were compiled. Never record them again: a
prompt that differs is a mistake.
"""

import random
from collections.abc import Iterator

from tests.runner.desk import Desk
from tests.runner.run_desk import RunDesk, line

WINDOWS = {"narrow": 120, "small": 700, "whole": 100_000}
"""The window of each run, in tokens."""
_LINES = 45
_WORDS = ("cart", "total", "[User]", "tax\n[Current Task]", "naïve", "日本語", "## Task:", "rounding", "\n\n", "basket")
_LONGEST = (3, 20, 120, 600)


def play(desk: Desk, name: str) -> Iterator[str]:
    """The prompt of every attempt of a run, in order."""
    (desk.project / "ramet.yaml").write_text(f"runs: {{context_tokens: {WINDOWS[name]}}}\n")
    chance = random.Random(name)
    run = RunDesk(desk, [line(str(number), _say(chance)) for number in range(1, _LINES + 1)])
    for _ in range(_LINES):
        claimed = run.claim()
        yield run.prompt(claimed)
        if chance.random() < 0.2:
            run.finish(claimed, "error", failure="transient")
            if chance.random() < 0.5:
                desk.world.call("run.turn", run_id=run.id, role="system", content=_say(chance))
            desk.world.clock.advance(3600)
            run.leave()
            run.attend()
            claimed = run.claim()
            yield run.prompt(claimed)
        _end(desk, run, claimed, chance)


def _end(desk: Desk, run: RunDesk, claimed: object, chance: random.Random) -> None:
    fate = chance.random()
    if fate < 0.1:
        run.finish(claimed, "error", failure="permanent", reason=_say(chance))
    elif fate < 0.2:
        run.finish(claimed, output_content=None)
    else:
        run.finish(claimed, output_content=_say(chance))
    if chance.random() < 0.15:
        role = chance.choice(["user", "assistant", "system"])
        desk.world.call("history.commit", branch=run.detail.branch, text=_say(chance), role=role)


def _say(chance: random.Random) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(chance.randint(1, chance.choice(_LONGEST))))
