"""Which driver runs an effort, and what is installed."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ramet.vendors
from ramet.config.settings import DriverSettings, ProfileSettings
from ramet.errors import DriverMissing, UnknownDriver
from ramet.protocol.work.keepers import Launch
from ramet.vendors import registry, selection

Install = Callable[..., dict[str, str]]


@pytest.fixture(autouse=True)
def nothing_bundled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the packages of `make test-agents` are installed makes no difference here."""
    monkeypatch.setattr(selection, "find_spec", lambda _: None)


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """An environment in which these programs, and no others, are installed."""

    def make(*names: str, says: str = "echo 'program 1.2.3 (test)'") -> dict[str, str]:
        for name in names:
            program = tmp_path / name
            program.write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
            program.chmod(0o755)
        return {"PATH": str(tmp_path)}

    return make


def test_the_folder_is_the_table_of_drivers() -> None:
    folders = {path.parent.name for path in Path(ramet.vendors.__path__[0]).glob("*/driver.py")}
    drivers = [registry.find_driver(name) for name in registry.names("driver")]
    assert set(registry.names("driver")) == folders == {driver.name for driver in drivers}
    assert set(registry.PREFERRED) <= folders


def _modules(code: str) -> set[str]:
    """The modules below `ramet.vendors` that a fresh process has imported after it ran some code."""
    shown = f"{code}\nimport sys\nprint(*(name for name in sys.modules if name.startswith('ramet.vendors.')))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("name", registry.names("driver"))
def test_a_keeper_that_asks_for_one_driver_imports_no_other_vendor_and_no_other_part(name: str) -> None:
    found = _modules(f"from ramet.vendors import registry\nregistry.find_driver({name!r})")
    folders = {module.split(".")[2] for module in found}
    assert folders == {"registry", "contract", name}
    parts = {module.split(".")[3] for module in found if module.startswith(f"ramet.vendors.{name}.")}
    assert parts <= {"driver", "facts", "permissions", "refused_calls", "stream", "toml_values", "usage"}
    shared = {"driver_protocol", "failures", "json_lines", "launches", "printed_text", "refusals", "vendor_facts"}
    assert {module.split(".")[3] for module in found if module.startswith("ramet.vendors.contract.")} <= shared


def test_facts_are_read_without_importing_anything_else() -> None:
    found = _modules("from ramet.vendors import registry\nregistry.facts()")
    assert {module.rpartition(".")[2] for module in found if module.count(".") == 3} == {"facts", "vendor_facts"}


def test_the_help_of_the_command_line_imports_no_vendor() -> None:
    help_page = "from contextlib import suppress\nfrom ramet.cli.main import main\n"
    assert (
        _modules(f"{help_page}import sys\nsys.argv = ['ramet', '--help']\nwith suppress(SystemExit): main()") == set()
    )


def test_the_driver_is_the_named_one_else_the_configured_one_else_the_first_installed(install: Install) -> None:
    environ = install("claude", "codex")
    assert selection.resolve("codex", DriverSettings(default="claude"), environ).name == "codex"
    assert selection.resolve(None, DriverSettings(default="codex"), environ).name == "codex"
    assert selection.resolve(None, DriverSettings(), environ).name == "claude"


def test_the_first_that_is_installed_is_taken(install: Install) -> None:
    found = selection.resolve(None, DriverSettings(), install("codex"))
    assert found.driver.name == "codex"
    assert Path(found.program[0]).name == "codex"


def test_an_unknown_driver_is_refused_with_the_names_of_all() -> None:
    settings = DriverSettings(profiles={"fast": ProfileSettings(driver="claude")})
    with pytest.raises(UnknownDriver) as refused:
        selection.resolve("cluade", settings, {"PATH": ""})
    assert all(name in refused.value.message for name in ("cluade", "claude", "codex", "command", "shell", "fast"))


def test_where_nothing_is_installed_the_error_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(DriverMissing) as refused:
        selection.resolve(None, DriverSettings(), {"PATH": str(tmp_path)})
    assert "npm install -g @anthropic-ai/claude-code" in refused.value.fix
    assert "npm install -g @openai/codex" in refused.value.fix
    with pytest.raises(DriverMissing, match=rf"codex is not installed: codex is not in PATH \(/bin, {tmp_path}\)"):
        selection.resolve("codex", DriverSettings(), {"PATH": f"/bin:{tmp_path}"})
    with pytest.raises(DriverMissing) as refused:
        selection.resolve("command", DriverSettings(), {"PATH": str(tmp_path)})
    assert "drivers.profiles" in refused.value.fix


def test_a_profile_is_a_driver_under_another_name(install: Install) -> None:
    fast = ProfileSettings(driver="claude", model="haiku", arguments=["--max-turns", "3"])
    found = selection.resolve("fast", DriverSettings(profiles={"fast": fast}), install("claude"))
    assert (found.name, found.driver.name, found.profile) == ("fast", "claude", fast)


