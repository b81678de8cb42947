"""Permission rules: what they match, and what never gets past them."""

import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.errors import InvalidRule
from ramet.model.work.permission_rule import Call, Places, Policy, Rule, explain_refusal, parse, suggest
from ramet.model.work.shell_command import NotUnderstood, split

PLACES = Places("/work/tree", "/home/user")
NO_RULE = None


def policy(*allow: str, ask: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Policy:
    return Policy(*(tuple(parse(text) for text in texts) for texts in (allow, ask, deny)))


TESTS = policy("run: npm test *", "run: make check", "edit: **", "read: **", deny=("edit: secret/**",))


@pytest.mark.requirement("R452")
@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "npm test -- --watch=false",
        "npm \t test",
        "'npm' test",
        'np"m" test',
        "n\\pm test",
        "npm \\\n test",
        "make check",
        "make check 2>&1",
        "make check >/dev/null 2>&1",
        "make check > report.txt",
        "make check < input.txt",
        "make check && npm test",
        "make check | npm test",
        "make check; npm test\nnpm test &",
        "npm test *.js",
        "npm test ';' '$(rm x)' '`rm x`'",
    ],
)
def test_a_command_whose_every_part_is_allowed_passes(command: str) -> None:
    assert TESTS.decide(Call("run", command), PLACES) == "allow"


@pytest.mark.requirement("R452")
@pytest.mark.parametrize(
    "command",
    [
        "",
        " ",
        "npm testing",
        "npm",
        "npmtest",
        "make check all",
        "make 'check all'",
        "npm test; rm x",
        "npm test;rm x",
        "npm test && rm x",
        "rm x || npm test",
        "npm test | sh",
        "npm test |& sh",
        "npm test & rm x",
        "npm test\nrm x",
        "npm test \\\n; rm x",
        "npm test $(rm x)",
        "npm test `rm x`",
        'npm test "$(rm x)"',
        'npm test "`rm x`"',
        "npm test $IFS",
        "npm test ${x:=rm}",
        "npm test $'a'",
        "npm test <(rm x)",
        "npm test >(rm x)",
        "npm test <<E\nE",
        "npm test <<< x",
        "npm test {a,b}",
        "(npm test)",
        "{ npm test; }",
        "! npm test",
        "if npm test; then rm x; fi",
        "time npm test",
        "function npm { rm x; }",
        "npm() { rm x; }",
        "PATH=. npm test",
        "PATH+=:. npm test",
        "A[0]=x npm test",
        "npm=1",
        "env npm test",
        "env PATH=. npm test",
        "sh -c 'npm test'",
        "bash -lc 'npm test'",
        "eval npm test",
        "xargs npm test",
        "sudo npm test",
        "./npm test",
        "np* test",
        "npm te?t",
        "npm t[e]st",
        "~/npm test",
        "=npm test",
        "make check > ../outside",
        "make check > /etc/passwd",
        "make check >| /etc/passwd",
        "make check &> /etc/passwd",
        "make check >& /etc/passwd",
        "make check > ~/x",
        "make check > $HOME",
        "make check > *",
        "make check > .git/hooks/pre-commit",
        "make check > sub/../.GIT/config",
        "make check < /etc/shadow",
        "make check >",
        "make check > > x",
        "> x",
        "npm test # a comment",
        "npm test 'unfinished",
        'npm test "unfinished',
        "npm test \\",
        "npm test &&",
        "&& npm test",
        "npm test ;; rm x",
        "npm\u00a0test",
        "npm test\u2028rm x",
        "npm test \u202e",
        "npm\u200b test",
        "n\u0440m test",
        "npm test\r\nrm x",
        "npm test\0",
        "npm test " + "x" * 20_000,
    ],
)
def test_a_command_with_a_part_that_no_rule_names_does_not_pass(command: str) -> None:
    assert TESTS.decide(Call("run", command), PLACES) is NO_RULE


@pytest.mark.requirement("R452")
def test_deny_beats_ask_and_ask_beats_allow() -> None:
    rules = policy("run: git *", ask=("run: git push *",), deny=("run: git push --force *",))
    commands = ["git status", "git push", "git push --force x", "git status && git push", "git push; git push --force"]
    found = [rules.decide(Call("run", command), PLACES) for command in commands]
    assert found == ["allow", "ask", "deny", "ask", "deny"]


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "/usr/bin/git push origin",
        "env git push",
        "env A=1 git push",
        "sudo -u x git push",
        "nohup timeout 5 git push",
        "xargs git push",
        "sh -c 'git push'",
        "bash -lc 'cd x && git push'",
        "env sh -c 'true; git push'",
        "true; git push",
        "true | git push",
    ],
)
def test_a_denied_command_is_found_behind_well_known_wrappers(command: str) -> None:
    assert policy("run: *", deny=("run: git push *",)).decide(Call("run", command), PLACES) == "deny"


