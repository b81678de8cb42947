"""What every agent is told about the tools that Ramet gives it: in its system prompt, and in their descriptions."""

WHEN = (
    "Use it for a part of your work that stands alone: something to explore, to build in a folder of its own, or to "
    "review with fresh eyes. What takes you only a few steps, do yourself."
)
RETURNS = (
    "It returns JSON: {childSessionId, outcome, notes, status, artifacts, issues}. `outcome` is success, error, "
    "timeout, stuck, budget or another word for how the child ended; `notes` is its report, or what went wrong. A "
    "child's failure is a result like any other: read it, then go on. `childSessionId` is null only where nothing was "
    "created."
)
CLOCK = (
    "You wait until the child ends, and your own time limit runs on meanwhile. A wait that becomes too long for one "
    "call returns `status: running` and `outcome: null`: the child goes on, and `await_sessions` collects its result."
)
ZOMBIES = (
    "A child that you do not wait for is not lost, and not ended with you: it finishes by itself, stays on record "
    "under your session, and uses your budget until then. Do not spawn it again because you have not heard of it."
)
_SEVERAL = (
    "Name up to ten children in `agents` to let them work side by side. A child knows only what you tell it: put "
    "everything it needs into `goal` and `context`."
)
_REPORT = (
    "`report` is how you hand in your own result: what you did, decided, tried in vain, made, and what is next. Call "
    "it once, as the last thing you do, if another agent or a person is to go on from there."
)


def compose(*, spawn_depth: int, max_depth: int) -> str:
    """The part of a system prompt that is about Ramet's tools, for a session at this depth."""
    lines = [
        "# Ramet's tools",
        "",
        "You run under Ramet, which records what you do. It gives you five tools:",
        "",
        f"- `spawn_agent` delegates a goal to another agent. {WHEN} {RETURNS} {CLOCK} {_SEVERAL}",
        "- `await_sessions` waits for children that are not done yet.",
        "- `read_output` reads the plan, report or result of another effort, by its number.",
        "- `log` writes a note into your effort's log: what you found or decided, while it is fresh.",
        f"- {_REPORT}",
        "",
        ZOMBIES,
        _describe_depth(spawn_depth, max_depth),
    ]
    return "\n".join(lines)


def _describe_depth(spawn_depth: int, max_depth: int) -> str:
    """How much further down a session may delegate."""
    if spawn_depth >= max_depth:
        return f"You are at depth {spawn_depth} of {max_depth}: you cannot spawn. Do the work yourself, and report it."
    left = max_depth - spawn_depth
    levels = "one more level" if left == 1 else f"{left} more levels"
    return f"You are at depth {spawn_depth} of {max_depth}: below you there may be {levels} of agents."
