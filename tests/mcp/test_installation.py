"""Entries in other programs' files: put in, brought up to date, taken out again to the last byte."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.errors import ConfigError
from ramet.installer.changes import Change, apply
from ramet.mcp import installation
from ramet.vendors.tool_registry import LIMIT_SECONDS, VENDORS

FILES = {
    "claude": ".mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
}


def install(name: str, project: Path, command: str = "ramet") -> Change:
    change = installation.plan_install(name, project, command)
    apply(change)
    return change


def remove(name: str, project: Path) -> Change:
    change = installation.plan_remove(name, project)
    apply(change)
    return change


def write(project: Path, name: str, text: str) -> Path:
    file = project / FILES[name]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
    return file


def servers(name: str, text: str) -> dict[str, Any]:
    parsed = tomllib.loads(text) if name == "codex" else json.loads(text)
    found: dict[str, Any] = parsed[VENDORS[name].table]
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_made_where_there_is_none_and_goes_again(name: str, tmp_path: Path) -> None:
    install(name, tmp_path)
    entry = servers(name, (tmp_path / FILES[name]).read_text())["ramet"]
    assert "ramet" in json.dumps(entry["command"])
    remove(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "field", "limit"),
    [
        ("claude", "timeout", LIMIT_SECONDS * 1000),
        ("codex", "tool_timeout_sec", LIMIT_SECONDS),
        ("gemini", "timeout", LIMIT_SECONDS * 1000),
        ("opencode", "timeout", LIMIT_SECONDS * 1000),
    ],
)
def test_a_programs_time_limit_is_raised_above_our_own(name: str, field: str, limit: int, tmp_path: Path) -> None:
    install(name, tmp_path)
    entry = servers(name, (tmp_path / FILES[name]).read_text())["ramet"]
    assert entry[field] == limit
    own = (entry.get("env") or entry["environment"]).get("RAMET_TOOL_SECONDS", "50")
    assert int(own) < LIMIT_SECONDS


@pytest.mark.parametrize("name", FILES)
def test_no_file_says_a_token(name: str, tmp_path: Path) -> None:
    text = install(name, tmp_path).after or ""
    assert "RAMET_TOKEN" in text
    assert "s7." not in text


@pytest.mark.parametrize("name", FILES)
def test_installing_twice_changes_nothing_the_second_time(name: str, tmp_path: Path) -> None:
    first, second = install(name, tmp_path), install(name, tmp_path)
    assert (first.state, second.state, second.diff) == ("absent", "installed", "")


@pytest.mark.parametrize("name", FILES)
def test_an_entry_of_an_older_installation_is_brought_up_to_date(name: str, tmp_path: Path) -> None:
    install(name, tmp_path, "/old/ramet")
    assert install(name, tmp_path).state == "outdated"
    assert "/old/ramet" not in (tmp_path / FILES[name]).read_text()
    remove(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


JSON_TEXTS = [
    "{}",
    "{ }\n",
    '{"mcpServers": {}}',
    '{"mcpServers":{"other":{"command":"x"}}}',
    '{\n  "mcpServers": {\n    "other": {"command": "x", "args": ["a", "}"]}\n  },\n  "theme": "dark"\n}\n',
    '{\r\n\t"theme": "{\\"mcpServers\\": 1}",\r\n\t"mcpServers": {\r\n\t\t"other": {}\r\n\t}\r\n}',
    '\ufeff{"a": [1, {"mcpServers": 2}], "b": null}\n\n',
]


@pytest.mark.parametrize("text", JSON_TEXTS)
@pytest.mark.parametrize("name", ["claude", "gemini", "opencode"])
def test_other_entries_stay_and_the_file_is_restored_to_the_last_byte(name: str, text: str, tmp_path: Path) -> None:
    text = text.replace("mcpServers", VENDORS[name].table)
    file = write(tmp_path, name, text)
    file.chmod(0o600)
    install(name, tmp_path)
    installed = json.loads(file.read_bytes().decode().removeprefix("\ufeff"))
    assert "ramet" in installed[VENDORS[name].table]
    before = json.loads(text.removeprefix("\ufeff"))
    del installed[VENDORS[name].table]["ramet"]
    assert {**before, VENDORS[name].table: before.get(VENDORS[name].table, {})} == installed
    remove(name, tmp_path)
    assert file.read_bytes() == text.encode()
    assert file.stat().st_mode & 0o777 == 0o600


def test_comments_and_trailing_commas_stay_where_a_program_allows_them(tmp_path: Path) -> None:
    text = '// mine\n{\n  /* "mcp": {} */ "mcp": {\n    "other": {"type": "local",}, // "ramet"\n  },\n}\n'
    file = tmp_path / "opencode.jsonc"
    file.write_text(text)
    install("opencode", tmp_path)
    assert '// "ramet"' in file.read_text()
    assert install("opencode", tmp_path).state == "installed"
    remove("opencode", tmp_path)
    assert file.read_text() == text
    assert not (tmp_path / "opencode.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "x"',
        'model = "x"\n\n[mcp_servers.other]\ncommand = "y" # mine\n',
        "# only a comment\r\n",
        '[[projects]]\nname = """\n# <<< ramet mcp install\n"""\n',
    ],
)
def test_codexs_file_is_restored_to_the_last_byte(text: str, tmp_path: Path) -> None:
    file = write(tmp_path, "codex", text)
    install("codex", tmp_path)
    installed = tomllib.loads(file.read_bytes().decode())
    assert installed["mcp_servers"].pop("ramet")["command"] == "ramet"
    assert {**tomllib.loads(text), "mcp_servers": tomllib.loads(text).get("mcp_servers", {})} == installed
    remove("codex", tmp_path)
    assert file.read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude", '{"mcpServers": {"ramet": {"command": "mine"}}}'),
        ("codex", '[mcp_servers.ramet]\ncommand = "mine"\n'),
        ("opencode", '{"mcp": {"ramet": {"type": "local", "command": ["mine"]}}}'),
    ],
)
def test_an_entry_of_our_name_that_is_not_ours_is_left_alone(name: str, text: str, tmp_path: Path) -> None:
    file = write(tmp_path, name, text)
    assert install(name, tmp_path).state == remove(name, tmp_path).state == "foreign"
    assert file.read_text() == text


