"""No program that a repository names runs in the daemon's git: none of any kind, in no code path, at no moment."""

import os
import threading
import time
from pathlib import Path

import pytest
from tests.workspace.git.hostile import ATTRIBUTES, Trap, configure, work_in
from tests.workspace.repositories import Shop

from ramet.errors import GitFailed
from ramet.workspace.git import merges
from ramet.workspace.git.repository import find

_DRIVERS = {
    "clean filter": {"filter.evil.clean": "TRAP"},
    "smudge filter": {"filter.evil.smudge": "TRAP"},
    "filter process": {"filter.evil.process": "TRAP"},
    "merge driver": {"merge.evil.driver": "TRAP %A %O %B"},
    "diff drivers": {"diff.evil.command": "TRAP", "diff.evil.textconv": "TRAP", "diff.external": "TRAP"},
}
"""What the attributes of a file choose."""

_OTHERS = {
    "monitor": {"core.fsmonitor": "TRAP"},
    "hooks": {"core.hooksPath": "HOOKS"},
    "alias": {f"alias.{name}": "!TRAP" for name in ("status", "add", "merge", "worktree", "diff", "reset", "show")},
    "signature": {"gpg.program": "TRAP", "commit.gpgSign": "true", "user.signingKey": "A", "log.showSignature": "true"},
    "signature of a merge": {"merge.verifySignatures": "true"},
    "editor": {"core.editor": "TRAP", "sequence.editor": "TRAP", "merge.edit": "true"},
    "pager": {"core.pager": "TRAP", "pager.status": "true", "pager.diff": "TRAP", "pager.show": "TRAP"},
    "credentials": {"credential.helper": "!TRAP", "core.askPass": "TRAP"},
    "ssh": {"core.sshCommand": "TRAP", "core.gitProxy": "TRAP"},
    "trailer": {"trailer.x.command": "TRAP", "trailer.x.cmd": "TRAP", "trailer.x.ifMissing": "add"},
    "submodule": {"submodule.x.update": "!TRAP", "submodule.recurse": "true", "status.submoduleSummary": "true"},
    "configured hook": {"hook.x.command": "TRAP", "hook.x.event": "post-checkout"},
    "packing": {"uploadpack.packObjectsHook": "TRAP", "gc.auto": "1", "gc.recentObjectsHook": "TRAP"},
    "remote": {"remote.origin.url": "ext::TRAP", "remote.origin.uploadpack": "TRAP", "remote.origin.vcs": "TRAP"},
}
"""What the repository alone chooses."""


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


@pytest.fixture
def assigned(shop: Shop) -> Shop:
    """A repository whose files are assigned to the drivers."""
    (shop.project / ".gitattributes").write_text(ATTRIBUTES)
    shop.commit(shop.project, "attributes")
    return shop


def arm(shop: Shop, trap: Trap, kind: str, settings: dict[str, str]) -> None:
    program = trap.program(kind)
    configure(shop, {key: value.replace("TRAP", program) for key, value in settings.items()})


def leave_uncommitted(shop: Shop, name: str) -> str | None:
    """A worktree that is made and finished with a new file in it; the note about it."""
    worktree = shop.prepare(name)
    Path(worktree.path, "b.txt").write_text("b\n")
    return shop.finish(worktree).note


@pytest.mark.requirement("R337")
@pytest.mark.parametrize("kind", _DRIVERS)
def test_no_driver_of_a_repository_runs(assigned: Shop, trap: Trap, kind: str) -> None:
    arm(assigned, trap, kind, _DRIVERS[kind])
    work_in(assigned)
    assert trap.sprung() == set()


@pytest.mark.requirement("R337")
def test_no_other_program_of_a_repository_runs(assigned: Shop, trap: Trap) -> None:
    hooks = ("post-checkout", "reference-transaction", "post-index-change", "pre-merge-commit", "commit-msg")
    folder = Path(trap.program("post-merge")).parent
    for hook in hooks:
        trap.program(hook)
    for kind, settings in _OTHERS.items():
        arm(assigned, trap, kind, {key: value.replace("HOOKS", str(folder)) for key, value in settings.items()})
    work_in(assigned)
    assert trap.sprung() == set()


@pytest.mark.requirement("R337")
def test_a_driver_that_hides_a_conflict_is_not_asked(assigned: Shop, trap: Trap) -> None:
    arm(assigned, trap, "driver", {"merge.evil.driver": "TRAP %A"})
    heads = []
    for name in ("e1", "e2"):
        worktree = assigned.prepare(name)
        Path(worktree.path, "a.txt").write_text(name)
        heads.append(assigned.finish(worktree).head)
    repository = find(assigned.git, str(assigned.project))
    assert repository is not None
    assert merges.foretell(repository, *heads) == ["a.txt"]


@pytest.mark.requirement("R337")
@pytest.mark.parametrize("place", ["include", "includeIf", "worktree", "attributesFile", "info"])
def test_what_a_repository_says_in_another_file_counts_no_more(shop: Shop, trap: Trap, place: str) -> None:
    common, other = shop.project / ".git", shop.root / "other"
    worktree = shop.prepare("e1")
    own = common / "worktrees" / "e1" / "config.worktree"
    attributes = {"attributesFile": other, "info": common / "info" / "attributes"}.get(place)
    (attributes or Path(worktree.path, ".gitattributes")).write_text(ATTRIBUTES)
    match place:
        case "include":
            configure(shop, {"include.path": str(other)})
        case "includeIf":
            configure(shop, {"includeIf.gitdir:/**.path": str(other)})
        case "worktree":
            configure(shop, {"extensions.worktreeConfig": "true", "core.repositoryFormatVersion": "1"})
        case "attributesFile":
            configure(shop, {"core.attributesFile": str(other)})
    target = {"worktree": own, "attributesFile": None, "info": None}.get(place, other)
    configure(shop, {"filter.evil.clean": trap.program(), "filter.evil.smudge": trap.program()}, target)
    Path(worktree.path, "b.txt").write_text("b\n")
    shop.finish(worktree)
    shop.prepare("e2")
    assert trap.sprung() == set()
    assert shop.show("ramet/e1:b.txt") == "b"


@pytest.mark.requirement("R337")
def test_a_worktree_that_leads_to_another_repository_brings_no_program(assigned: Shop, trap: Trap) -> None:
    other = assigned.make_repository("other")
    configure(assigned, {"filter.evil.clean": trap.program()}, other / ".git" / "config")
    for number, file in enumerate(("{top}/.git", "{own}/commondir")):
        worktree = assigned.prepare(f"e{number}")
        own = assigned.project / ".git" / "worktrees" / f"e{number}"
        link = Path(file.format(top=worktree.path, own=own))
        link.write_text(f"gitdir: {other}/.git\n" if link.name == ".git" else f"{other}/.git\n")
        Path(worktree.path, "b.txt").write_text("b\n")
        assigned.finish(worktree)
    assert trap.sprung() == set()


@pytest.mark.requirement("R337")
def test_an_agent_that_changes_the_configuration_all_the_time_wins_no_race(assigned: Shop, trap: Trap) -> None:
    config = assigned.project / ".git" / "config"
    plain = config.read_text()
    evil = f'{plain}[filter "evil"]\n\tclean = {trap.program()}\n\tsmudge = {trap.program()}\n'
    is_over = threading.Event()

    def flip() -> None:
        for text in iter(lambda: None if is_over.is_set() else evil, None):
            for each in (plain, text):
                config.with_name("new").write_text(each)
                config.with_name("new").replace(config)

    agent = threading.Thread(target=flip)
    agent.start()
    try:
        for number in range(5):
            leave_uncommitted(assigned, f"e{number}")
    finally:
        is_over.set()
        agent.join()
    assert trap.sprung() == set()


@pytest.mark.requirement("R337")
@pytest.mark.parametrize("url", ["LOCAL", "ext::TRAP", "ssh://example.invalid/x", "TRAP::x"])
def test_missing_objects_are_not_fetched_with_a_program_that_the_remote_names(shop: Shop, trap: Trap, url: str) -> None:
    blob = shop.run(shop.project, "rev-parse", "HEAD:a.txt")
    origin = shop.make_repository("origin")
    program = trap.program()
    remote = {"url": url.replace("LOCAL", str(origin)).replace("TRAP", program), "promisor": "true"}
    configure(shop, {f"remote.origin.{key}": value for key, value in remote.items()})
    configure(shop, {"remote.origin.uploadpack": program, "core.sshCommand": program, "protocol.allow": "always"})
    configure(shop, {"extensions.partialClone": "origin", "core.repositoryFormatVersion": "1"})
    (shop.project / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitFailed, match="partial clone") as refusal:
        shop.git.run(shop.project, "cat-file", "blob", blob)
    assert "git fetch" in refusal.value.fix
    assert trap.sprung() == set()


@pytest.mark.requirement("R337")
def test_a_repository_inside_the_checkout_brings_no_program(assigned: Shop, trap: Trap) -> None:
    """Git looks into submodules, to merge them and to say whether they changed."""
    inner = assigned.make_repository("shop/inner")
    first = assigned.run(inner, "rev-parse", "HEAD")
    heads = []
    for name in ("e1", "e2"):
        assigned.commit(inner, name)
        heads.append(_point_submodule(assigned, name, assigned.run(inner, "rev-parse", "HEAD")))
        assigned.run(inner, "reset", "-q", "--hard", first)
    program = trap.program()
    evil = {"remote.origin.url": str(inner), "remote.origin.promisor": "true", "remote.origin.uploadpack": program}
    evil |= {"extensions.partialClone": "origin", "core.repositoryFormatVersion": "1"}
    configure(assigned, evil | {"core.fsmonitor": program}, inner / ".git" / "config")
    for path in (inner / ".git" / "objects").glob("??/*"):
        if not first.startswith(path.parent.name):
            path.unlink()
    repository = find(assigned.git, str(assigned.project))
    assert repository is not None
    assert merges.foretell(repository, *heads) == ["inner"]
    assigned.git.run(assigned.project, "status", "--ignore-submodules=dirty")
    assert trap.sprung() == set()


def _point_submodule(shop: Shop, name: str, commit: str) -> str:
    """A branch on which the submodule is at a commit."""
    worktree = shop.prepare(name)
    shop.run(worktree.path, "update-index", "--add", "--cacheinfo", f"160000,{commit},inner")
    shop.run(worktree.path, "commit", "-q", "-m", name)
    return shop.run(worktree.path, "rev-parse", "HEAD")


@pytest.mark.requirement("R337")
def test_a_configuration_that_never_ends_or_is_none_is_an_error_at_once(shop: Shop) -> None:
    config = shop.project / ".git" / "config"
    for make in (
        lambda: os.mkfifo(config),
        lambda: config.symlink_to("/dev/zero"),
        lambda: config.write_bytes(b"\0\xff[" * 1000),
        lambda: config.write_text("[core]\n" + "\tx = y\n" * 200_000),
    ):
        config.unlink()
        make()
        started = time.monotonic()
        with pytest.raises(GitFailed, match=r"\.git/config"):
            shop.git.run(shop.project, "status")
        assert time.monotonic() - started < 30