@pytest.mark.parametrize(
    ("path", "verdict"),
    [
        ("src/a.py", "allow"),
        ("/work/tree/src/deep/b.py", "allow"),
        ("src/../src/a.py", "allow"),
        ("src/../a.py", NO_RULE),
        ("srcs/a.py", NO_RULE),
        ("../tree/src/a.py", "allow"),
        ("src/.git/config", NO_RULE),
        ("src/keys/k", "deny"),
        ("src/x/../keys/k", "deny"),
        ("~/notes/a", "allow"),
        ("/home/user/notes/deep/a", "allow"),
        ("~root/notes/a", NO_RULE),
        ("docs/a.md", "allow"),
        ("docs/deep/a.md", NO_RULE),
    ],
)
def test_a_path_rule_matches_inside_its_folder_only(path: str, verdict: str | None) -> None:
    rules = policy("edit: src/**", "edit: ~/notes/**", "edit: docs/*.md", deny=("edit: src/keys/**",))
    assert rules.decide(Call("edit", path), PLACES) == verdict
    assert rules.decide(Call("read", path), PLACES) is NO_RULE


@pytest.mark.parametrize(
    ("address", "verdict"),
    [
        ("https://docs.python.org/3/", "allow"),
        ("https://DOCS.python.org.:443", "allow"),
        ("https://docs.python.org@evil.example/", NO_RULE),
        ("https://evil.example/docs.python.org", NO_RULE),
        ("https://docs.python.org.evil.example", NO_RULE),
        ("https://a.rust-lang.org", "allow"),
        ("https://rust-lang.org", NO_RULE),
        ("https://evilrust-lang.org", NO_RULE),
        ("https://[::1", NO_RULE),
    ],
)
def test_a_fetch_rule_matches_the_host_that_is_reached(address: str, verdict: str | None) -> None:
    rules = policy("fetch: docs.python.org", "fetch: *.rust-lang.org")
    assert rules.decide(Call("fetch", address), PLACES) == verdict


def test_a_tool_rule_matches_a_name() -> None:
    rules = policy("tool: mcp__notes__*")
    assert rules.decide(Call("tool", "mcp__notes__add"), PLACES) == "allow"
    assert rules.decide(Call("tool", "mcp__notes"), PLACES) is NO_RULE


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("npm test", "did you mean 'run: npm test'?"),
        ("runs: npm test", "did you mean 'run: npm test'?"),
        ("Edit: src/**", "did you mean 'edit: src/**'?"),
        ("run:", "a rule is run: COMMAND"),
        ("run: a; b", "a rule is run: COMMAND"),
        ("run: a $(b)", "a rule is run: COMMAND"),
        ("run: a > b", "a rule is run: COMMAND"),
        ("run: np* test", "a rule is run: COMMAND"),
        ("edit: ../x", "a rule is run: COMMAND"),
        ("read: ~root/x", "a rule is run: COMMAND"),
        ("fetch: https://x.example/", "a rule is run: COMMAND"),
        ("tool: a b", "a rule is run: COMMAND"),
        ("run: " + "x" * 501, "a rule is run: COMMAND"),
        ("", "a rule is run: COMMAND"),
    ],
)
def test_a_faulty_rule_is_refused_with_the_grammar(text: str, fix: str) -> None:
    with pytest.raises(InvalidRule) as refused:
        parse(text)
    assert fix in refused.value.fix
    assert "a rule is run: COMMAND" in refused.value.fix


def test_a_rule_may_have_the_quotes_of_a_yaml_file() -> None:
    assert parse('run: "npm test *"') == parse("run:npm test *") == Rule("run", "npm test *")


@pytest.mark.parametrize(
    ("call", "rules"),
    [
        (Call("run", "npm test"), ["run: npm test"]),
        (Call("run", "npm test && ls *.py > out"), ["run: npm test", "run: ls *", "edit: out"]),
        (Call("run", "git commit -m 'a b'"), ["run: git commit -m 'a b'"]),
        (Call("run", "npm test $(x)"), []),
        (Call("fetch", "https://docs.python.org/3"), ["fetch: docs.python.org"]),
        (Call("read", "/etc/hostname"), ["read: /etc/hostname"]),
        (Call("tool", "Agent"), ["tool: Agent"]),
    ],
)
def test_the_suggested_rules_allow_the_call_and_are_the_narrowest(call: Call, rules: list[str]) -> None:
    found = suggest(call)
    assert [str(rule) for rule in found] == rules
    if found:
        assert Policy(allow=tuple(found)).decide(call, PLACES) == "allow"
        assert explain_refusal(call) is None
    else:
        assert explain_refusal(call) == "it has a substitution or a variable"


_PIECES = st.sampled_from(
    ["npm", "test", "mark", " ", "  ", "\t", "\n", ";", "&", "|", "'", '"', "\\", "$", "(", ")", "`", "<", ">", "x=1"]
)


@pytest.mark.requirement("R452")
@given(st.lists(_PIECES, max_size=12).map("".join))
def test_a_shell_starts_no_other_program_than_those_that_were_found(command: str) -> None:
    """Whatever passes is given to a real shell whose only programs say that they were started."""
    allowed = policy("run: npm test *")
    if allowed.decide(Call("run", command), PLACES) != "allow":
        return
    starts = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f'npm() {{ echo started npm "$1"; }}; mark() {{ echo EVADED; }}; test() {{ echo EVADED; }}\n{command}',
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd="/",
        env={"PATH": str(Path("/nowhere"))},
    )
    assert "EVADED" not in starts.stdout + starts.stderr
    assert set(starts.stdout.split()) <= {"started", "npm", "test"}


@given(st.text(max_size=60))
def test_any_text_is_taken_apart_or_refused(text: str) -> None:
    with suppress(NotUnderstood):
        assert all(part.words for part in split(text))
