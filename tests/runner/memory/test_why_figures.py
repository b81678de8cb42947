"""The figures of `memory.why`, on a generated project.

Rules were changed after looking at projects with seeds up to 301, this test's former seed. None was changed after
looking at the seed below.
"""

from pathlib import Path

import pytest
from benchmarks.why import judge
from benchmarks.why_project import generate


@pytest.mark.requirement("R395")
def test_most_lines_of_agents_are_attributed_and_none_is_wrong(tmp_path: Path) -> None:
    found = judge(generate(tmp_path, seed=7412, efforts=12))
    assert found["wrong"] == 0
    assert found["right"] >= 0.95 * found["agent"]
    assert found["agent"] > 200
    assert found["person"] > 100
