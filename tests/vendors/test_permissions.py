"""A policy in the words of each program, and what it cannot be told."""

import tomllib

import pytest
from msgspec.structs import replace

from ramet.config.settings import CheckSettings, PermissionSettings, ProfileSettings, ProjectRules, Settings
from ramet.errors import InvalidSetting
from ramet.model.work.permission_rule import Call, Places, Policy, parse
from ramet.vendors import policies, registry
from ramet.vendors.claude.permissions import translate
from ramet.vendors.codex import permissions as codex
from ramet.vendors.contract.driver_protocol import GitPlaces, Start

PLACES = Places("/tree", "/home/me")
START = Start(
    instruction="go",
    context="",
    prompt="go",
    program=["x"],
    directory="/tree",
    environment={},
    profile=ProfileSettings(),
)


def policy(*allow: str, ask: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Policy:
    return Policy(*(tuple(parse(text) for text in texts) for texts in (allow, ask, deny)))


def launch(name: str, rules: Policy) -> list[str]:
    return registry.find_driver(name).launch(replace(START, policy=rules)).arguments


def after(arguments: list[str], option: str) -> list[str]:
    return [arguments[place + 1] for place, each in enumerate(arguments) if each == option]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("run: npm test", "Bash(npm test)"),
        ("run: npm test *", "Bash(npm test:*)"),
        ("run: *", "Bash"),
        ("run: npm *test", None),
        ("run: npm te? x", None),
        ("run: echo '(x)'", None),
        ("run: echo '*'", None),
        ("edit: src/**", "Edit(./src/**)"),
        ("edit: /etc/x", "Edit(//etc/x)"),
        ("read: ~/notes/**", "Read(~/notes/**)"),
        ("read: /a(b)", None),
        ("fetch: docs.python.org", "WebFetch(domain:docs.python.org)"),
        ("fetch: *.python.org", None),
        ("tool: mcp__notes__add", "mcp__notes__add"),
        ("tool: mcp__notes__*", "mcp__notes"),
        ("tool: Agent", "Agent"),
        ("tool: mcp__*", None),
    ],
)
def test_a_rule_in_the_words_of_claude_code(rule: str, words: str | None) -> None:
    assert translate(parse(rule)) == words
    found = registry.find_driver("claude").find_unexpressed(policy(rule), ProfileSettings())
    assert [each.rule for each in found] == ([] if words else [rule])


def test_claude_code_is_told_what_is_allowed_and_what_is_not() -> None:
    arguments = launch("claude", policy("edit: **", "run: make test", ask=("run: git push *",), deny=("read: .env",)))
    assert after(arguments, "--allowedTools") == ["Bash(make test)"]
    assert after(arguments, "--disallowedTools") == ["Read(./.env),Bash(git push:*)"]


def test_codex_gets_a_profile_of_its_sandbox() -> None:
    rules = policy(
        "edit: **", "run: make test", "edit: ~/notes/**", deny=("edit: gen/**", "read: /etc/x", "read: .env")
    )
    git = GitPlaces(writable=["/r/.git/objects"], read_only=["/r/.git/worktrees/e1/commondir"])
    options = after(codex.arguments(rules, git), "-c")
    assert tomllib.loads("\n".join(options)) == {
        "default_permissions": "ramet",
        "permissions": {
            "ramet": {
                "extends": ":workspace",
                "filesystem": {
                    "~/notes": "write",
                    "/r/.git/objects": "write",
                    "/r/.git/worktrees/e1/commondir": "read",
                    "/etc/x": "deny",
                    ":workspace_roots": {".": "write", "gen": "read", ".env": "deny"},
                },
            }
        },
    }


@pytest.mark.requirement("R452")
def test_what_codex_cannot_be_told_is_named_with_its_reason() -> None:
    rules = policy(
        "fetch: a.example", "tool: mcp__x__y", "edit: /x/*.md", "tool: mcp__ramet__*", deny=("run: git push",)
    )
    found = registry.find_driver("codex").find_unexpressed(rules, ProfileSettings())
    assert [(each.verdict, each.rule) for each in found] == [
        ("allow", "fetch: a.example"),
        ("allow", "tool: mcp__x__y"),
        ("allow", "edit: /x/*.md"),
        ("deny", "run: git push"),
    ]
    assert all(each.reason for each in found)


@pytest.mark.parametrize("mode", ["read-only", "danger-full-access"])
def test_a_mode_of_the_profile_replaces_the_sandbox_of_codex(mode: str) -> None:
    driver, profile = registry.find_driver("codex"), ProfileSettings(permission_mode=mode)
    assert [each.rule for each in driver.find_unexpressed(policy(deny=("edit: x",)), profile)] == ["edit: x"]


@pytest.mark.requirement("R452")
def test_by_default_an_agent_edits_in_its_worktree_runs_the_checks_as_they_are_written_and_commits() -> None:
    settings = Settings(checks=CheckSettings(commands={"test": "make test"}))
    rules = policies.find_policy(settings, "/shop", "/home/me")
    allowed = [Call("edit", "a.py"), Call("run", "make test"), Call("run", "git add -A && git commit -m 'x y'")]
    refused = [
        *(Call("run", command) for command in ("make test SHELL=x", "git push", "git -c a=b commit", "rm -r x")),
        *(Call("edit", path) for path in ("/etc/passwd", "../x", ".git/hooks/pre-commit")),
        Call("fetch", "https://a.example"),
        Call("tool", "Agent"),
    ]
    assert [rules.decide(call, PLACES) for call in allowed] == ["allow"] * len(allowed)
    assert [rules.decide(call, PLACES) for call in refused] == [None] * len(refused)


def test_the_rules_of_a_project_count_in_that_project_alone() -> None:
    own = {"~/shop": ProjectRules(allow=["run: npm test"], deny=["run: npm publish"])}
    settings = Settings(permissions=PermissionSettings(deny=["run: git push *"], projects=own))
    call, denied = Call("run", "npm test"), Call("run", "git push")
    here, there = (policies.find_policy(settings, path, "/home/me") for path in ("/home/me/shop", "/home/me/other"))
    assert [each.decide(call, PLACES) for each in (here, there)] == ["allow", None]
    assert [each.decide(denied, PLACES) for each in (here, there)] == ["deny", "deny"]


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        (Settings(permissions=PermissionSettings(allow=["npm test"])), "permissions.allow"),
        (Settings(permissions=PermissionSettings(deny=["run: a; b"])), "permissions.deny"),
        (Settings(checks=CheckSettings(commands={"test": "make && make test"})), "checks.test"),
    ],
)
def test_a_faulty_rule_in_the_configuration_is_named_with_its_key(settings: Settings, field: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        policies.find_policy(settings, "/shop", "/home/me")
    assert refused.value.field == field
    assert field in refused.value.message
