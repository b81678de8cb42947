"""The package builds from the locked tools, and what people install with pip, pipx and uv works without extras."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BIN = Path(sys.executable).parent
_SECONDS = 840
_EXTRAS = {"psycopg": ("store", "daemon"), "pydantic_ai": ("ai",), "splintr": ("model", "ai"), "numpy": ("ai",)}
"""The packages of extras, and the layers with modules that may need them."""

Install = Callable[[Path, Path, Path], Path]
"""Installs a package into a folder, with constraints; returns the path of `ramet`."""


def run(*command: str | Path, **more: str) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("RAMET_", "PYTHON", "COV_"))}
    done = subprocess.run(
        [str(word) for word in command],
        env={**environ, **more},
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel that is built from it: with what the lock file installs, and nothing else."""
    folder = tmp_path_factory.mktemp("dist")
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
        timeout=_SECONDS,
    )
    (sdist,) = folder.glob("ramet-*.tar.gz")
    wheel = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index")
    run(*wheel, "--wheel-dir", folder, sdist)
    return folder


@pytest.fixture(scope="module")
def constraints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The locked versions. Hashes would be asked of our own package, too."""
    lines = (ROOT / "requirements" / "runtime.lock").read_text().splitlines()
    pins = [line.removesuffix("\\").strip() for line in lines if re.match(r"[a-z]", line)]
    file = tmp_path_factory.mktemp("constraints") / "constraints.txt"
    file.write_text("\n".join(pins) + "\n")
    return file


def find_tool(name: str) -> Path:
    tool = BIN / name
    if not tool.exists() and os.environ.get("CI", "").lower() not in ("1", "true"):
        pytest.skip(f"THE INSTALLATION WITH {name} IS NOT TESTED: `make .venv/.tools` installs it")
    return tool


def with_pip(package: Path, constraints: Path, folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "--constraint", constraints, package)
    return folder / "bin" / "ramet"


def with_pipx(package: Path, constraints: Path, folder: Path) -> Path:
    places = {
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_MAN_DIR": str(folder / "man"),
    }
    pip = f"--pip-args=--constraint={constraints}"
    run(find_tool("pipx"), "install", "--python", sys.executable, pip, package, **places)
    return folder / "bin" / "ramet"


def with_uv(package: Path, constraints: Path, folder: Path) -> Path:
    places = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    options = ("--python", sys.executable, "--constraints", constraints)
    run(find_tool("uv"), "tool", "install", *options, package, **places)
    return folder / "bin" / "ramet"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dict[str, str]]:
    path = Path(subprocess.check_output(["mktemp", "-d", "/tmp/ramet-XXXXXX"], text=True).strip())
    yield {"HOME": str(path), "RAMET_HOME": str(path / "ramet"), "XDG_CONFIG_HOME": str(path / "config")}
    shutil.rmtree(path, ignore_errors=True)


def test_the_tools_of_agents_are_in_the_base_package_and_no_old_extra_is_refused() -> None:
    assert any(line.startswith("mcp>=") for line in PROJECT["dependencies"])
    assert PROJECT["optional-dependencies"]["mcp"] == []


@pytest.mark.slow
@pytest.mark.requirement("R454")
@pytest.mark.timeout(900)
def test_the_sdist_and_the_wheel_have_the_code_its_queries_and_its_licence(dist: Path) -> None:
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    files = [file for file in (ROOT / "src").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    ours = {str(file.relative_to(ROOT)) for file in files}
    assert ours | {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE"} <= packed
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name.removeprefix("src/") for name in ours} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
@pytest.mark.requirement("R454")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("install", "suffix"), [(with_pip, "tar.gz"), (with_pipx, "whl"), (with_uv, "whl")])
def test_an_installation_without_extras_works(
    install: Install, suffix: str, dist: Path, constraints: Path, tmp_path: Path, home: dict[str, str]
) -> None:
    (package,) = dist.glob(f"*.{suffix}")
    ramet = install(package, constraints, tmp_path / "installed")
    assert run(ramet, "--version", **home).startswith("ramet, version ")
    try:
        assert "no agents" in run(ramet, "ps", **home) or json.loads(run(ramet, "ps", "--json", **home))["items"] == []
        found = {row["name"]: row for row in json.loads(run(ramet, "doctor", "--json", **home))["items"]}
        assert (found["packages"]["result"], found["tools"]["result"]) == ("ok", "ok")
        assert "added" in run(ramet, "hooks", "install", "--agent", "claude", "--scope", "user", "--yes", **home)
        assert _greet_tools(ramet, home)["serverInfo"]["name"] == "ramet"
    finally:
        run(ramet, "daemon", "stop", **home)


def _greet_tools(ramet: Path, home: dict[str, str]) -> dict[str, dict[str, str]]:
    """What the server of tools answers to its first request."""
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    environ = {**home, "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        [ramet, "mcp"], env=environ, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            server.stdin.write(f"{request}\n")
            server.stdin.flush()
            reply: dict[str, dict[str, dict[str, str]]] = json.loads(server.stdout.readline())
        finally:
            server.kill()
    return reply["result"]


_IMPORT_ALL = """
import json, pkgutil, importlib, ramet
missing = {}
for found in pkgutil.walk_packages(ramet.__path__, "ramet."):
    if found.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        missing[found.name] = error.name
print(json.dumps(missing))
"""


@pytest.mark.slow
@pytest.mark.requirement("R454")
@pytest.mark.timeout(900)
def test_only_what_an_extra_is_for_needs_it_and_says_so(
    dist: Path, constraints: Path, tmp_path: Path, home: dict[str, str]
) -> None:
    (wheel,) = dist.glob("*.whl")
    ramet = with_pip(wheel, constraints, tmp_path / "installed")
    missing = json.loads(run(ramet.with_name("python"), "-c", _IMPORT_ALL, **home))
    assert {name: lacks for name, lacks in missing.items() if name.split(".")[1] not in _EXTRAS.get(lacks, ())} == {}
    postgres = ("--set", "database.type=postgres", "--set", "database.url=postgres://me@127.0.0.1:9/r")
    done = subprocess.run(
        [ramet, *postgres, "ps"], env={**home, "PATH": "/bin:/usr/bin"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode != 0, "ramet[postgres]" in done.stderr) == (True, True), done.stderr
