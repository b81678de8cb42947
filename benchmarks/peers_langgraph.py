"""LangGraph with its SqliteSaver: a graph of one node, invoked once for each turn of the user.

An invocation takes in what the user says and adds what the assistant answers: two turns. The saver is used as it comes
(WAL, every checkpoint flushed); `delta` keeps the messages in a DeltaChannel, which stores what changed.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import _messages_delta_reducer, add_messages
from typing_extensions import TypedDict

from benchmarks.contenders import Append


class Whole(TypedDict):
    """The state as the tutorials have it."""

    messages: Annotated[list[AnyMessage], add_messages]


class Delta(TypedDict):
    """The state whose checkpoints hold what changed; a full one every 100 changes, as it comes."""

    messages: Annotated[list[AnyMessage], DeltaChannel(_messages_delta_reducer)]


@contextmanager
def default(folder: Path) -> Iterator[Append]:
    """Every checkpoint holds all messages."""
    with _graph(folder, Whole) as append:
        yield append


@contextmanager
def delta(folder: Path) -> Iterator[Append]:
    """A checkpoint holds what changed."""
    with _graph(folder, Delta) as append:
        yield append


@contextmanager
def _graph(folder: Path, state: type) -> Iterator[Append]:
    answers: list[str] = []

    def answer(_: Any) -> dict[str, list[AnyMessage]]:
        return {"messages": [AIMessage(answers.pop())]}

    with closing(sqlite3.connect(folder / "langgraph.db", check_same_thread=False)) as connection:
        graph = StateGraph(state).add_node("agent", answer).add_edge(START, "agent").add_edge("agent", END)
        compiled = graph.compile(checkpointer=SqliteSaver(connection))
        config: Any = {"configurable": {"thread_id": "1"}}

        def append(turns: Sequence[str]) -> None:
            for asked, answered in zip(turns[::2], turns[1::2], strict=True):
                answers.append(answered)
                compiled.invoke({"messages": [HumanMessage(asked)]}, config)

        yield append
