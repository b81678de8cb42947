"""The requests and replies of `ai.*`, and the changes for which a model is asked first."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet import errors
from ramet.protocol.history import Collapse, Compress
from ramet.protocol.operation import Operation
from ramet.protocol.requests import Change, Content, Request

ModelName = Annotated[str, Meta(min_length=3, max_length=200, pattern=r"^[^\s:]+:\S+$")]
"""A provider and its model's name, as `openai:gpt-5`."""
FinishReason = Literal["stop", "length", "content_filter", "tool_call", "error"]


class Generate(Change, frozen=True, kw_only=True):
    prompt: Annotated[Content, Meta(min_length=1)]
    system: Content | None = None
    model: ModelName | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    timeout_seconds: Annotated[float, Meta(gt=0, le=3600)] | None = None


class Embed(Change, frozen=True, kw_only=True):
    texts: Annotated[list[Annotated[Content, Meta(min_length=1)]], Meta(min_length=1, max_length=2048)]
    model: ModelName | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """What a model says that it read and wrote."""

    input_tokens: int
    output_tokens: int


class Generated(Struct, frozen=True, kw_only=True):
    """What a model wrote."""

    text: str
    model: str
    usage: Usage
    finish_reason: FinishReason | None


class Embedded(Struct, frozen=True, kw_only=True):
    """A vector for each text, in their order."""

    model: str
    dimension: int
    vectors: list[list[float]]
    usage: Usage


Question = Generate | Embed
Answer = Generated | Embedded

AI_OPERATIONS = (
    Operation(
        name="ai.generate",
        purpose="Let a model write. What it used is recorded as an event, what it was asked is not.",
        request=Generate,
        reply=Generated,
        errors=(errors.ModelMissing, errors.ModelFailed),
    ),
    Operation(
        name="ai.embed",
        purpose="A vector for each text, from the model that ai.embed_model names.",
        request=Embed,
        reply=Embedded,
        errors=(errors.ModelMissing, errors.ModelFailed),
    ),
)


def needs_model(request: Request) -> bool:
    """Whether a model has to be asked before the request can be done."""
    match request:
        case Generate() | Embed():
            return True
        case Compress():
            return request.method == "model" and request.text is None
        case Collapse():
            return request.method == "model" and request.text is None and request.report is None
        case _:
            return False
