"""`ramet import PATH` of databases and files of earlier systems, through the real command line and the real daemon."""

import json
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine
from tests.predecessors import sources


@pytest.mark.requirement("R294", "R295", "R384")
def test_databases_and_files_of_earlier_systems_are_imported_once(shop: CommandLine) -> None:
    sources.make_gza(shop.cwd / ".gza" / "gza.db", 3)
    sources.make_aurora(shop.cwd / ".aurora" / "checkpoints" / "c.json")
    sources.make_workrail(shop.cwd / "logs" / "a", sources.workrail_events("sess_child", parent="sess_root"))
    sources.make_workrail(shop.cwd / "logs" / "b", sources.workrail_events("sess_root"))
    printed = shop.ok("import", ".gza/gza.db", ".aurora")
    assert "added: 1 project, 2 tasks, 4 efforts, 3 sessions" in printed
    assert "added: 1 task, 1 run, 5 efforts" in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert "sessions" not in shop.ok("import", "logs", "--dry-run").split("nothing was written")[1]
    first = shop.json("import", "logs")["imported"]
    assert [(each["source"], each["new"], each["known"]) for each in first] == [
        ("sess_root", 13, 0),
        ("sess_child", 13, 0),
    ]
    again = shop.json("import", "logs")["imported"]
    assert [(each["new"], each["known"], each["added"]) for each in again] == [(0, 13, {}), (0, 13, {})]
    assert {*again[0]} == {
        *("system", "source", "version", "path", "rows", "new", "known", "changed", "kept", "tables", "added"),
    }
    assert shop.json("queue", "-A")["items"] == []
    child = shop.json("session", "show", "workrail:sess_child")
    assert child["parent_session_id"] == shop.json("session", "show", "workrail:sess_root")["id"]


@pytest.mark.requirement("R384")
def test_a_refused_source_and_a_dry_run_write_nothing(shop: CommandLine) -> None:
    path = sources.make_gza(shop.cwd / "gza.db", 5, said=65)
    refused = shop("import", "gza.db")
    assert refused.returncode == 2
    assert f"{path}: schema version 65 of gza is not known" in refused.stderr
    assert "fix: import a database of the schema versions 1 to 5" in refused.stderr
    assert shop.json("project", "list")["items"] == []
    as_json = shop("import", "gza.db", "--json")
    assert json.loads(as_json.stderr or as_json.stdout)["error"]["code"] == "import_source_invalid"
    sources.make_tract(shop.cwd / "tract.db")
    before = Path(shop.cwd / "tract.db").read_bytes()
    found = shop.json("import", "tract.db", "--dry-run")
    (source,) = found["found"]
    assert (source["system"], source["version"], source["rows"]) == ("tract", "4", 36)
    assert (source["tables"]["commits"], source["tables"]["spawn_pointers"]) == (11, 1)
    assert shop.json("history", "branch", "list")["items"] == []
    assert Path(shop.cwd / "tract.db").read_bytes() == before
