"""Requests and replies about the names of things, for shells that complete them."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.protocol.fields import Text
from ramet.protocol.operation import Operation, Request
from ramet.protocol.replies import Page

Kind = Literal["effort", "session", "run", "branch"]


class NameRow(Struct, frozen=True, kw_only=True):
    """What a person types, and what it names."""

    name: str
    state: str
    title: str
    """The first line of the prompt or of the title; empty for a branch."""


class ListNames(Request[Page[NameRow]], frozen=True, kw_only=True):
    """List the names of efforts, sessions, runs and branches that start with a prefix, newest first."""

    op = Operation("names.list", is_long=True)

    kinds: Annotated[list[Kind], Meta(min_length=1, max_length=4)]
    prefix: Text = ""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 50
    """At most this many of each kind."""
