"""What development and CI install is locked with hashes, and `make audit` says what is known about it."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
_PIN = re.compile(r"(?P<pin>[\w.\[\],-]+==[^\s;]+)(?: ; (?P<marker>[^\\]+?))?(?: \\)?")
_HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")


def pins(lock: Path) -> Iterator[Requirement]:
    for line in lock.read_text().splitlines():
        if found := _PIN.fullmatch(line):
            yield Requirement(f"{found['pin']} ; {found['marker']}" if found["marker"] else found["pin"])


def named_in_the_project(*extras: str) -> list[Requirement]:
    """The dependencies that `pyproject.toml` names, with those of extras that an extra takes in."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = [Requirement(line) for line in project["dependencies"]]
    for line in (line for extra in extras for line in project["optional-dependencies"][extra]):
        each = Requirement(line)
        found += named_in_the_project(*each.extras) if each.name == "ramet" else [each]
    return found


@pytest.mark.requirement("R346")
@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_pin_has_hashes_and_no_file_names_a_host(lock: Path) -> None:
    lines = [line for line in lock.read_text().splitlines() if not line.startswith("#")]
    assert [line for line in lines if not _PIN.fullmatch(line) and not _HASH.fullmatch(line)] == []
    ends = [index for index, line in enumerate(lines) if _PIN.fullmatch(line)]
    assert ends
    assert all(_HASH.fullmatch(lines[index + 1]) for index in ends)
    assert "://" not in lock.read_text()


@pytest.mark.requirement("R346")
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize(("lock", "extras"), [("runtime", ()), ("dev", ("dev",)), ("agents", ("agents",))])
def test_each_python_gets_one_version_of_every_dependency_that_fits(
    lock: str, extras: tuple[str, ...], python: str
) -> None:
    here: dict[str, Any] = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.0",
        "extra": "",
    }
    locked: dict[str, list[str]] = {}
    for pin in pins(ROOT / "requirements" / f"{lock}.lock"):
        if pin.marker is None or pin.marker.evaluate(here):
            locked.setdefault(canonicalize_name(pin.name), []).append(str(pin.specifier).removeprefix("=="))
    assert {name: versions for name, versions in locked.items() if len(versions) != 1} == {}
    for wanted in named_in_the_project(*extras):
        [version] = locked[canonicalize_name(wanted.name)]
        assert wanted.specifier.contains(version, prereleases=True), f"{wanted}: run `make lock`"


@pytest.mark.requirement("R346")
def test_the_makefile_installs_nothing_without_hashes() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert makefile.count("pip install") == 1
    assert re.findall(r"\$\(PIP\) (.*)", makefile) == [
        "--no-deps --require-hashes --requirement",
        "--no-deps --no-build-isolation --editable .",
    ]
    assert set(re.findall(r"\$\(LOCKED\) (\S+)", makefile)) == {f"requirements/{lock.name}" for lock in LOCKS}
    assert "pip install" not in (ROOT / ".ci" / "run").read_text()


def audit(folder: Path, script: str) -> "subprocess.CompletedProcess[str]":
    """Run `tools/audit.py` with a program in place of pip-audit that prints what a database would answer."""
    program = folder / "pip-audit"
    program.write_text(f"#!{sys.executable}\n{script}\n")
    program.chmod(0o755)
    command = [sys.executable, str(ROOT / "tools" / "audit.py"), str(program), "dev.lock"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def answering(*dependencies: dict[str, Any]) -> str:
    return f"print({json.dumps(json.dumps({'dependencies': dependencies}))})"


_BAD = {"name": "click", "version": "8.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["8.1"]}]}
_GOOD = {"name": "rich", "version": "13.7", "vulns": []}
_UNKNOWN = {"name": "apsw", "skip_reason": "not found"}


@pytest.mark.requirement("R346")
def test_audit_names_known_vulnerabilities_and_fails(tmp_path: Path) -> None:
    done = audit(tmp_path, answering(_BAD, _GOOD, _UNKNOWN))
    assert (done.returncode, done.stderr) == (1, "")
    assert "2 audited, 1 vulnerabilities, NOT AUDITED: 1 that the database does not know" in done.stdout
    assert "click 8.0: PYSEC-1, fixed in 8.1" in done.stdout


@pytest.mark.requirement("R346")
@pytest.mark.parametrize(
    "script", ["raise SystemExit('no route to host')", answering(_UNKNOWN), answering()], ids=["down", "empty", "none"]
)
def test_audit_says_loudly_that_no_database_answered_and_does_not_fail(tmp_path: Path, script: str) -> None:
    done = audit(tmp_path, script)
    assert (done.returncode, done.stderr) == (0, "")
    assert "NOT AUDITED, because no database of vulnerabilities answered" in done.stdout


@pytest.mark.requirement("R346")
def test_the_programs_of_npm_are_locked_with_hashes_and_no_file_names_a_host() -> None:
    folder = ROOT / "requirements" / "npm"
    wanted, lock = (json.loads((folder / name).read_text()) for name in ("package.json", "package-lock.json"))
    versions = wanted["dependencies"] | wanted["optionalDependencies"]
    root, *packages = (lock["packages"][name] for name in sorted(lock["packages"]))
    assert root["dependencies"] | root["optionalDependencies"] == versions
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    assert packages
    assert all(package["integrity"].startswith("sha512-") and "resolved" not in package for package in packages)
    assert "://" not in (folder / "package-lock.json").read_text()
