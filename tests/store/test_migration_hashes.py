"""A migration that has landed is never edited: people have databases that its text made."""

import pytest

from ramet.store.database.schema import hashes
from ramet.store.database.schema.hashes import Row, hash_text, read_hashes, read_texts, render_hashes

_RULE = 'restore it and write a new migration; "Adding a migration" in CONTRIBUTING.md says what if it has not landed'


def problems(texts: dict[tuple[str, str], str], rows: tuple[Row, ...]) -> list[str]:
    """What is wrong with these texts, and what to do."""
    frozen = {(row.file, row.dialect): row.hash for row in rows if not row.is_superseded}
    return [
        *(f"{dialect}/{file} is missing: {_RULE}" for file, dialect in sorted(frozen.keys() - texts.keys())),
        *(f"{dialect}/{file} has no row in HASHES: run `make generate`" for file, dialect in texts.keys() - frozen),
        *(
            f"{dialect}/{file} was changed: {_RULE}"
            for (file, dialect), text in sorted(texts.items())
            if frozen.get((file, dialect), hash_text(text)) != hash_text(text)
        ),
    ]


@pytest.mark.requirement("R463", "R277")
def test_no_migration_that_has_landed_is_changed_or_missing() -> None:
    assert problems(read_texts(), read_hashes()) == []


@pytest.mark.requirement("R463")
def test_a_changed_a_missing_and_a_new_migration_are_told_apart() -> None:
    texts = read_texts()
    runs = ("0006_runs.sql", "sqlite")
    assert problems({**texts, runs: texts[runs] + "-- A word.\n"}, read_hashes()) == [
        f"sqlite/0006_runs.sql was changed: {_RULE}"
    ]
    rest = {key: text for key, text in texts.items() if key != runs}
    assert problems(rest, read_hashes()) == [f"sqlite/0006_runs.sql is missing: {_RULE}"]
    new = problems({**texts, ("9999_new.sql", "sqlite"): ""}, read_hashes())
    assert new == ["sqlite/9999_new.sql has no row in HASHES: run `make generate`"]


@pytest.mark.requirement("R463")
def test_generating_adds_the_row_of_a_new_file_and_changes_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    before = render_hashes().splitlines()
    texts = {key: f"{text}-- Edited.\n" for key, text in read_texts().items()}
    monkeypatch.setattr(hashes, "read_texts", lambda: {**texts, ("9999_new.sql", "sqlite"): "SELECT 1;\n"})
    assert render_hashes().splitlines() == [
        *before,
        f"{'9999_new.sql':<32} sqlite   {hash_text('SELECT 1;' + chr(10))}",
    ]


@pytest.mark.requirement("R463")
def test_the_texts_that_landed_and_were_edited_afterwards_are_listed() -> None:
    superseded = [(row.file, row.dialect) for row in read_hashes() if row.is_superseded]
    counts = {
        "0001_history.sql": 1,
        "0002_work.sql": 3,
        "0004_contexts.sql": 1,
        "0006_runs.sql": 1,
        "0008_hooks.sql": 1,
    }
    expected = [
        (file, dialect) for file, count in counts.items() for dialect in ("postgres", "sqlite") for _ in range(count)
    ]
    assert sorted(superseded) == sorted(expected)
    assert len(set(read_hashes())) == len(read_hashes())
