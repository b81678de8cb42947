"""Landing with real git, real checks and a real checkout."""

from pathlib import Path
from typing import get_args

import pytest
from tests.runner.desk import Desk
from tests.runner.landing.harbour import Death, DyingFaults, Harbour

from ramet.config import trust
from ramet.errors import InvalidParams, LandingRefused
from ramet.faults import FaultPoint

POINTS = [point for point in get_args(FaultPoint) if point.startswith("landing_")]


@pytest.fixture
def harbour(desk: Desk) -> Harbour:
    return Harbour(desk)


@pytest.mark.requirement("R401")
def test_branches_land_in_the_order_of_their_dependencies_each_tested(harbour: Harbour, tmp_path: Path) -> None:
    first = harbour.work({"one.txt": "1\n"})
    second = harbour.work({"two.txt": "2\n"}, based_on=first.id)
    alone = harbour.work({"three.txt": "3\n"})
    count = tmp_path / "tested"
    harbour.add(second, first, alone, checks=[f"test ! -e two.txt -o -e one.txt && git rev-parse HEAD >> {count}"])
    landed = harbour.land_all()
    assert [row.efforts for row in landed] == [[first.id], [second.id], [alone.id]]
    assert {row.state for row in landed} == {"landed"}
    assert set(harbour.moves()[:3]) == set(count.read_text().split()), "each commit of main was tested"
    assert (harbour.status(), (harbour.project / "three.txt").read_text()) == ("", "3\n")
    message = harbour.shop.run(harbour.project, "log", "-1", "--format=%B", landed[0].tested)
    assert message.startswith("mend the cart")
    assert f"Ramet-Effort: e{first.id}" in message


@pytest.mark.requirement("R404")
def test_a_red_check_or_a_conflict_stops_only_its_entry_and_those_that_need_it(harbour: Harbour) -> None:
    red = harbour.work({"bad.txt": "bad\n"})
    needs_red = harbour.work({"more.txt": "more\n"}, based_on=red.id)
    one, other = harbour.work({"a.txt": "1\n"}), harbour.work({"a.txt": "2\n"})
    plan = harbour.plan(red, needs_red, one, other)
    assert [entry.conflicts for entry in plan.entries] == [[], [], [], ["a.txt"]]
    rows = harbour.add(red, needs_red, one, other, checks=["test ! -e bad.txt"])
    states = {row.efforts[0]: row for row in harbour.land_all()}
    assert {number: row.state for number, row in states.items()} == {
        red.id: "failed",
        one.id: "landed",
        other.id: "conflicted",
    }
    assert "the check given 1 (`test ! -e bad.txt`) failed with exit status 1" in states[red.id].reason
    assert (states[other.id].files, states[other.id].reason) == (["a.txt"], "conflicts in a.txt")
    blocked = harbour.desk.world.call("landing.get", landing_id=rows[1].id)
    assert (blocked.state, blocked.blocked_by) == ("queued", rows[0].id)
    notices = harbour.desk.world.call("fleet.notices").items
    assert {notice.effort_id for notice in notices if notice.kind == "landing"} == {red.id, other.id}


@pytest.mark.requirement("R406")
def test_a_checkout_with_changes_is_not_touched_and_the_target_does_not_move(harbour: Harbour) -> None:
    effort = harbour.work({"one.txt": "1\n"})
    (harbour.project / "a.txt").write_text("mine\n")
    before = harbour.tip, harbour.status()
    assert "has uncommitted changes: a.txt" in "; ".join(harbour.plan(effort).notes)
    [row] = harbour.add(effort)
    stopped = harbour.land_next()
    assert (stopped.state, harbour.tip, harbour.status()) == ("stopped", *before)
    assert "has uncommitted changes: a.txt" in stopped.reason
    harbour.shop.run(harbour.project, "stash", "-q")
    harbour.desk.world.call("landing.retry", landing_id=row.id)
    assert harbour.land_next().state == "landed"


