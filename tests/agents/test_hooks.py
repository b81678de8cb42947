"""The real programs with installed hooks, and a real daemon: what they are told, and what is kept."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.agents.hooked import COMPACTING, WINDOW, Hooked
from tests.agents.scripts import CODEX_SCRIPTS, SCRIPTS
from tests.agents.stage import Run, Stage, a_stage, wait_for

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

each_agent = pytest.mark.parametrize("agent", ["claude", "codex"])
TOOLS = {"claude": "[[tools]]", "codex": "[[command]]"}
"""Two tool calls and an answer."""
ASKING = {"claude": "[[agents]]", "codex": "[[spawn]]"}
"""A sub-agent looks."""
SAID = {
    "claude": ["I look first.", '"echo hi"', "hi", "note.txt", "It is written."],
    "codex": ["I look first.", '"echo hi"', "hi", "echo no; exit 3", "The second one failed."],
}
"""What is said and done then, in order."""
CONTRACT = "<ramet-resume-contract>"

DROPPING = """\
subprocess.run([PROGRAM, *sys.argv[1:]], input=payload, check=True)
if random.Random(f"{SEED}/{number}").random() >= 0.3:
    subprocess.run([OTHER, *sys.argv[1:]], input=payload, check=True, stdout=subprocess.DEVNULL)
else:
    open(DROPPED, "ab").write(b".")
"""
AFTER_COMPACTION = """\
done = subprocess.run([PROGRAM, *sys.argv[1:]], input=payload, check=True, stdout=subprocess.PIPE)
if b'"source":"compact"' in payload:
    sys.stdout.buffer.write(done.stdout)
"""
"""Nothing that the daemon answers arrives, but what it says when a context was compacted."""
KILLING = """\
if b'"PostToolUse"' in payload and not os.path.exists(KILLED):
    os.kill(int(open(KILLED_BY).read()), signal.SIGKILL)
    open(KILLED, "w").close()
done = subprocess.run([PROGRAM, *sys.argv[1:]], input=payload)
sys.exit(done.returncode)
"""


@pytest.fixture
def stage(real_agents: None, agent: str) -> Iterator[Stage]:
    with a_stage(agent, CODEX_SCRIPTS if agent == "codex" else SCRIPTS) as made:
        yield made


@pytest.fixture
def have(stage: Stage) -> Iterator[Callable[..., Hooked]]:
    """Makes a user's Ramet with the settings that a test wants; its daemon ends with the test."""
    made: list[Hooked] = []

    def make(name: str = "ramet", **settings: Any) -> Hooked:
        made.append(Hooked(stage, name, **settings))
        return made[-1]

    yield make
    for each in made:
        each.close()


def begin(hooked: Hooked, **more: Any) -> Run:
    named = {"native_id": WINDOW} if hooked.stage.driver.name == "claude" else {}
    return hooked.run(f"Begin. {TOOLS[hooked.stage.driver.name]}", **named, **more)


def compact(hooked: Hooked, native_id: str) -> None:
    """Claude Code is told to. Codex, which has no command for it here, finds its context too long at the next turn."""
    if hooked.stage.driver.name == "claude":
        hooked.run("/compact", native_id=native_id, resumes=True)
        hooked.run("Go on. [[again]]", native_id=native_id, resumes=True)
    else:
        hooked.run("Go on. [[again]]", native_id=native_id, resumes=True, arguments=COMPACTING)


@pytest.mark.requirement("R239")
@each_agent
def test_what_a_session_is_told_at_its_start_is_in_the_first_request(have: Callable[..., Hooked], agent: str) -> None:
    hooked = have()
    rules = hooked.stage.directory / ".directives/style.md"
    rules.parent.mkdir()
    rules.write_text("Two spaces, says the project.")
    hooked.ok("project", "add", str(hooked.cwd))
    effort = hooked.ask(
        "commands.effort.start", task_id=f"{hooked.cwd}/cart", skill="do", title="Mend the cart.", agent_id="blue"
    )
    begun = begin(hooked, more={"RAMET_AGENT": "blue"})
    first = hooked.asked(0)
    assert "Two spaces, says the project." in first
    assert CONTRACT in first
    assert "Mend the cart." in first
    session = hooked.ask("db.session.get", session_id=f"{agent}:{begun.native_id}")
    assert (session["effort_id"], session["agent_id"]) == (effort["effort"]["id"], "blue")