def test_a_profiles_program_goes_before_what_is_in_path(install: Install) -> None:
    profile = ProfileSettings(program=["other", "--quiet"])
    environ = install("claude", "other")
    found = selection.resolve("claude", DriverSettings(profiles={"claude": profile}), environ)
    assert found.program == [os.path.join(environ["PATH"], "other"), "--quiet"]  # noqa: PTH118


@pytest.mark.parametrize("program", ["nowhere", "./agent", "/no/such/agent"])
def test_a_profiles_program_that_is_not_there_is_refused(program: str, install: Install) -> None:
    settings = DriverSettings(profiles={"mine": ProfileSettings(driver="command", program=[program])})
    with pytest.raises(DriverMissing) as refused:
        selection.resolve("mine", settings, install("claude"))
    assert "drivers.profiles.mine.program" in refused.value.fix


def test_what_a_wrapper_runs_may_be_inside_a_container(install: Install) -> None:
    inside = ProfileSettings(driver="claude", program=["claude"], wrapper=["docker", "run", "image"])
    settings = DriverSettings(profiles={"inside": inside})
    assert selection.resolve("inside", settings, install("docker")).program == ["claude"]
    with pytest.raises(DriverMissing) as refused:
        selection.resolve("inside", settings, {"PATH": ""})
    assert refused.value.value == "docker"


def test_a_wrapper_goes_before_the_program_and_learns_the_folder() -> None:
    launch = Launch(arguments=["agent", "-p"], stdin="hi", environment={"A": "1"}, directory="/tree")
    wrapped = selection.wrap(launch, ProfileSettings(wrapper=["box", "--bind={directory}", "--"]))
    assert wrapped.arguments == ["box", "--bind=/tree", "--", "agent", "-p"]
    assert (wrapped.stdin, wrapped.environment, wrapped.directory) == ("hi", {"A": "1"}, "/tree")


def test_a_program_inside_a_python_package_is_found_after_path(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    package = tmp_path / "site" / "codex_cli_bin"
    (package / "bin").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "bin" / "codex").touch(mode=0o755)
    monkeypatch.syspath_prepend(str(package.parent))
    assert selection.resolve("codex", DriverSettings(), {"PATH": ""}).program == [str(package / "bin" / "codex")]
    environ = install("codex")
    assert selection.resolve("codex", DriverSettings(), environ).program == [str(tmp_path / "codex")]


def test_the_list_shows_drivers_and_profiles_with_versions_and_the_default(install: Install) -> None:
    settings = DriverSettings(profiles={"fast": ProfileSettings(driver="codex")})
    rows = {row.name: row for row in selection.installed(settings, install("codex"))}
    assert set(rows) == {*registry.names("driver"), "fast"}
    assert (rows["codex"].version, rows["codex"].is_default, rows["codex"].fix) == ("1.2.3", True, None)
    assert (rows["fast"].driver, rows["fast"].version, rows["fast"].is_default) == ("codex", "1.2.3", False)
    assert (rows["claude"].program, rows["claude"].version) == (None, None)
    assert "claude-code" in (rows["claude"].fix or "")
    assert rows["claude"].abilities.fork
    assert rows["shell"].program == "/bin/sh"


def test_versions_are_only_asked_for_when_wanted(install: Install, tmp_path: Path) -> None:
    environ = install("claude", says=f"touch {tmp_path}/asked")
    selection.installed(DriverSettings(), environ, versions=False)
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("says", ["exit 1", "echo no number", "kill -9 $$", "printf '\\377\\376'"])
def test_a_program_that_does_not_tell_its_version_is_listed_without(says: str, install: Install) -> None:
    rows = {row.name: row for row in selection.installed(DriverSettings(), install("claude", says=says))}
    assert rows["claude"].program is not None
    assert rows["claude"].version is None


def test_a_program_that_never_tells_its_version_is_not_waited_for(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "_VERSION_SECONDS", 0.1)
    environ = install("claude", says="exec /bin/sleep 60")
    assert {row.version for row in selection.installed(DriverSettings(), environ)} == {None}


def test_a_profiles_own_program_is_never_run_to_be_listed(install: Install, tmp_path: Path) -> None:
    environ = install("agent", says=f"touch {tmp_path}/ran")
    settings = DriverSettings(profiles={"mine": ProfileSettings(driver="command", program=["agent"])})
    rows = {row.name: row for row in selection.installed(settings, environ)}
    assert rows["mine"].program == str(tmp_path / "agent")
    assert not (tmp_path / "ran").exists()


def test_a_profile_of_no_driver_is_listed_with_what_is_wrong() -> None:
    settings = DriverSettings(profiles={"odd": ProfileSettings(driver="nothing")}, default="odd")
    rows = {row.name: row for row in selection.installed(settings, {"PATH": ""})}
    assert "no driver 'nothing'" in (rows["odd"].fix or "")
    assert not any(row.is_default for row in rows.values())