@pytest.mark.requirement("R406")
def test_an_untracked_file_in_the_way_is_kept(harbour: Harbour) -> None:
    harbour.add(harbour.work({"one.txt": "1\n"}))
    (harbour.project / "one.txt").write_text("mine\n")
    before = harbour.tip
    stopped = harbour.land_next()
    assert (stopped.state, harbour.tip) == ("stopped", before)
    assert (harbour.project / "one.txt").read_text() == "mine\n"
    assert "one.txt" in stopped.reason


@pytest.mark.requirement("R406")
def test_a_checkout_in_the_middle_of_a_rebase_is_not_touched(harbour: Harbour) -> None:
    harbour.add(harbour.work({"one.txt": "1\n"}))
    run, project = harbour.shop.run, harbour.project
    run(project, "checkout", "-q", "-b", "side")
    (project / "a.txt").write_text("side\n")
    harbour.shop.commit(project, "side")
    run(project, "checkout", "-q", "main")
    (project / "a.txt").write_text("main\n")
    before = harbour.shop.commit(project, "main")
    run(project, "rebase", "-q", "side", check=False)
    assert "is in the middle of a rebase of main" in harbour.land_next().reason
    assert harbour.tip == before


@pytest.mark.requirement("R406")
def test_a_target_that_is_checked_out_nowhere_moves_alone(harbour: Harbour) -> None:
    harbour.shop.run(harbour.project, "checkout", "-q", "-b", "mine")
    (harbour.project / "a.txt").write_text("mine\n")
    before = harbour.status()
    harbour.add(harbour.work({"one.txt": "1\n"}), onto="main")
    assert harbour.land_next().state == "landed"
    assert harbour.shop.show("main:one.txt") == "1"
    assert (harbour.status(), (harbour.project / "one.txt").exists()) == (before, False)


@pytest.mark.requirement("R406")
def test_undo_restores_the_tip_and_reverts_if_something_landed_after_it_or_it_was_pushed(harbour: Harbour) -> None:
    start = harbour.tip
    rows = [harbour.add(harbour.work({f"{name}.txt": "1\n"}))[0] for name in ("one", "two")]
    first, second = harbour.land_all()
    assert harbour.undo(second).state == "landed"
    assert (harbour.tip, harbour.status()) == (first.tested, "")
    (harbour.project / "later.txt").write_text("later\n")
    later = harbour.shop.commit(harbour.project, "later")
    assert harbour.undo(first).state == "landed"
    assert harbour.shop.run(harbour.project, "rev-parse", "main~1") == later
    assert not (harbour.project / "one.txt").exists()
    assert (harbour.project / "later.txt").exists()
    assert start not in harbour.moves()[:4]
    assert [harbour.desk.world.call("landing.get", landing_id=row.id).state for row in rows] == ["undone", "undone"]
    harbour.add(harbour.work({"pushed.txt": "1\n"}))
    pushed = harbour.land_next()
    harbour.shop.run(harbour.project, "update-ref", "refs/remotes/origin/main", pushed.tested)
    assert harbour.undo(pushed).state == "landed"
    assert harbour.shop.run(harbour.project, "rev-parse", "main~1") == pushed.tested


@pytest.mark.requirement("R401")
def test_a_target_that_moves_while_checks_run_is_tested_again(harbour: Harbour, tmp_path: Path) -> None:
    move = f"git -C {harbour.project} -c user.name=A -c user.email=a@b commit -q --allow-empty -m meanwhile"
    check = f"echo x >> {tmp_path}/runs; test $(wc -l < {tmp_path}/runs) -gt 1 || {move}"
    harbour.add(harbour.work({"one.txt": "1\n"}), checks=[check])
    row = harbour.land_next()
    assert (row.state, (tmp_path / "runs").read_text()) == ("landed", "x\nx\n")
    assert harbour.shop.run(harbour.project, "log", "-1", "--format=%s", row.tip) == "meanwhile"
    assert harbour.tip == row.tested


