"""Give each package that is built a version and a build of its own: what `ramet --version` shows, and pip compares.

A commit with a version's tag (`v0.1.0`) makes that version; any other makes a development version with the time of the
commit. A tree with uncommitted changes, or without git, is named after a hash of its files. A source package carries
what was found, so the wheel that is built from it has the same version.
"""

import hashlib
import re
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SOURCE = ROOT / "src" / "ramet"
VERSION_FILE = SOURCE / "version.py"
_VERSION = re.compile(r'^__version__ = "(.*)"$', re.MULTILINE)
_BUILT_FROM = re.compile(r'^BUILT_FROM = "(.*)"$', re.MULTILINE)
_FILLED_IN = re.compile(r"\d+ [0-9a-f.]{7,64}")


def find_version() -> str:
    """The package's version; `pyproject.toml` asks for it."""
    return _find_build()[0]


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the file that says which build this is into the package."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # its code changes with every commit: `ramet.build` asks git
        release, built_from = _find_build()
        text = VERSION_FILE.read_text(encoding="utf-8")
        text = _BUILT_FROM.sub(f'BUILT_FROM = "{built_from}"', _VERSION.sub(f'__version__ = "{release}"', text))
        fresh = Path(tempfile.mkdtemp(prefix="ramet-build-")) / "version.py"
        fresh.write_text(text, encoding="utf-8")
        self._folder = fresh.parent
        inside = "ramet/version.py" if self.target_name == "wheel" else "src/ramet/version.py"
        build_data["force_include"][str(fresh)] = inside

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        if version != "editable":
            (self._folder / "version.py").unlink()
            self._folder.rmdir()


def _find_build() -> tuple[str, str]:
    """The version, and the time and the name of the code."""
    text = VERSION_FILE.read_text(encoding="utf-8")
    (release,), (built_from,) = _VERSION.findall(text), _BUILT_FROM.findall(text)
    if _FILLED_IN.fullmatch(built_from):
        is_package = (ROOT / "PKG-INFO").exists()  # else it is an archive that git made
        return release if is_package else _name(release, built_from), built_from
    if _git("rev-parse", "--show-toplevel") == str(ROOT.resolve()) and not _git("status", "--porcelain", "src"):
        built_from = _git("log", "-1", "--format=%ct %H")
        is_release = f"v{release}" in _git("tag", "--points-at", "HEAD").splitlines()
        return release if is_release else _name(release, built_from), built_from
    built_from = _describe_files()
    return _name(release, built_from), built_from


def _name(release: str, built_from: str) -> str:
    seconds, _, revision = built_from.partition(" ")
    at = datetime.fromtimestamp(int(seconds), UTC)
    return f"{release}.dev{at:%Y%m%d%H%M%S}+g{revision[:12]}"


def _describe_files() -> str:
    files = sorted(file for file in SOURCE.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(SOURCE).as_posix()}\0".encode() + file.read_bytes() + b"\0")
    return f"{max(int(file.stat().st_mtime) for file in files)} {digest.hexdigest()[:40]}"


def _git(*arguments: str) -> str:
    try:
        return subprocess.check_output(
            ["git", "-C", str(ROOT), *arguments],  # noqa: S607
            text=True,
            stderr=subprocess.DEVNULL,
        ).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
