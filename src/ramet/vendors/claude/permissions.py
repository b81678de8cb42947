"""A policy in the words of Claude Code: `Bash(npm test:*)`, `Edit(//etc/x)`, `WebFetch(domain:…)`.

Claude Code takes a command apart itself: a rule for one command allows no chain, substitution or redirection around it.
"""

from collections.abc import Iterable, Iterator

from ramet.model.work.permission_rule import Policy, Rule
from ramet.vendors.contract.driver_protocol import Unexpressed

_IN_WORKTREE = ("edit: **", "read: **")
"""What the permission mode acceptEdits allows without a rule."""
_UNSAFE = frozenset("()\\\n*?")


def allowed(policy: Policy) -> list[str]:
    """What `--allowedTools` gets."""
    return [words for rule in policy.allow if (words := translate(rule)) and str(rule) not in _IN_WORKTREE]


def expressed(policy: Policy) -> list[Rule]:
    """The rules that it can be told to allow."""
    return [rule for rule in policy.allow if translate(rule)]


def denied(policy: Policy) -> list[str]:
    """What `--disallowedTools` gets. Nobody can be asked, so what needs an answer is denied."""
    return [words for rule in (*policy.deny, *policy.ask) if (words := translate(rule))]


def find_unexpressed(policy: Policy) -> Iterator[Unexpressed]:
    """The rules that Claude Code cannot be told."""
    for verdict, rules in _lists(policy):
        for rule in rules:
            if translate(rule) is None:
                yield Unexpressed(verdict, str(rule), "Claude Code matches * only as the last word of a command")


def _lists(policy: Policy) -> Iterable[tuple[str, tuple[Rule, ...]]]:
    return (("allow", policy.allow), ("ask", policy.ask), ("deny", policy.deny))


def translate(rule: Rule) -> str | None:
    """A rule in its words; None if it has none for it."""
    match rule.kind:
        case "run":
            return _run(rule)
        case "edit" | "read":
            return _path(rule)
        case "fetch":
            return None if "*" in rule.pattern else f"WebFetch(domain:{rule.pattern})"
        case "tool":
            server = rule.pattern.removesuffix("__*")
            return server if "*" not in server and (server == rule.pattern or server.startswith("mcp__")) else None


def _run(rule: Rule) -> str | None:
    words = rule.words
    if not words:
        return "Bash"
    command = rule.pattern.removesuffix("*").rstrip() if rule.takes_more else rule.pattern
    if not all(word.is_exact for word in words) or _UNSAFE & set(command) or command.endswith(":"):
        return None
    return f"Bash({command}:*)" if rule.takes_more else f"Bash({command})"


def _path(rule: Rule) -> str | None:
    if {"(", ")", "\\", "[", "!"} & set(rule.pattern):
        return None
    tool = "Edit" if rule.kind == "edit" else "Read"
    if rule.pattern.startswith("~/"):
        return f"{tool}({rule.pattern})"
    return f"{tool}(/{rule.pattern})" if rule.pattern.startswith("/") else f"{tool}(./{rule.pattern})"