@pytest.mark.requirement("R401")
def test_a_hostile_check_changes_nothing_that_lands(desk: Desk) -> None:

    configuration = Path(desk.shop.environ["HOME"], ".config/ramet/config.yaml")
    configuration.parent.mkdir(parents=True)
    configuration.write_text("land:\n  check_seconds: 2\nwork:\n  grace_seconds: 1\n")
    harbour = Harbour(desk)
    clean, hangs = harbour.work({"one.txt": "1\n"}), harbour.work({"two.txt": "2\n"})
    evil = "echo evil > evil.txt; git add -A; git commit -qm evil; (trap '' TERM HUP; sleep 1000) &"
    evil += " test ! -e two.txt || sleep 1000"
    harbour.add(clean, hangs, checks=[evil])
    landed, failed = harbour.land_all()
    assert landed.state == "landed"
    assert harbour.shop.run(harbour.project, "ls-tree", "--name-only", "main").split() == ["a.txt", "one.txt"]
    assert (failed.state, "took longer than 2 seconds" in failed.reason) == ("failed", True)
    assert not list(desk.machine.places.worktrees.glob("*/l*"))


@pytest.mark.requirement("R401")
def test_checks_come_from_the_target_branch_and_only_if_the_owner_trusts_that_content(harbour: Harbour) -> None:
    (harbour.project / "ramet.yaml").write_text("checks:\n  test: test ! -e bad.txt\n")
    harbour.shop.commit(harbour.project, "checks")
    effort = harbour.work({"ramet.yaml": "checks:\n  test: touch owned\n", ".claude/settings.json": "{}"})
    plan = harbour.plan(effort)
    assert plan.checks == {}
    assert any("run `ramet trust` with that file" in note for note in plan.notes)
    assert plan.entries[0].trusted_files == [".claude/settings.json", "ramet.yaml"]
    file = harbour.project / "ramet.yaml"
    environ = {"RAMET_HOME": str(harbour.desk.machine.places.home), "HOME": harbour.shop.environ["HOME"]}
    trust.trust(environ, file, file.read_bytes())
    assert harbour.plan(effort).checks == {"test": "test ! -e bad.txt"}


@pytest.mark.requirement("R401")
def test_the_plan_names_what_does_not_run_and_what_does_not_land(harbour: Harbour) -> None:
    run, project = harbour.shop.run, harbour.project
    hook = project / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    hook.chmod(0o755)
    run(project, "config", "commit.gpgsign", "true")
    effort, waiting = harbour.work({"one.txt": "1\n"}), harbour.desk.add("implement")
    plan = harbour.plan(effort, waiting)
    assert plan.left_out == [f"e{waiting.id} is queued"]
    assert any("git hooks do not run (pre-commit)" in note for note in plan.notes)
    assert any("commit.gpgsign is set" in note for note in plan.notes)
    harbour.add(effort)
    assert harbour.land_next().state == "landed"
    assert not (project / "ran").exists()


@pytest.mark.requirement("R362")
@pytest.mark.parametrize(
    ("include", "expected"), [(False, ["a.txt", "one.txt"]), (True, ["a.txt", "mine.txt", "one.txt"])]
)
def test_uncommitted_changes_that_were_taken_along_land_only_if_asked_for(
    harbour: Harbour, include: bool, expected: list[str]
) -> None:
    (harbour.project / "mine.txt").write_text("mine\n")
    marked = harbour.shop.commit(harbour.project, "Uncommitted changes")
    effort = harbour.work({"one.txt": "1\n"})
    harbour.shop.run(harbour.project, "reset", "-q", "--hard", "HEAD~1")
    harbour.desk.world.sql("UPDATE efforts SET base_changes = :commit WHERE id = :id", commit=marked, id=effort.id)
    plan = harbour.plan(effort, include_changes=include)
    assert plan.entries[0].left_out == ([] if include else [marked])
    harbour.add(effort, include_changes=include)
    assert harbour.land_next().state == "landed"
    assert harbour.shop.run(harbour.project, "ls-tree", "--name-only", "main").split() == expected


