"""A policy in the words of Codex: a permission profile, which its sandbox enforces on every command.

Commands need no rule: each runs in the sandbox, without a network, and can write in the worktree and where a rule
allows it. To commit, it can also write its own part of the repository, but not git's configuration and hooks.
"""

from collections.abc import Iterator

from ramet.model.work.permission_rule import Policy, Rule
from ramet.vendors.codex.toml_values import toml
from ramet.vendors.contract.driver_protocol import GitPlaces, Unexpressed

PROFILE = "ramet"
_OWN_TOOLS = "mcp__ramet__"
_ROOTS = ":workspace_roots"


def arguments(policy: Policy, git: GitPlaces | None) -> list[str]:
    """The settings that make the profile and choose it."""
    files = {path: "write" for rule in policy.allow if (path := _allowed_path(rule))}
    if git is not None:
        files |= dict.fromkeys(git.writable, "write") | dict.fromkeys(git.read_only, "read")
    inside = {".": "write"}
    for rule in (*policy.ask, *policy.deny):
        if path := _plain_path(rule):
            (files if _is_outside(path) else inside)[path] = "read" if rule.kind == "edit" else "deny"
    entries = [f"{toml(path)}={toml(access)}" for path, access in files.items()]
    if len(inside) > 1:
        table = ", ".join(f"{toml(path)}={toml(access)}" for path, access in inside.items())
        entries.append(f"{toml(_ROOTS)}={{{table}}}")
    profile = f'{{extends=":workspace", filesystem={{{", ".join(entries)}}}}}' if entries else '{extends=":workspace"}'
    return ["-c", f"default_permissions={toml(PROFILE)}", "-c", f"permissions.{PROFILE}={profile}"]


def find_unexpressed(policy: Policy) -> Iterator[Unexpressed]:
    """The rules that Codex cannot be told."""
    for rule in policy.allow:
        if reason := _why_not_allowed(rule):
            yield Unexpressed("allow", str(rule), reason)
    for verdict, rules in (("ask", policy.ask), ("deny", policy.deny)):
        for rule in rules:
            if reason := _why_not_denied(rule):
                yield Unexpressed(verdict, str(rule), reason)


def _why_not_allowed(rule: Rule) -> str | None:
    match rule.kind:
        case "fetch":
            return "the sandbox of Codex has no network"
        case "tool" if not rule.pattern.startswith(_OWN_TOOLS):
            return "Codex approves of tools in the table of their server: default_tools_approval_mode in config.toml"
        case "edit" if _is_outside(rule.pattern) and _plain_path(rule) is None:
            return "Codex allows files and whole folders, not patterns"
        case _:
            return None


def _why_not_denied(rule: Rule) -> str | None:
    match rule.kind:
        case "run":
            return "Codex runs every command in its sandbox: forbid it in a file below ~/.codex/rules"
        case "tool":
            return "Codex turns tools off in the table of their server: disabled_tools in config.toml"
        case "edit" | "read" if _plain_path(rule) is None:
            return "Codex refuses files and whole folders, not patterns"
        case _:
            return None


def _allowed_path(rule: Rule) -> str | None:
    """A place outside the worktree that may be written; all else can be read anyway."""
    path = _plain_path(rule) if rule.kind == "edit" else None
    return path if path is not None and _is_outside(path) else None


def _plain_path(rule: Rule) -> str | None:
    """The file, or the folder, that a rule names without a pattern."""
    if rule.kind not in ("edit", "read"):
        return None
    path = rule.pattern.removesuffix("/**")
    return None if not path or {"*", "?", "["} & set(path) else path


def _is_outside(path: str) -> bool:
    return path.startswith(("/", "~/"))
