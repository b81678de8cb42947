"""`ramet redact`: what was stored while redaction was off is found, removed, and in no file afterwards."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.command_line import CommandLine
from tests.model.redaction.planted import Maker

from ramet.store.database.blobs import Codec

TOKEN = Maker(342).expand("glpat-{b20}")


def files_with(home: Path, text: str) -> list[str]:
    """The files below the home that have a text anywhere in their bytes, and the blobs that have it unpacked."""
    found = [str(path) for path in home.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
    for database in [home / "ramet.db", *(home / "backups").glob("*.db")]:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as db:
            blobs = db.execute("SELECT codec, size, data FROM blobs").fetchall()
        if any(text.encode() in Codec().unpack(*blob) for blob in blobs):
            found.append(f"a blob of {database}")
    return found


def store_secrets(shop: CommandLine, home: Path) -> None:
    """Ways in which a secret came into the home before there was a rule."""
    shop.configure({"redaction": {"enabled": False}})
    long = f"use {TOKEN} " + "and so on " * 50
    shop.ok("history", "commit", "main", long)
    shop.ok("history", "commit", f"fix-{TOKEN}", "short")
    shop("add", f"echo {TOKEN}; echo {TOKEN} >&2", "--driver", "shell", "--skill", "plan")
    shop("work", "--once")
    shop("db", "backup")
    shop("history", "commit", "main", "behind the backup")
    shop("daemon", "stop")
    ramet = home / "ramet"
    old = ramet / "keepers" / "ramet" / "lost0001"
    old.mkdir(parents=True)
    (old / "spool.jsonl").write_text(json.dumps({"seq": 1, "event": {"kind": "text", "text": f"a\n{TOKEN}"}}) + "\n")
    with (ramet / "logs" / "ramet.log").open("a") as log:
        log.write(f"2026-01-05T08:00:00Z INFO {TOKEN}\n")
    shop.configure({})


@pytest.mark.requirement("R342")
def test_a_rescan_finds_and_a_purge_removes_what_was_stored_before(shop: CommandLine, home: Path) -> None:
    store_secrets(shop, home)
    before = shop.json("history", "log", "main")["items"]
    assert len(files_with(home / "ramet", TOKEN)) >= 4
    assert len(list(shop.cwd.rglob(".ramet/*/*.md"))) == 1
    looked = shop("redact", "--rescan")
    assert looked.returncode == 1
    assert "gitlab" in looked.stdout
    assert TOKEN not in looked.stdout + looked.stderr
    refused = shop("redact", "--rescan", "--purge")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert files_with(home / "ramet", TOKEN)
    done = shop("redact", "--rescan", "--purge", "--yes", "--reason", "it leaked", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["left"] == []
    shop("daemon", "stop")
    assert files_with(home / "ramet", TOKEN) == []
    assert [path for path in shop.cwd.rglob(".ramet/*/*.md") if TOKEN in path.read_text()] == []
    assert "no stored secrets were found" in shop.ok("redact", "--rescan")
    after = shop.json("history", "log", "main")["items"]
    assert [item["hash"] for item in after] == [item["hash"] for item in before]
    assert "[purged]" in shop("history", "compile", "main").stdout
    assert "[purged]" in shop("show", after[-1]["hash"]).stdout
    assert json.loads(shop("db", "check", "--json").stdout)["counts"]["purged"] >= 1
    query = "select purged_by, reason from tombstones limit 1"
    assert shop.json("query", query)["rows"][0][1] == "it leaked"


def test_a_file_elsewhere_is_searched_and_purged_if_it_is_named(shop: CommandLine, home: Path) -> None:
    file = home / "elsewhere.txt"
    file.write_text(f"a {TOKEN}\n")
    looked = shop("redact", "--rescan", "--file", str(file), "--json")
    assert [each["path"] for each in json.loads(looked.stdout)["files"]] == [str(file)]
    shop("redact", "--rescan", "--purge", "--yes", "--file", str(file))
    assert TOKEN not in file.read_text()
    assert file.read_text().startswith("a [REDACTED:gitlab:")


def test_redact_without_rescan_says_what_to_give(shop: CommandLine) -> None:
    done = shop("redact")
    assert (done.returncode, "--rescan" in done.stderr) == (2, True)
