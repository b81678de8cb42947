"""Links lead somewhere, and the pages speak of nothing that only exists on one machine."""

import json
import re
from pathlib import Path

import pytest
from tests.docs.pages import EVERY_PAGE, ROOT, name, prose

_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/]+\.py)`")
_MACHINE = re.compile(r"(?<!\w)/(?:root|home/\w+|Users/\w+|work|var/tmp)/")
_SEED_NAMES = ROOT / "tests" / "data" / "seed_names.json"
"""The seeds have tests of their own, which the page about their names translates."""


def _anchors(page: Path) -> set[str]:
    titles = [match["title"] for match in _HEADING.finditer(page.read_text(encoding="utf-8"))]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _broken(page: Path) -> list[str]:
    broken = []
    for match in _LINK.finditer(prose(page)):
        path, _, fragment = match["target"].partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (fragment and fragment not in _anchors(target)):
            broken.append(match["target"])
    return broken


@pytest.mark.parametrize("page", EVERY_PAGE, ids=name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert _broken(page) == []


@pytest.mark.parametrize("page", EVERY_PAGE, ids=name)
def test_no_page_names_a_path_of_one_machine(page: Path) -> None:
    assert _MACHINE.findall(page.read_text(encoding="utf-8")) == []


def test_agents_md_stays_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines()) <= 60


def test_every_decision_is_in_the_list() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(_LINK.findall((folder / "README.md").read_text(encoding="utf-8")))
    assert listed == {path.name for path in folder.glob("*.md")} - {"README.md"}


def test_every_dependency_has_its_decision() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    base = declared.partition("dependencies = [")[2].partition("]")[0]
    wanted = {match[1].lower() for match in re.finditer(r'"([A-Za-z0-9_-]+)', base)} | {"psycopg"}
    pages = " ".join(path.name for path in (ROOT / "docs" / "decisions").glob("*.md"))
    assert {name for name in wanted if name not in pages} == set()


@pytest.mark.parametrize("page", EVERY_PAGE, ids=name)
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    theirs = {name for kinds in json.loads(_SEED_NAMES.read_text()).values() for name in kinds.get("file", [])}
    named = set(_TEST.findall(page.read_text(encoding="utf-8"))) - theirs
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []
