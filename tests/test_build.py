"""Which build this is, and which of two is older."""

import itertools
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ramet
from ramet.build import Build, compare, own_build, read_build
from ramet.version import __version__

SOURCE = Path(ramet.__file__).parent
OURS = Build("0.2.0", 2, 40, "aaaaaaa", 2_000)


@pytest.mark.requirement("R465")
@pytest.mark.parametrize(
    ("theirs", "relation"),
    [
        (OURS, "same"),
        (Build("0.1.0", 1), "older"),  # from before builds had names
        (OURS._replace(version="0.1.9", built_at=3_000, revision="b"), "older"),
        (OURS._replace(version="0.10.0", built_at=1_000, revision="b"), "newer"),
        (OURS._replace(version="0.2", protocol=1, revision="b"), "older"),
        (OURS._replace(schema_version=39, built_at=3_000, revision="b"), "older"),
        (OURS._replace(schema_version=41, built_at=1_000, revision="b"), "newer"),
        (OURS._replace(built_at=1_999, revision="b"), "older"),
        (OURS._replace(built_at=2_001, revision="b"), "newer"),
        (OURS._replace(revision="b"), "other"),
        (OURS._replace(built_at=0, revision="b"), "other"),
        (OURS._replace(version="?", revision="b"), "other"),
    ],
)
def test_builds_are_ordered_by_version_protocol_schema_and_time(theirs: Build, relation: str) -> None:
    assert compare(theirs, OURS) == relation


@pytest.mark.requirement("R465")
def test_no_two_builds_find_each_other_older_so_they_cannot_replace_each_other_in_turn() -> None:
    parts = itertools.product(("0.1.0", "0.2.0", "x"), (1, 2), (7, 8), ("", "aaaaaaa", "bbbbbbb"), (0, 1, 2))
    builds = [Build(*part) for part in parts]
    newer = {build: {other for other in builds if compare(build, other) == "older"} for build in builds}
    assert len(newer[builds[0]]) > 50
    for build in builds:
        assert all(build not in newer[other] for other in newer[build])
        assert all(build not in newer[third] for other in newer[build] for third in newer[other])


def test_a_greeting_of_anybody_is_read_without_an_error() -> None:
    assert read_build({"version": "0.1.0", "protocol": 1, "principal": "user"}) == Build("0.1.0", 1)
    hostile = {"version": "\x1b[2J" * 99, "protocol": True, "build": "../\n", "built_at": "x", "schema_version": None}
    assert read_build(hostile) == Build("?")
    assert read_build({}) == read_build(None) == read_build(["0.1.0"]) == Build("?")


def test_a_checkout_is_named_after_its_commit_and_a_copy_after_its_files(tmp_path: Path) -> None:
    def ask(folder: Path) -> list[str]:
        program = "from ramet.build import *; print(own_revision(), own_build().built_at)"
        run = [sys.executable, "-c", program]
        return subprocess.check_output(run, env={"PYTHONPATH": str(folder)}, cwd="/", text=True).split()

    copy = tmp_path / "src"
    shutil.copytree(SOURCE, copy / "ramet", ignore=shutil.ignore_patterns("__pycache__"))
    first, seconds = ask(copy)
    assert (len(first), seconds, ask(copy)) == (8, "0", [first, "0"])
    (copy / "ramet" / "errors.py").touch()
    assert ask(copy)[0] != first
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@x"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "m", "--date", "1"], check=True)
    commit, at = subprocess.check_output([*git, "log", "--format=%H %ct"], text=True).split()
    assert ask(copy) == [commit[:12], at]
    subprocess.run([*git, "pack-refs", "--all"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "other")], check=True)
    shutil.copytree(copy, tmp_path / "other" / "src")
    assert ask(tmp_path / "other" / "src") == ask(copy) == [commit[:12], at]


def test_a_build_is_shown_with_its_revision_once() -> None:
    assert str(Build("0.1.0", 1)) == "0.1.0"
    assert str(Build("0.1.0", 1, 33, "51f0c7d20b3e")) == "0.1.0, build 51f0c7d20b3e"
    assert str(Build("0.2.0.dev7+g51f0c7d20b3e", 1, 33, "51f0c7d20b3e")) == "0.2.0.dev7+g51f0c7d20b3e"


def test_this_build_knows_its_version_and_its_schema() -> None:
    ours = own_build()
    migrations = list((SOURCE / "store" / "sql" / "migrations" / "postgres").glob("*.sql"))
    assert (ours.version, ours.schema_version) == (__version__, len(migrations))
    assert ours.revision


@pytest.mark.slow
@pytest.mark.requirement("R465")
def test_every_commit_makes_a_package_with_a_higher_version_and_a_tag_the_release_itself(tmp_path: Path) -> None:
    root, dist = tmp_path / "root", tmp_path / "dist"
    shutil.copytree(SOURCE, root / "src" / "ramet", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(SOURCE.parent.parent / name, root)

    def git(*words: str, seconds: int = 0) -> None:
        dates = {f"GIT_{role}_DATE": f"{seconds} +0000" for role in ("AUTHOR", "COMMITTER")}
        options = ("-c", "user.name=n", "-c", "user.email=e@x")
        subprocess.run(["git", "-C", str(root), *options, *words], env={**os.environ, **dates}, check=True)

    def build() -> str:
        words = ["-m", "hatchling", "build", "--target", "wheel", "--directory", str(dist)]
        subprocess.run([sys.executable, *words], cwd=root, check=True, capture_output=True)
        wheel = max(dist.glob("*.whl"), key=lambda file: file.stat().st_mtime_ns)
        with zipfile.ZipFile(wheel) as archive:
            text = archive.read("ramet/version.py").decode()
        version = wheel.name.split("-")[1]
        assert f'__version__ = "{version}"' in text
        return version

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "one", seconds=1_700_000_000)
    first = build()
    git("commit", "-q", "--allow-empty", "-m", "two", seconds=1_700_000_001)
    second = build()
    assert first.startswith("0.1.0.dev20231114221320+g")
    assert second.startswith("0.1.0.dev20231114221321+g")
    (root / "src" / "ramet" / "clock.py").write_text("edited = True\n")
    edited = build()
    assert edited.split("+")[0] > second.split("+")[0]
    git("checkout", "-q", ".")
    git("tag", "v0.1.0")
    assert build() == __version__.partition(".dev")[0]
