"""Every vendor's files and hosts, as a sandbox gets them."""

from pathlib import Path

import pytest

from ramet.config.settings import ProfileSettings
from ramet.sandbox import host_rules
from ramet.vendors import registry
from ramet.vendors.contract.vendor_state import State, host_of

STATES = [state for name in registry.names("state") if (state := registry.find_state(name))]
DIRECTORY = "/home/ann/.local/share/ramet/worktrees/shop-1a2b3c4d/e1"
OTHER = "/home/ann/.local/share/ramet/worktrees/shop-1a2b3c4d/e2"

each_state = pytest.mark.parametrize("state", STATES, ids=[state.name for state in STATES])


def test_every_vendor_whose_program_keeps_sessions_declares_its_files() -> None:
    resuming = {name for name in registry.names("driver") if registry.find_driver(name).abilities.resume}
    assert resuming == {state.name for state in STATES}


@each_state
def test_a_file_is_named_by_itself_and_stays_in_the_programs_folder(state: State) -> None:
    for file in state.files:
        assert file.name
        assert not Path(file.name).is_absolute()
        assert ".." not in Path(file.name).parts


@each_state
def test_only_credentials_are_writable_because_programs_refresh_them(state: State) -> None:
    assert any(file.holds_credentials for file in state.files)
    assert [file.name for file in state.files if file.is_writable] == [
        file.name for file in state.files if file.holds_credentials
    ]


@each_state
def test_sessions_of_other_directories_are_somewhere_else(state: State, tmp_path: Path) -> None:
    ours, others = (state.find_sessions(tmp_path, directory, None).source for directory in (DIRECTORY, OTHER))
    assert not Path(ours).is_relative_to(others)
    assert not Path(others).is_relative_to(ours)
    named = [Path(file.name) for file in state.files]
    assert not any(Path(others).is_relative_to(name) for name in named)


@each_state
def test_the_folder_is_the_one_that_the_environment_names(state: State) -> None:
    assert state.place({"HOME": "/home/ann"}) == Path("/home/ann", state.folder)
    assert state.place({"HOME": "/home/ann", state.folder_variable: "/data/agent"}) == Path("/data/agent")


@each_state
def test_its_models_are_at_hosts_that_the_proxy_can_allow(state: State) -> None:
    variables = dict.fromkeys(state.address_variables, "http://127.0.0.1:8080/v1")
    hosts = state.model_hosts({"HOME": "/nowhere", **variables})
    assert set(state.hosts) < set(hosts)
    assert hosts[-1] == "127.0.0.1:8080"
    assert all(host_rules.parse(host) for host in hosts)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://models.example/v1", "models.example"),
        ("http://models.example:8080", "models.example:8080"),
        ("http://[::1]:11434/", "[::1]:11434"),
        ("http://user:key@models.example/", "models.example"),
        ("models.example", None),
        ("http://models.example:port", None),
        ("", None),
    ],
)
def test_the_host_of_an_address(address: str, host: str | None) -> None:
    assert host_of(address) == host


def test_a_model_provider_in_the_users_configuration_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[model_providers.own]\nbase_url = "http://models.example:8080/v1"\n')
    state = registry.find_state("codex")
    assert state is not None
    assert "models.example:8080" in state.model_hosts({"CODEX_HOME": str(tmp_path)})


@pytest.mark.parametrize("text", ["", "not toml [", "model_providers = 3\n", "[model_providers.x]\nbase_url = 3\n"])
def test_a_configuration_that_says_nothing_allows_nothing_more(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    state = registry.find_state("codex")
    assert state is not None
    assert state.model_hosts({"CODEX_HOME": str(tmp_path)}) == list(state.hosts)


def test_a_session_that_was_started_outside_is_found_by_its_id(tmp_path: Path) -> None:
    native_id = "01a1e2e0-d439-7570-bafd-f1dcb91a4dde"
    name = f"2026/11/16/rollout-2026-11-16T05-42-27-{native_id}.jsonl"
    file = tmp_path / "sessions" / name
    file.parent.mkdir(parents=True)
    file.touch()
    state = registry.find_state("codex")
    assert state is not None
    assert state.find_sessions(tmp_path, DIRECTORY, native_id).files == (name,)
    assert state.find_sessions(tmp_path, DIRECTORY, "../../*").files == ()
    assert state.find_sessions(tmp_path, DIRECTORY, None).files == ()
    own = tmp_path / state.find_sessions(tmp_path, DIRECTORY, None).source / name
    own.parent.mkdir(parents=True)
    own.touch()
    assert state.find_sessions(tmp_path, DIRECTORY, native_id).files == ()


@pytest.mark.parametrize(
    ("mode", "is_possible"), [(None, True), ("danger-full-access", True), ("workspace-write", False)]
)
def test_a_program_that_needs_a_sandbox_of_its_own_does_not_run_in_another(mode: str | None, is_possible: bool) -> None:
    state = registry.find_state("codex")
    assert state is not None
    conflict = state.find_conflict(ProfileSettings(permission_mode=mode, sandbox="strict"))
    assert (conflict is None) == is_possible


@pytest.mark.parametrize(
    ("directory", "name"),
    [
        ("/tmp/x/tree", "-tmp-x-tree"),
        ("/home/ann/.local/share", "-home-ann--local-share"),
        ("/" + "a" * 199, "-" + "a" * 199),
    ],
)
def test_a_directory_has_one_folder_of_sessions(directory: str, name: str, tmp_path: Path) -> None:
    state = registry.find_state("claude")
    assert state is not None
    assert state.find_sessions(tmp_path, directory, None).path == f"projects/{name}"
