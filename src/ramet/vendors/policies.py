"""The policy of a project: the owner's rules, what agents may do anywhere, and the checks that the owner trusts.

By default an agent may edit and read in its worktree, run the trusted checks as they are written, and commit. A program
that cannot be told a rule in its own words says so (`Driver.explain_policy`), and `ramet doctor` shows it.
"""

from collections.abc import Iterable
from posixpath import normpath

from ramet.config.settings import ProjectRules, Settings
from ramet.errors import InvalidRule, InvalidSetting
from ramet.model.work.permission_rule import Policy, Rule, parse

DEFAULT_RULES = (
    "edit: **",
    "read: **",
    "run: git add *",
    "run: git commit *",
    "run: git mv *",
    "run: git rm *",
)


def find_policy(settings: Settings, project_path: str, home: str) -> Policy:
    """What agents may do in a project."""
    general, own = settings.permissions, _rules_of(settings, project_path, home)
    allowed = [*general.allow, *own.allow]
    return Policy(
        allow=(
            *(parse(text) for text in DEFAULT_RULES),
            *_parse_checks(settings.checks.commands),
            *_parse(allowed, "permissions.allow"),
        ),
        ask=_parse([*general.ask, *own.ask], "permissions.ask"),
        deny=_parse([*general.deny, *own.deny], "permissions.deny"),
    )


def project_keys(project_path: str) -> tuple[str, ...]:
    """Where the rules that allow something in a project are in the owner's file."""
    return ("permissions", "projects", project_path, "allow")


def _rules_of(settings: Settings, project_path: str, home: str) -> ProjectRules:
    for path, rules in settings.permissions.projects.items():
        named = f"{home}/{path[2:]}" if path.startswith("~/") else path
        if normpath(named) == normpath(project_path):
            return rules
    return ProjectRules()


def _parse(texts: Iterable[str], field: str) -> tuple[Rule, ...]:
    try:
        return tuple(parse(text, field) for text in texts)
    except InvalidRule as error:
        raise InvalidSetting(f"{field}: {error.message}", field=field, value=error.value, fix=error.fix) from error


def _parse_checks(commands: dict[str, str]) -> tuple[Rule, ...]:
    """Each check as it is written: further arguments could make it another command."""
    rules = []
    for name, command in commands.items():
        try:
            rules.append(parse(f"run: {command}"))
        except InvalidRule as error:
            raise InvalidSetting(
                f"checks.{name} is {command!r}: {error.message}",
                field=f"checks.{name}",
                value=command,
                fix="name one command, such as make test; put several into a script or a Makefile",
            ) from error
    return tuple(rules)