@pytest.mark.requirement("R252")
@each_agent
def test_a_projects_rules_are_in_the_first_request_once_each(have: Callable[..., Hooked], agent: str) -> None:
    """Each program reads some of them by itself."""
    hooked = have()
    rules = {name: f"Rule of {name}, {number * 111}." for number, name in enumerate(("AGENTS.md", "CLAUDE.md"), 1)}
    for name, rule in rules.items():
        (hooked.stage.directory / name).write_text(rule)
    begin(hooked)
    first = hooked.asked(0)
    assert [first.count(rule) for rule in rules.values()] == [1, 1]


@pytest.mark.requirement("R240", "R245")
@each_agent
def test_a_gate_denies_and_its_reason_is_in_the_next_request(have: Callable[..., Hooked], agent: str) -> None:
    hooked = have(heartbeat=True, heartbeat_warn=0, heartbeat_block=1)
    begin(hooked)
    reason = "1 tool calls without a log entry. Before you continue, run `ramet note"
    assert [reason in hooked.asked(number) for number in (0, 1, 2)] == [False, False, True]
    assert not (hooked.stage.directory / "note.txt").exists()


@pytest.mark.requirement("R243")
@each_agent
def test_after_a_compaction_the_contract_is_in_the_next_request_and_undo_gives_back_what_was_dropped(
    have: Callable[..., Hooked], agent: str
) -> None:
    hooked = have()
    hooked.come_between(AFTER_COMPACTION)
    begun = begin(hooked)
    assert CONTRACT not in hooked.asked()
    compact(hooked, begun.native_id)
    told = hooked.asked()
    assert "[[again]]" in told
    assert not any(text in told for text in SAID[agent][:2]), "it was dropped"
    assert told.count(CONTRACT) == 1
    assert f"## Goal\\n> Begin. {TOOLS[agent]}" in told

    hooked.settle()
    undone = hooked.json("undo", "s1")
    assert all(text in undone["prompt"] for text in SAID[agent])
    new = {"native_id": WINDOW.replace("1", "6")} if agent == "claude" else {}
    again = hooked.run(undone["prompt"], more={"RAMET_SESSION": str(undone["session"]["id"])}, **new)
    first = next(str(asked["body"]) for asked in hooked.stage.model.requests() if "word for word" in str(asked["body"]))
    assert all(text in first for text in SAID[agent])
    session = hooked.ask("db.session.get", session_id=f"{agent}:{again.native_id}")
    assert (session["id"], session["prev_session_id"]) == (undone["session"]["id"], 1)


@pytest.mark.requirement("R274")
@each_agent
def test_a_daemon_that_is_killed_in_the_middle_misses_nothing(have: Callable[..., Hooked], agent: str) -> None:
    hooked = have()
    pid_file, killed = hooked.data / "run/ramet.pid", hooked.data / "killed"
    hooked.come_between(KILLING, KILLED_BY=str(pid_file), KILLED=str(killed))
    begin(hooked)
    assert killed.exists()
    wait_for(lambda: hooked("daemon", "status").returncode == 0, "the daemon that a hook has started")
    hooked.settle()
    said = [text for _, text in hooked.said()]
    assert said[0] == f"Begin. {TOOLS[agent]}"
    assert said[-1] == SAID[agent][-1]
    assert len(said) == len(set(said)) == 7, (
        "a prompt, a remark, two calls with their results, and an answer: once each"
    )
    assert all(any(text in each for each in said) for text in SAID[agent])
    assert hooked("db", "check").returncode == 0


