"""How far a piece of work is, in one short line; and folders that fit a line."""

import pytest

from ramet.cli.progress import Progress
from ramet.cli.screens.work_changes import fit_path


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(7, 12, 200, "$1.20"), "7/12 · 3m · $1.20"),
        (Progress(0, 12, 8.5), "0/12 · 8s"),
        (Progress(12, 12, 7530), "12/12 · 2h 5m"),
        (Progress(2, 3, None, "$0.30"), "2/3 · $0.30"),
        (Progress(2, 3), "2/3"),
    ],
)
def test_progress_has_the_count_the_time_and_the_cost_if_they_are_known(progress: Progress, text: str) -> None:
    assert str(progress).replace(" - ", " · ") == text


@pytest.mark.parametrize(
    ("room", "text"),
    [(80, "~/.local/share/ramet/worktrees/shop-1f3c9a2b/e12"), (40, "~/…/shop-1f3c9a2b/e12")],
)
def test_a_folder_is_shortened_in_the_middle_if_it_has_no_room(room: int, text: str) -> None:
    assert fit_path("~/.local/share/ramet/worktrees/shop-1f3c9a2b/e12", room) == text


def test_a_folder_outside_of_the_home_is_shortened_at_its_start() -> None:
    assert fit_path("/var/lib/ramet/worktrees/shop-1f3c9a2b/e12", 30) == "…/shop-1f3c9a2b/e12"