@pytest.mark.requirement("R401")
@pytest.mark.parametrize("preset", ["workspace", "strict"])
def test_checks_start_in_the_sandbox_of_the_profile_that_worked_on_the_branch(
    harbour: Harbour, tmp_path: Path, preset: str
) -> None:
    program = tmp_path / "bwrap"  # notes how it is called, and runs the last argument, which is the check
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nfor last; do :; done\nexec /bin/sh -c "$last"\n')
    program.chmod(0o755)
    harbour.shop.environ["PATH"] = f"{tmp_path}:{harbour.shop.environ['PATH']}"
    configuration = Path(harbour.shop.environ["HOME"], ".config/ramet/config.yaml")
    configuration.parent.mkdir(parents=True)
    configuration.write_text(f"drivers:\n  profiles:\n    command: {{program: [/bin/true], sandbox: {preset}}}\n")
    harbour.add(harbour.work({"one.txt": "1\n"}), checks=["test -e one.txt && echo checked"])
    row = harbour.land_next()
    assert (row.state, row.reason) == ("landed", None)
    call = (tmp_path / "calls").read_text().splitlines()[-1]
    assert call.endswith("/bin/sh -c test -e one.txt && echo checked")
    assert f"/l{row.id}" in call
    assert ("--unshare-net" in call) == (preset == "strict")


@pytest.mark.requirement("R458")
def test_checks_run_in_a_worktree_that_is_prepared_like_those_of_agents(harbour: Harbour) -> None:
    configuration = Path(harbour.shop.environ["HOME"], ".config/ramet/config.yaml")
    configuration.parent.mkdir(parents=True)
    configuration.write_text("worktree:\n  setup: echo $RAMET_PORT_BASE > prepared\n")
    harbour.add(harbour.work({"one.txt": "1\n"}), checks=['test "$(cat prepared)" = "$RAMET_PORT_BASE"'])
    assert harbour.land_next().state == "landed"


@pytest.mark.requirement("R407")
def test_what_the_target_has_is_tidied_and_the_rest_stays(harbour: Harbour) -> None:
    merged, squashed = harbour.work({"one.txt": "1\n"}), harbour.work({"two.txt": "2\n"})
    harbour.add(merged)
    harbour.add(squashed, method="squash")
    assert [row.state for row in harbour.land_all()] == ["landed", "landed"]
    assert harbour.shop.branches() == ["main", f"ramet/e{squashed.id}"]
    assert harbour.shop.run(harbour.project, "cat-file", "-t", squashed.git_head) == "commit"


@pytest.mark.requirement("R401")
def test_what_cannot_land_is_refused_with_a_fix(harbour: Harbour) -> None:
    effort = harbour.work({"one.txt": "1\n"})
    with pytest.raises(InvalidParams, match="there is no branch 'nowhere'"):
        harbour.plan(effort, onto="nowhere")
    with pytest.raises(InvalidParams, match="is a branch of Ramet's"):
        harbour.plan(effort, onto=effort.git_branch)
    with pytest.raises(LandingRefused, match="is queued"):
        harbour.plan(harbour.desk.add("implement"))
    harbour.add(effort)
    harbour.shop.run(harbour.project, "checkout", "-q", "--detach")
    harbour.shop.run(harbour.project, "branch", "-D", "main")
    stopped = harbour.land_next()
    assert (stopped.state, "the branch main does not exist any more" in stopped.reason) == ("stopped", True)


@pytest.mark.requirement("R402")
@pytest.mark.parametrize("point", POINTS)
def test_after_a_death_at_any_point_the_landing_is_taken_up_and_lands_once(harbour: Harbour, point: FaultPoint) -> None:
    start = harbour.tip
    harbour.add(harbour.work({"one.txt": "1\n"}), harbour.work({"two.txt": "2\n"}), checks=["test -e a.txt"])
    with pytest.raises(Death):
        harbour.land_next(DyingFaults(point))
    [candidate] = harbour.moves()[:1]
    assert candidate == start or point == "landing_moved"
    assert harbour.land_next(takes_over=True).state == "landed"
    assert [row.state for row in harbour.land_all()] == ["landed"]
    subjects = harbour.shop.run(harbour.project, "log", "--first-parent", "--format=%H", f"{start}..main").split()
    assert (len(subjects), harbour.status()) == (2, "")
    assert harbour.moves() == [*subjects, start]