WHOLE = {
    "sessions": """
        SELECT s.driver, s.native_id, p.native_id, s.spawn_depth FROM sessions s
        LEFT JOIN sessions p ON p.id = s.parent_session_id ORDER BY 1, 2""",
    "messages": """
        SELECT s.native_id, m.role, m.tool_name, m.timestamp, m.is_provisional, hex(c.hash), m.source_key
        FROM messages m JOIN sessions s ON s.id = m.session_id JOIN commits c ON c.id = m.commit_id
        ORDER BY s.native_id, m.timestamp, m.id""",
    "history": """
        SELECT s.native_id, c.seq, hex(c.hash), c.content_type, c.role, c.author, c.at_ms, c.tokens, c.metadata
        FROM sessions s JOIN branches b ON b.name = s.branch JOIN commits h ON h.id = b.commit_id
        JOIN commits c ON c.segment_id = h.segment_id ORDER BY s.native_id, c.seq""",
    "tags": "SELECT hex(c.hash), t.tag FROM tags t JOIN commits c ON c.id = t.commit_id ORDER BY 1, 2",
    "usage": """
        SELECT s.native_id, u.key, u.model, u.input_tokens, u.output_tokens, u.cache_read_tokens, u.cache_write_tokens,
        u.cost_usd FROM usage u JOIN sessions s ON s.id = u.session_id ORDER BY 1, 2""",
    "ingests": "SELECT path, read_bytes FROM ingests ORDER BY 1",
    "efforts": "SELECT task_id, skill, ordinal, lifecycle, outcome FROM efforts ORDER BY 1, 3",
    "ends": """
        SELECT s.native_id, s.ended_at IS NOT NULL, s.outcome, e.ordinal, s.agent_id
        FROM sessions s JOIN efforts e ON e.id = s.effort_id ORDER BY 1""",
}
"""What is kept for good of what was said and done. Not in it: when a session was seen to have ended, and how; and its
signs of life.
"""


@pytest.mark.requirement("R274")
@pytest.mark.parametrize("seed", ["1", "2"])
@each_agent
def test_with_hooks_dropped_at_random_the_store_is_that_of_an_undisturbed_run(
    have: Callable[..., Hooked], agent: str, seed: str
) -> None:
    other, hooked = have("other"), have()
    dropped = hooked.data / "dropped"
    hooked.come_between(DROPPING, SEED=seed, OTHER=str(other.data / "hook"), DROPPED=str(dropped))
    begun = begin(hooked)
    hooked.run(f"Ask. {ASKING[agent]}", native_id=begun.native_id, resumes=True)
    compact(hooked, begun.native_id)
    for each in (other, hooked):
        each.settle()
        each.wait_for_ends()
    assert 0.1 < dropped.stat().st_size / hooked.calls < 0.6
    for name, sql in WHOLE.items():
        whole = hooked.query(sql)
        assert whole, name
        assert other.query(sql) == whole, name


@pytest.mark.parametrize("agent", ["claude"])
def test_a_copy_of_a_session_counts_only_what_it_used_itself(have: Callable[..., Hooked], agent: str) -> None:
    hooked = have()
    begun = begin(hooked)
    hooked.settle()
    copy = hooked.run("Go on. [[again]]", native_id=begun.native_id, resumes=True, forks=True)
    assert copy.native_id != begun.native_id
    hooked.settle()
    used = "SELECT sum(input_tokens), sum(cost_usd) FROM usage GROUP BY session_id ORDER BY session_id"
    (first, first_cost), (second, second_cost) = hooked.query(used)
    assert (first, second) == (3000, 1000), "each request has a thousand"
    assert second_cost == pytest.approx(first_cost / 3)


@each_agent
def test_a_program_that_is_killed_leaves_a_session_that_has_ended(have: Callable[..., Hooked], agent: str) -> None:
    hooked = have()
    prompt = f"Begin. {'[[hold]]' if agent == 'claude' else '[[pause]]'}"
    hooked.stage.run(
        prompt,
        native_id=WINDOW if agent == "claude" else None,
        arguments=hooked.trust(),
        kill_when=lambda: len(hooked.stage.model.requests()) == 2,
    )
    hooked.wait_for_ends()
    ((outcome, notes),) = hooked.query("SELECT outcome, notes FROM sessions")
    assert (outcome, "disappeared in the middle of a turn" in notes) == ("error", True)
