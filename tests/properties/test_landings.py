"""Laws of landing: random branches with random dependencies, failing checks, conflicts and deaths."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.machine import bounded
from tests.runner.desk import Desk
from tests.runner.landing.harbour import Death, DyingFaults, Harbour
from tests.workspace.repositories import Shop
from tests.world import FakeClock, World, open_in

from ramet.faults import FaultPoint

DEATHS: list[FaultPoint | None] = [None, "landing_built", "landing_checked", "landing_tested", "landing_moved"]
BRANCHES = st.lists(
    st.tuples(
        st.sampled_from(["a.txt", "b.txt", "c.txt", "bad.txt"]),  # two on one file conflict; bad.txt fails the check
        st.integers(0, 5),  # which earlier branch it needs, if there is one
        st.sampled_from(DEATHS),
    ),
    min_size=1,
    max_size=5,
)
METHODS = st.sampled_from(["merge", "squash", "rebase"])


@pytest.mark.requirement("R401", "R402", "R404", "R406")
@bounded(8)
@given(branches=BRANCHES, method=METHODS, is_dirty=st.booleans())
def test_every_commit_of_the_target_passed_and_every_landing_has_one_outcome(
    branches: list[tuple[str, int, FaultPoint | None]], method: str, is_dirty: bool
) -> None:
    with tempfile.TemporaryDirectory(prefix="ramet-") as folder:
        clock, place = FakeClock(), Path(folder)
        harbour = Harbour(Desk(World(open_in(place, None, clock=clock), clock), Shop(place)))
        efforts: list[Any] = []
        for number, (file, needed, _) in enumerate(branches):
            based = {"based_on": efforts[needed].id} if needed < len(efforts) else {}
            efforts.append(harbour.work({file: f"{number}\n"}, **based))
        start = harbour.tip
        if is_dirty:
            (harbour.project / "a.txt").write_text("mine\n")
        rows = harbour.add(*efforts, checks=["test ! -e bad.txt"], method=method)
        assert len({row.id for row in rows}) == len(rows)
        outcomes: dict[int, str] = {}
        for _, _, death in branches:
            if death is not None:
                try:
                    ended = harbour.land_next(DyingFaults(death))
                    outcomes.update({ended.id: ended.state} if ended else {})
                except Death:
                    pass
            while (row := harbour.land_next(takes_over=True)) is not None:
                assert row.id not in outcomes, "a landing ends once"
                outcomes[row.id] = row.state
        for row in rows:
            now = harbour.desk.world.call("landing.get", landing_id=row.id)
            assert outcomes.get(row.id, "queued") == now.state
            assert (now.blocked_by is not None) == (now.state == "queued")
        for commit in harbour.moves():
            assert "bad.txt" not in harbour.shop.run(harbour.project, "ls-tree", "--name-only", commit).split()
        landed = sum(state == "landed" for state in outcomes.values())
        assert len(harbour.moves()) <= landed + 1
        if is_dirty:
            assert (harbour.tip, harbour.status()) == (start, "M a.txt")
        else:
            assert harbour.status() == ""
