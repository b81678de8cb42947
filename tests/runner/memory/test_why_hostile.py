"""`memory.why` in repositories that try to run programs, to lead it elsewhere, or to keep it busy."""

import subprocess
import time
from pathlib import Path

import pytest
from tests.runner.desk import Desk
from tests.runner.memory.agent_work import CART, Office, edits, writes
from tests.workspace.git.hostile import Trap, configure
from tests.workspace.repositories import Shop

from ramet.errors import FileMissing, InvalidParams, PathOutside, RametError

FILE = "src/cart.py"
PATIENCE_SECONDS = 120
SETTINGS = {
    "filter.evil.clean": "TRAP",
    "filter.evil.smudge": "TRAP",
    "filter.evil.process": "TRAP",
    "diff.evil.command": "TRAP",
    "diff.evil.textconv": "TRAP",
    "diff.external": "TRAP",
    "core.fsmonitor": "TRAP",
    "core.hooksPath": "HOOKS",
    "core.pager": "TRAP",
    "pager.blame": "TRAP",
    "pager.log": "TRAP",
    "alias.blame": "!TRAP",
    "alias.log": "!TRAP",
    "blame.ignoreRevsFile": "/etc/passwd",
    "log.showSignature": "true",
    "gpg.program": "TRAP",
    "remote.origin.url": "ext::TRAP",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "remote.origin.uploadpack": "TRAP",
    "notes.rewriteRef": "refs/notes/*",
}


@pytest.fixture
def office(desk: Desk) -> Office:
    return Office(desk)


def _arm(shop: Shop, trap: Trap) -> None:
    program = Path(trap.program())
    hooks = program.parent / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "pre-commit", "post-rewrite", "fsmonitor-watchman"):
        (hooks / name).symlink_to(program)
    places = {"TRAP": str(program), "HOOKS": str(hooks)}
    (shop.project / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")
    for word, place in places.items():
        configure(shop, {key: value.replace(word, place) for key, value in SETTINGS.items() if word in value})
    configure(shop, {key: value for key, value in SETTINGS.items() if not any(word in value for word in places)})


@pytest.mark.requirement("R395", "R337")
def test_no_program_that_a_repository_names_runs_for_why_or_for_notes(office: Office, tmp_path: Path) -> None:
    done = office.run(writes(FILE, CART))
    office.git("merge", "-q", "--squash", done.branch)
    office.git("commit", "-q", "-m", f"cart\n\nRamet-Effort: e{done.effort_id}")
    trap = Trap(tmp_path)
    _arm(office.desk.shop, trap)
    assert office.efforts_of(FILE) == [done.effort_id] * 4
    assert office.desk.call("memory.notes.export", path=str(office.top)).written == 1
    with pytest.raises(FileMissing):
        office.why("src/nothing.py")
    assert trap.sprung() == set()
    # The trap works: git itself runs it.
    subprocess.run(["git", "diff", "HEAD~1"], cwd=office.top, env=office.desk.shop.environ, check=False, timeout=60)
    assert trap.sprung()


@pytest.mark.requirement("R395")
def test_no_path_leads_out_of_the_repository_or_to_a_wrong_file(office: Office, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not yours\n")
    (office.top / "out.py").symlink_to(secret)
    (office.top / "folder").symlink_to(tmp_path)
    office.commit("two\nlines.py", CART)
    office.commit(":(glob)*.py", CART)
    office.commit("-h", CART)
    with pytest.raises(PathOutside):
        office.why("out.py")
    with pytest.raises(RametError) as caught:
        office.why("folder/secret.txt")
    assert "not yours" not in str(caught.value)
    for name in ("two\nlines.py", ":(glob)*.py", "-h"):
        assert office.why(name).path == name
        assert office.efforts_of(name) == [None] * 4


@pytest.mark.requirement("R395")
def test_large_empty_and_nested_repositories_get_clear_errors_in_bounded_time(office: Office) -> None:
    started = time.monotonic()
    office.commit("line.txt", "x" * 50_000_000)
    with pytest.raises(InvalidParams, match="is larger than 4 MB"):
        office.why("line.txt")
    office.commit("wide.txt", "y" * 3_000_000 + "\nshort line of a person\n")
    assert office.efforts_of("wide.txt") == [None, None]
    inner = office.top / "inner"
    inner.mkdir()
    office.git("init", "-q", cwd=inner)
    (inner / "a.py").write_text(CART)
    with pytest.raises(RametError):  # a repository of its own, without any commit, and no project
        office.why("inner/a.py")
    assert time.monotonic() - started < PATIENCE_SECONDS


@pytest.mark.requirement("R395")
def test_a_repository_without_commits_and_a_submodule_are_no_failure(desk: Desk) -> None:
    office = Office(desk)
    empty = desk.shop.root / "empty"
    empty.mkdir()
    office.git("init", "-q", cwd=empty)
    (empty / "a.py").write_text(CART)
    office.git("add", "-A", cwd=empty)
    desk.world.call("db.project.upsert", path=str(empty))
    with pytest.raises(InvalidParams, match="no commit"):
        desk.call("memory.why", path=str(empty / "a.py"))
    office.git("commit", "-q", "-m", "first", cwd=empty)
    office.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(empty), "module")
    office.git("commit", "-q", "-m", "a module")
    for path in ("module", "module/a.py"):
        with pytest.raises(InvalidParams, match="a repository inside of"):
            office.why(path)
    done = office.run(edits("src/shop.py", "import cart\n", "import cart\nimport taxes_of_countries\n"))
    office.git("merge", "-q", done.branch)
    assert office.why("src/shop.py", 2).sources[0].effort_id == done.effort_id
