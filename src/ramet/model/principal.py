"""Who asks: the user, the runner, or an agent for its session."""

USER = "user"
"""Who a connection speaks for that does not say: the socket lets nobody in but its user."""
RUNNER = "runner"
"""What runs agents here, and asks as a client would."""
_SESSION = "session:"


def of_session(session_id: int) -> str:
    """The principal of an agent."""
    return f"{_SESSION}{session_id}"


def asking_session(principal: str) -> int | None:
    """The session of an agent that asks; None where somebody else does, who may name any."""
    return int(principal.removeprefix(_SESSION)) if principal.startswith(_SESSION) else None
