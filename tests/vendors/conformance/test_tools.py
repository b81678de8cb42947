"""Every vendor's entry for our MCP server: put in, brought up to date, taken out again to the last byte."""

import json
from pathlib import Path

import pytest
from tests.vendors.fixtures import files_of
from tests.vendors.tool_files import file_of, install, parse, remove, servers, write

from ramet.errors import ConfigError
from ramet.vendors import registry
from ramet.vendors.contract.tool_settings import LIMIT_SECONDS, TomlTools

TABLE = "mcpServers"
"""Stands for the vendor's own in the texts below."""
JSON_TEXTS = [
    "{}",
    "{ }\n",
    '{"mcpServers": {}}',
    '{"mcpServers":{"other":{"command":"x"}}}',
    '{\n  "mcpServers": {\n    "other": {"command": "x", "args": ["a", "}"]}\n  },\n  "theme": "dark"\n}\n',
    '{\r\n\t"theme": "{\\"mcpServers\\": 1}",\r\n\t"mcpServers": {\r\n\t\t"other": {}\r\n\t}\r\n}',
    '\ufeff{"a": [1, {"mcpServers": 2}], "b": null}\n\n',
]
TOML_TEXTS = [
    "",
    'model = "x"',
    'model = "x"\n\n[mcpServers.other]\ncommand = "y" # mine\n',
    "# only a comment\r\n",
    '[[projects]]\nname = """\n# <<< ramet mcp install\n"""\n',
]
UNREADABLE = ["{nonsense", "[] x", "= 1"]


def texts_of(name: str) -> list[str]:
    """Files that people may have, in the form of one vendor."""
    tools = registry.tools()[name]
    texts = TOML_TEXTS if isinstance(tools, TomlTools) else JSON_TEXTS
    return [text.replace(TABLE, tools.table) for text in texts]


each_vendor = pytest.mark.parametrize("name", registry.names("tools"))
each_text = pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name in registry.names("tools") for text in texts_of(name)]
)


@pytest.mark.requirement("R321")
@each_vendor
def test_the_file_that_is_made_is_the_recorded_one(name: str, tmp_path: Path) -> None:
    install(name, tmp_path)
    (recorded,) = files_of(name, "tools")
    made = file_of(name, tmp_path)
    assert recorded.name == made.name.removeprefix(".")
    assert made.read_bytes() == recorded.read_bytes()


@each_vendor
def test_a_file_is_made_where_there_is_none_and_goes_again(name: str, tmp_path: Path) -> None:
    install(name, tmp_path)
    entry = servers(name, file_of(name, tmp_path).read_text())["ramet"]
    assert "ramet" in json.dumps(entry["command"])
    remove(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@each_vendor
def test_a_programs_time_limit_is_raised_above_our_own(name: str, tmp_path: Path) -> None:
    install(name, tmp_path)
    entry = servers(name, file_of(name, tmp_path).read_text())["ramet"]
    assert (entry.get("tool_timeout_sec"), entry.get("timeout")) in [
        (LIMIT_SECONDS, None),
        (None, LIMIT_SECONDS * 1000),
    ]
    own = (entry.get("env") or entry["environment"]).get("RAMET_TOOL_SECONDS", "50")
    assert int(own) < LIMIT_SECONDS


@each_vendor
def test_no_file_says_a_token(name: str, tmp_path: Path) -> None:
    text = install(name, tmp_path).after or ""
    assert "RAMET_TOKEN" in text
    assert "s7." not in text


@each_vendor
def test_installing_twice_changes_nothing_the_second_time(name: str, tmp_path: Path) -> None:
    first, second = install(name, tmp_path), install(name, tmp_path)
    assert (first.state, second.state, second.diff) == ("absent", "installed", "")


@each_vendor
def test_an_entry_of_an_older_installation_is_brought_up_to_date(name: str, tmp_path: Path) -> None:
    install(name, tmp_path, "/old/ramet")
    assert install(name, tmp_path).state == "outdated"
    assert "/old/ramet" not in file_of(name, tmp_path).read_text()
    remove(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@each_text
def test_other_entries_stay_and_the_file_is_restored_to_the_last_byte(name: str, text: str, tmp_path: Path) -> None:
    file, table = write(tmp_path, name, text), registry.tools()[name].table
    file.chmod(0o600)
    install(name, tmp_path)
    installed, before = parse(name, file.read_bytes().decode()), parse(name, text)
    assert "ramet" in json.dumps(installed[table].pop("ramet")["command"])
    assert installed == {**before, table: before.get(table, {})}
    remove(name, tmp_path)
    assert file.read_bytes() == text.encode()
    assert file.stat().st_mode & 0o777 == 0o600


@each_vendor
def test_an_entry_of_our_name_that_is_not_ours_is_left_alone(name: str, tmp_path: Path) -> None:
    tools = registry.tools()[name]
    is_toml = isinstance(tools, TomlTools)
    text = f'[{tools.table}.ramet]\ncommand = "mine"\n' if is_toml else f'{{"{tools.table}": {{"ramet": {{}}}}}}'
    file = write(tmp_path, name, text)
    assert install(name, tmp_path).state == remove(name, tmp_path).state == "foreign"
    assert file.read_text() == text


@pytest.mark.parametrize("text", UNREADABLE)
@each_vendor
def test_a_file_that_cannot_be_understood_is_named_and_not_touched(name: str, text: str, tmp_path: Path) -> None:
    file = write(tmp_path, name, text)
    with pytest.raises(ConfigError, match=f"^{file}: "):
        install(name, tmp_path)
    assert file.read_text() == text
