"""The pages that say what words mean and what was decided are whole."""

import re

import pytest
from tests.docs.pages import ROOT, blocks
from tests.requirements import REQUIREMENTS

from ramet.model.history.content import BUILTIN_TYPE_HINTS
from ramet.model.record.effort import TRANSITIONS
from ramet.model.work.effort_state import BY_LIFECYCLE, FIRST, FOLLOWS, MEANINGS
from ramet.protocol.operations import OPERATIONS

DOCS = ROOT / "docs"
_ARROW = re.compile(r"(\S+) --> (\S+)")
_FRAME = re.compile(r"state (\w+) \{(.*?)\}", re.DOTALL)


def _rows(page: str) -> list[list[str]]:
    """The cells of every table row of a page."""
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def _pictures(page: str) -> list[str]:
    return [block.code for block in blocks(DOCS / page) if block.language == "mermaid"]


def test_the_picture_of_an_effort_is_the_table_of_transitions() -> None:
    picture, _ = _pictures("state-machines.md")
    arrows = {(start, end) for start, end in _ARROW.findall(picture) if "[*]" not in (start, end)}
    assert arrows == {(start, end) for start, ends in TRANSITIONS.items() for end in ends}


def test_the_picture_ends_where_nothing_follows() -> None:
    picture, _ = _pictures("state-machines.md")
    ends = {start for start, end in _ARROW.findall(picture) if end == "[*]"}
    assert ends == {state for state, following in TRANSITIONS.items() if not following}


def test_the_picture_of_what_an_effort_is_doing_is_the_table_of_what_follows() -> None:
    _, picture = _pictures("state-machines.md")
    frames = {name: set(re.findall(r"\w+(?= -->)|(?<=--> )\w+", body)) for name, body in _FRAME.findall(picture)}
    assert frames == {"queued": set(BY_LIFECYCLE["queued"]), "leased": set(BY_LIFECYCLE["active"]) - {"manual"}}
    drawn = [
        (first, then)
        for start, end in _ARROW.findall(picture)
        for first in frames.get(start, {start})
        for then in frames.get(end, {end})
    ]
    assert sorted(drawn) == sorted(
        [("[*]", state) for state in FIRST] + [(state, then) for state, follows in FOLLOWS.items() for then in follows]
    )


def test_the_table_says_what_each_state_of_an_effort_means() -> None:
    rows = _rows("state-machines.md")
    assert all([f"`{state}`", meaning] in rows for state, meaning in MEANINGS.items())


@pytest.mark.requirement("R45")
def test_the_table_of_content_types_is_the_models() -> None:
    rows = {
        kind: row[1:4]
        for row in _rows("history.md")
        if row[0].startswith("`")
        for kind in re.findall(r"`(\w+)`", row[0])
    }
    assert rows == {
        kind: [hints.default_role, hints.default_priority, str(hints.compression_priority)]
        for kind, hints in BUILTIN_TYPE_HINTS.items()
    }


@pytest.mark.requirement("R278")
def test_every_round_leads_to_a_behaviour_or_a_departure() -> None:
    rows = [row for row in _rows("decisions/seed-004-registry.md") if row[0].isdigit()]
    assert [int(row[0]) for row in rows] == list(range(1, 21))
    for row in rows:
        numbers = re.findall(r"R\d+", row[3])
        assert numbers, row
        assert set(numbers) <= set(REQUIREMENTS), row


@pytest.mark.requirement("R278")
def test_every_operation_that_the_registry_names_exists_or_is_said_to_come() -> None:
    for row in _rows("decisions/seed-004-registry.md"):
        for operation in re.findall(r"`((?:db|fleet|events|daemon)\.[\w.]+)", row[2] if len(row) > 2 else ""):
            assert operation in OPERATIONS or "come" in row[2] or f"no `{operation}`" in row[2], operation


@pytest.mark.requirement("R313")
def test_the_list_of_departures_is_whole() -> None:
    listed = [row[0] for row in _rows("glossary.md") if re.fullmatch(r"C\d+", row[0])]
    assert listed == [f"C{number}" for number in range(1, 37)]
    named = {requirement.departure for requirement in REQUIREMENTS.values() if requirement.departure}
    assert named <= {*listed, *REQUIREMENTS}


@pytest.mark.requirement("R313")
def test_the_table_of_terms_covers_every_seed() -> None:
    seeds = {row[0][:3] for row in _rows("glossary.md") if re.match(r"00\d ", row[0])}
    assert seeds == {"000", "001", "002", "003", "004"}


@pytest.mark.requirement("R313")
def test_the_glossary_defines_the_nouns_of_the_model() -> None:
    defined = {row[0] for row in _rows("glossary.md")}
    nouns = {path.stem.replace("_", " ") for path in (ROOT / "src" / "ramet" / "model").rglob("[a-z]*.py")}
    plain = {"child", "child branch", "child prompt", "compilation", "conversation", "extract", "instant", "line order"}
    plain |= {
        "line prompt",
        "names",
        "prompt",
        "provider messages",
        "redaction",
        "restored context",
        "retry policy",
        "review",
        "row parts",
    }
    plain |= {"tool guide", "touched files"}
    # The parts of an archive, which the glossary has, and the two formats, which are names of others.
    plain |= {"archive tables", "atif", "markdown"}
    plain |= {path.stem.replace("_", " ") for path in (ROOT / "src" / "ramet" / "model" / "redaction").glob("*.py")}
    assert nouns - plain <= defined