def test_what_was_added_around_our_entry_stays_when_it_goes(tmp_path: Path) -> None:
    install("claude", tmp_path)
    file = tmp_path / ".mcp.json"
    said = json.loads(file.read_text())
    said["mcpServers"] = {"first": {}, **said["mcpServers"], "last": {}}
    file.write_text(json.dumps(said, indent=4))
    remove("claude", tmp_path)
    assert json.loads(file.read_text()) == {"mcpServers": {"first": {}, "last": {}}}


def test_what_was_added_around_our_block_stays_when_it_goes(tmp_path: Path) -> None:
    install("codex", tmp_path)
    file = tmp_path / ".codex/config.toml"
    file.write_text('model = "x"\n' + file.read_text() + "[tui]\n")
    remove("codex", tmp_path)
    assert file.read_text() == 'model = "x"\n[tui]\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("claude", ""),
        ("claude", "{nonsense"),
        ("claude", "[]"),
        ("claude", '{"mcpServers": []}'),
        ("claude", '{"mcpServers": {}, "mcpServers": {}}'),
        ("codex", "nonsense"),
        ("codex", 'mcp_servers = { other = { command = "x" } }'),
    ],
)
def test_a_file_that_cannot_be_understood_is_named_and_not_touched(name: str, text: str, tmp_path: Path) -> None:
    file = write(tmp_path, name, text)
    with pytest.raises(ConfigError):
        install(name, tmp_path)
    assert file.read_text() == text


def test_a_link_to_a_file_elsewhere_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / ".mcp.json").symlink_to("real.json")
    install("claude", tmp_path)
    assert (tmp_path / ".mcp.json").is_symlink()
    assert "ramet" in (tmp_path / "real.json").read_text()


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    rest=st.dictionaries(st.text().filter(lambda key: key != "mcpServers"), _VALUES, max_size=3),
    others=st.none() | st.dictionaries(st.text().filter(lambda key: key != "ramet"), _VALUES, max_size=3),
    indent=st.sampled_from([None, 0, 2, 4, "\t"]),
    is_ascii=st.booleans(),
)
def test_any_json_file_is_restored(
    rest: dict[str, Any], others: dict[str, Any] | None, indent: int | str | None, is_ascii: bool
) -> None:
    document = rest if others is None else {**rest, "mcpServers": others}
    text = json.dumps(document, indent=indent, ensure_ascii=is_ascii)
    vendor = VENDORS["claude"]
    installed = installation._install(vendor, text, "ramet")
    assert json.loads(installed)["mcpServers"]["ramet"]["command"] == "ramet"
    assert installation._remove(vendor, installed) == text
