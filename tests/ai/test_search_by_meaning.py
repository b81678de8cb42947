"""A daemon gives stored texts their vectors behind the index, and searches their words whatever becomes of that."""

import time
from typing import Any

import pytest
from tests.ai.conftest import AiHome
from tests.ai.scripted import ScriptedServer

PATIENCE_SECONDS = 60


def upsert(client: Any, text: str) -> None:
    client.call("search.upsert", source_type="doc", source_path="/shop/a.md", chunk_text=text, project_id=1)


@pytest.mark.requirement("R393")
def test_a_daemon_gets_vectors_from_the_endpoint(home: AiHome, scripted: ScriptedServer) -> None:
    home.settings["search"] = {"embeddings": "endpoint"}
    home.serve()
    client = home.connect()
    client.call("db.project.upsert", path="/shop")
    for text in ("the first text", "the second text"):
        upsert(client, text)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while client.call("search.status")["result"]["vectors"] == 0:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    asked = [text for each in scripted.asked for text in each.body["input"]]
    assert sorted(asked) == ["the first text", "the second text"]


@pytest.mark.requirement("R393")
def test_a_daemon_without_its_model_searches_words_and_logs_why(home: AiHome) -> None:
    home.settings["search"] = {"embeddings": "directory", "model_directory": str(home.path / "nothing")}
    home.serve()
    client = home.connect()
    client.call("db.project.upsert", path="/shop")
    upsert(client, "vouchers are capped")
    found = client.call("search.query", query="voucher", source_type="doc", project_id=1)["result"]["items"]
    assert [hit["source_path"] for hit in found] == ["/shop/a.md"]
    assert "search by meaning is off" in home.log_file.read_text()
