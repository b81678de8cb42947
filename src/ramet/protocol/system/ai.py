"""Requests and replies of `ai.*`: prompts to models, and their answers."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import ModelFailed, ModelMissing
from ramet.protocol.fields import Content
from ramet.protocol.operation import Change, Operation

ModelName = Annotated[str, Meta(min_length=3, max_length=200, pattern=r"^[^\s:]+:\S+$")]
"""A provider and a model's name, such as `openai:gpt-5`."""

FinishReason = Literal["stop", "length", "content_filter", "tool_call", "error"]


class Usage(Struct, frozen=True, kw_only=True):
    """How many tokens a model reports as read and written."""

    input_tokens: int
    output_tokens: int


class Embedded(Struct, frozen=True, kw_only=True):
    """One vector per text, in the order of the texts."""

    model: str
    dimension: int
    vectors: list[list[float]]
    usage: Usage


class Embed(Change[Embedded], frozen=True, kw_only=True):
    """Compute a vector for each text with a model (default: `ai.embed_model`)."""

    op = Operation("ai.embed", errors=(ModelMissing, ModelFailed))

    texts: Annotated[list[Annotated[Content, Meta(min_length=1)]], Meta(min_length=1, max_length=2048)]
    model: ModelName | None = None

    def needs_model(self) -> bool:
        return True


class Generated(Struct, frozen=True, kw_only=True):
    """A text that a model generated."""

    text: str
    model: str
    usage: Usage
    finish_reason: FinishReason | None


class Generate(Change[Generated], frozen=True, kw_only=True):
    """Generate a text with a model (default: `ai.model`). An event records the usage, but not the prompt."""

    op = Operation("ai.generate", errors=(ModelMissing, ModelFailed))

    prompt: Annotated[Content, Meta(min_length=1)]
    system: Content | None = None
    model: ModelName | None = None
    max_tokens: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    timeout_seconds: Annotated[float, Meta(gt=0, le=3600)] | None = None

    def needs_model(self) -> bool:
        return True


Question = Generate | Embed
Answer = Generated | Embedded
