"""Logs only grow."""

from pathlib import Path

import pytest

from ramet.errors import PathOutside
from ramet.workspace.files import notes, project_files


@pytest.mark.requirement("R249")
def test_notes_are_put_behind_each_other(tmp_path: Path) -> None:
    notes.append(tmp_path, "task/1_PLAN_LOG.md", "\n## a\n")
    size = notes.append(tmp_path, "task/1_PLAN_LOG.md", "\n## b\n")
    assert (tmp_path / "task" / "1_PLAN_LOG.md").read_text() == "\n## a\n\n## b\n"
    assert size == 12


def test_a_note_that_is_repeated_is_there_once(tmp_path: Path) -> None:
    (tmp_path / "log.md").write_bytes(b"\xff somebody's own")
    sizes = [notes.append(tmp_path, "log.md", "\n## a\n", is_repeated=True) for _ in range(2)]
    assert sizes == [22, 22]


def test_a_note_that_another_one_begins_with_is_another(tmp_path: Path) -> None:
    notes.append(tmp_path, "log.md", "\n## [1]\n\nfoo\nbar\n")
    notes.append(tmp_path, "log.md", "\n## [1]\n\nfoo\n", is_repeated=True)
    assert (tmp_path / "log.md").read_text() == "\n## [1]\n\nfoo\nbar\n\n## [1]\n\nfoo\n"


def test_a_note_that_is_repeated_is_found_in_a_log_of_any_size(tmp_path: Path) -> None:
    with (tmp_path / "log.md").open("wb") as log:
        log.truncate(project_files.MAX_BYTES + 1)
    before = notes.append(tmp_path, "log.md", "\n## [1]\n\nfoo\n")
    assert notes.append(tmp_path, "log.md", "\n## [1]\n\nfoo\n", is_repeated=True) == before


def test_a_log_that_leads_out_of_the_project_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    (project / "log.md").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PathOutside):
        notes.append(project, "log.md", "x")
    assert not (tmp_path / "elsewhere").exists()


def test_a_log_of_what_belongs_to_no_task_is_nothing_for_git(tmp_path: Path) -> None:
    notes.append(tmp_path, ".ramet/adhoc/1_DO_LOG.md", "x")
    assert (tmp_path / ".ramet" / ".gitignore").read_text() == "*\n"
