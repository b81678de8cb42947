"""Every limit in the code is a configuration key, or a constant with a written reason."""

from collections import Counter
from pathlib import Path

import pytest
from tests.docs.pages import ROOT
from tools import limits

from ramet.config.keys import KEYS

WRITTEN = [name for group in limits.read_groups() for name in group.names]


@pytest.mark.requirement("R298", "R357")
def test_every_number_in_the_code_has_its_reason_and_every_reason_its_number() -> None:
    found = {limit.name for limit in limits.find()}
    assert found - set(WRITTEN) == set(), "make it a configuration key, or give its reason in tools/limits.json"
    assert set(WRITTEN) - found == set(), "no longer in the code: remove it from tools/limits.json"
    assert [name for name, times in Counter(WRITTEN).items() if times > 1] == []


@pytest.mark.requirement("R298", "R357")
def test_each_group_says_why() -> None:
    groups = limits.read_groups()
    assert len({group.reason for group in groups}) == len(groups)
    assert all(len(group.reason.split()) > 8 and group.names for group in groups)


@pytest.mark.requirement("R357")
def test_the_page_has_every_key_and_every_constant_that_limits_something() -> None:
    page = limits.render()
    assert all(f"| `{key.name}` |" in page for key in KEYS.values() if limits.is_limit(key))
    named = [name for group in limits.read_groups() if group.kind != limits.NO_LIMIT for name in group.names]
    assert all(f"| `{name}` | `" in page for name in named)
    assert "`?`" not in page
    assert "reference/limits.md" in (ROOT / "mkdocs.yml").read_text()


@pytest.mark.requirement("R357")
@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("_MOST_FILES = 100", ["module _MOST_FILES"]),
        ("_FIRST, _LAST = 2, 10", ["module _FIRST", "module _LAST"]),
        ("LONGEST: int = 64 * 1024", ["module LONGEST"]),
        ("A_SECONDS = 60\nB_SECONDS = A_SECONDS * 2", ["module A_SECONDS", "module B_SECONDS"]),
        ("def f() -> None:\n    run(timeout=30)", ["module timeout=30"]),
        ("NAME = 'x'\nlower = 3\nIS_ON = True", []),
    ],
)
def test_a_new_limit_is_found(code: str, found: list[str], tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(code)
    assert [limit.name for limit in limits.find(tmp_path)] == found
