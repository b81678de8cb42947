"""A scripted model server, and a daemon that is configured to ask it."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ai.scripted import ScriptedServer
from tests.daemon.process import Home

KEY = "test-key-4711-abcdefgh"
KEY_VARIABLE = "SCRIPTED_MODEL_KEY"


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


class AiHome(Home):
    """A home whose configuration names a model."""

    settings: dict[str, dict[str, Any]]

    def start_line(self, daemon: dict[str, Any]) -> dict[str, Any]:
        line = super().start_line(daemon)
        line["settings"] |= self.settings
        return line


@pytest.fixture
def home(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[AiHome]:
    """Somewhere for a real daemon that asks the scripted server; its processes end with the test."""
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    folder = Path(tempfile.mkdtemp(prefix="ramet-"))
    home = AiHome(folder)
    home.settings = {
        "ai": {
            "model": "openai:scripted-1",
            "embed_model": "openai:scripted-embed",
            "base_url": scripted.openai_url,
            "api_key_env": KEY_VARIABLE,
            "timeout_seconds": 10,
            "retries": 2,
        }
    }
    yield home
    home.close()
    shutil.rmtree(folder, ignore_errors=True)
