"""`ramet ps`, `queue` and `tree` as a person sees them at a terminal."""

from collections.abc import Iterator

import pytest
from tests.cli.command_line import CommandLine
from tests.cli.screens.fleet import fleet
from tests.cli.screens.golden import WIDTHS, check_screen, set_age
from tests.cli.terminal import at_terminal

from ramet.cli.output import clean

SCREENS = {"ps": ["ps"], "queue": ["queue", "--all"], "tree": ["tree"]}


@pytest.fixture
def at_work(shop: CommandLine) -> Iterator[CommandLine]:
    """A fleet whose ages are known."""
    with fleet(shop):
        for session_id in range(1, 8):
            set_age(shop, "sessions", session_id, minutes=75 - session_id)
        set_age(shop, "efforts", 5, minutes=90)
        set_age(shop, "efforts", 2, minutes=72, column="finished_at")
        yield shop


@pytest.mark.requirement("R453")
def test_the_fleet_fits_a_terminal_and_looks_the_same_everywhere(at_work: CommandLine) -> None:
    for columns in WIDTHS:
        seen = {name: check_screen(at_work, name, *words, columns=columns) for name, words in SCREENS.items()}
        assert all("\x1b[36mrunning" in text for text in seen.values())
        assert "\x1b[31merror" in seen["queue"]
        assert "\x1b[33mblocked" in seen["queue"]
        assert all("\x1b[33mwaiting" in seen[name] for name in ("ps", "tree"))
    for name, words in SCREENS.items():
        plain = at_terminal(at_work, *words, columns=80, environ={"NO_COLOR": "1"}).text
        assert "\x1b[3" not in plain, name
        assert clean(plain) == clean(at_terminal(at_work, *words, columns=80).text)
        assert "\x1b" not in at_work.ok(*words)
    names = {"builder e1", "builder e3", "critic e4", "builder e8"}
    for words in SCREENS.values():
        assert names <= {" ".join(line.strip("├─└│ ").split()[:2]) for line in at_work.ok(*words).splitlines()}
