"""Entries in other programs' files, in forms that are one vendor's own. `tests/vendors/conformance` has the rest."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vendors.tool_files import install, remove, write

from ramet.errors import ConfigError
from ramet.vendors.claude.tools import TOOLS


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
    installed = TOOLS.install(text, "ramet")
    assert json.loads(installed)["mcpServers"]["ramet"]["command"] == "ramet"
    assert TOOLS.remove(installed) == text


def test_a_table_that_the_program_writes_before_the_end_of_our_block_is_not_ours(tmp_path: Path) -> None:
    install("codex", tmp_path)
    file = tmp_path / ".codex/config.toml"
    *ours, end = file.read_text().splitlines(keepends=True)
    theirs = '\n[projects."/p"]\ntrust_level = "trusted"\n\n[[rules]]\na = 1\n'
    file.write_text("".join(ours) + theirs + end)
    assert install("codex", tmp_path).state == "installed"
    remove("codex", tmp_path)
    assert file.read_text().strip() == theirs.strip()
