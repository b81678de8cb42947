"""The texts for agents about Ramet's tools: in their system prompt, and in the descriptions of the tools."""

WHEN = (
    "Use it for an independent part of your work: something to explore, to build in its own folder, or to review with "
    "fresh eyes. If something takes only a few steps, do it yourself."
)
RETURNS = (
    "It returns JSON: {childSessionId, outcome, notes, status, artifacts, issues}. `outcome` is success, error, "
    "timeout, stuck, budget or another outcome; `notes` is the child's report, or what went wrong. A child's failure "
    "is a result like any other: read it, then continue. `childSessionId` is null only if nothing was created."
)
CLOCK = (
    "You wait until the child ends, and the wait counts towards your own time limit. A wait that is too long for one "
    "call returns `status: running` and `outcome: null`: the child keeps running, and `await_sessions` gets its "
    "result."
)
ZOMBIES = (
    "A child that you do not wait for is not lost and does not end with you: it finishes by itself, stays on record "
    "under your session, and uses your budget until then. Do not spawn it again because its result is not there yet."
)
_SEVERAL = (
    "List up to ten children in `agents` to run them in parallel. A child knows only what you tell it: put everything "
    "it needs into `goal` and `context`."
)
_RECALL = (
    "`recall` searches earlier sessions of this project: decisions, errors and what ended them, commands that worked. "
    "Ask it before you work something out again."
)
_REPORT = (
    "`report` hands in your own result: what you did, decided and created, what failed, and the next steps. Call it "
    "once, as your last step, if another agent or a person continues from there."
)


def compose(*, spawn_depth: int, max_depth: int) -> str:
    """The part of a system prompt that is about Ramet's tools, for a session at this depth."""
    lines = [
        "# Ramet's tools",
        "",
        "You run under Ramet, which records what you do. It gives you eight tools:",
        "",
        f"- `spawn_agent` delegates a goal to another agent. {WHEN} {RETURNS} {CLOCK} {_SEVERAL}",
        "- `await_sessions` waits for children that are not done yet.",
        "- `read_output` reads the plan, report or result of another effort, by its number.",
        f"- {_RECALL}",
        "- `budget` says what you may still use, and what each child used. Ask before you spawn several.",
        "- `log` adds a note to your effort's log: what you found or decided, while it is fresh.",
        "- `phase` enters a phase of your skill. If your prompt lists phases, enter each one when you start it.",
        f"- {_REPORT}",
        "",
        ZOMBIES,
        _describe_depth(spawn_depth, max_depth),
    ]
    return "\n".join(lines)


def _describe_depth(spawn_depth: int, max_depth: int) -> str:
    """How many more levels a session may delegate."""
    if spawn_depth >= max_depth:
        return f"You are at depth {spawn_depth} of {max_depth}: you cannot spawn. Do the work yourself, and report it."
    left = max_depth - spawn_depth
    levels = "one more level" if left == 1 else f"{left} more levels"
    return f"You are at depth {spawn_depth} of {max_depth}: you can have {levels} of agents below you."
