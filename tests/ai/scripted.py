"""A model server on loopback that says what a test tells it to: OpenAI's chat and embeddings, Anthropic's messages.

Without a script it answers every question. A step of the script takes the place of one answer: a status, a body that
is not what it should be, or silence.
"""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

PATIENCE_SECONDS = 20

INPUT_TOKENS = 31
OUTPUT_TOKENS = 7
DIMENSION = 4


class Step(NamedTuple):
    """What is answered instead."""

    status: int = 200
    body: bytes | None = None
    """None for what the provider would say."""
    retry_after: str | None = None
    is_silent: bool = False
    """Whether nothing is said until the server ends or is told to go on."""


class Asked(NamedTuple):
    """A request as it came."""

    path: str
    key: str
    body: dict[str, Any]


class ScriptedServer:
    """The server in its threads."""

    def __init__(self, text: str = "a short summary", finish: str = "stop") -> None:
        self.text = text
        self.finish = finish
        self.asked: list[Asked] = []
        self.steps: deque[Step] = deque()
        self.go_on = threading.Event()
        self._came = threading.Condition()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.script = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where it is, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.address}/v1"

    def then(self, *steps: Step) -> None:
        """Script what is answered next."""
        self.steps.extend(steps)

    def wait_asked(self, count: int) -> None:
        """Wait until so many requests have come."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.asked) >= count, PATIENCE_SECONDS)

    def take(self, asked: Asked) -> Step:
        """Note a request; what to do with it."""
        with self._came:
            self.asked.append(asked)
            self._came.notify_all()
            return self.steps.popleft() if self.steps else Step()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.go_on.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(PATIENCE_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_POST(self) -> None:
        script: ScriptedServer = self.server.script  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        step = script.take(Asked(self.path, key, body))
        if step.is_silent:
            script.go_on.wait(PATIENCE_SECONDS)
        if step.body is not None:
            answer = step.body
        elif step.status != 200:
            answer = json.dumps(_error(self.path, step.status, key)).encode()
        else:
            answer = json.dumps(_answer(self.path, body, script)).encode()
        self._send(step, answer)

    def _send(self, step: Step, answer: bytes) -> None:
        try:
            self.send_response(step.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            if step.retry_after is not None:
                self.send_header("retry-after", step.retry_after)
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            self.close_connection = True  # whoever asked has gone


def _answer(path: str, body: dict[str, Any], script: ScriptedServer) -> dict[str, Any]:
    if path.endswith("/chat/completions"):
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": script.text},
                    "finish_reason": script.finish,
                }
            ],
            "usage": {
                "prompt_tokens": INPUT_TOKENS,
                "completion_tokens": OUTPUT_TOKENS,
                "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
            },
        }
    if path.endswith("/embeddings"):
        vectors = [{"object": "embedding", "index": i, "embedding": [float(i)] * 4} for i in range(len(body["input"]))]
        usage = {"prompt_tokens": INPUT_TOKENS, "total_tokens": INPUT_TOKENS}
        return {"object": "list", "model": body["model"], "data": vectors, "usage": usage}
    assert path.endswith("/messages"), path
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": script.text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
    }


def _error(path: str, status: int, key: str) -> dict[str, Any]:
    """As the providers word it; a wrong key they repeat in full here, to see that nobody passes it on."""
    message = f"Incorrect API key provided: {key}" if status == 401 else "scripted"
    if path.endswith("/messages"):
        return {"type": "error", "error": {"type": "api_error", "message": message}}
    return {"error": {"message": message, "type": "server_error", "param": None, "code": None}}
