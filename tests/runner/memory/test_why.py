"""Where lines come from: agents and people in one repository, with real git, on both databases."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conformance import queue_worker
from tests.runner.desk import Desk
from tests.runner.memory.agent_work import CART, Call, Office, commands, edits, writes

from ramet.errors import FileMissing, Forbidden, InvalidParams, PathOutside, ProjectNotFound
from ramet.model.memory.edited_lines import compare_files, hash_lines, pack
from ramet.protocol.memory.edits import NewEdit, RecordEdits

FILE = "src/cart.py"
GREETING = "    print('welcome to the shop')\n"


@pytest.fixture
def office(desk: Desk) -> Office:
    return Office(desk)


def _merge(office: Office, branch: str) -> None:
    office.git("merge", "-q", "--no-ff", "-m", "merge", branch)


def _rebase(office: Office, branch: str) -> None:
    office.commit("README", "moved on\n")
    office.git("checkout", "-q", branch)
    office.git("rebase", "-q", "main")
    office.git("checkout", "-q", "main")
    office.git("merge", "-q", "--ff-only", branch)


def _squash(office: Office, branch: str) -> None:
    office.git("merge", "-q", "--squash", branch)
    office.git("commit", "-q", "-m", "a cart")
    office.git("branch", "-D", "-q", branch)


LANDINGS: dict[str, Callable[[Office, str], None]] = {"merge": _merge, "rebase": _rebase, "squash": _squash}


@pytest.mark.requirement("R395")
@pytest.mark.parametrize("landing", LANDINGS)
def test_a_line_names_its_commit_edit_prompt_effort_and_task(office: Office, landing: str) -> None:
    done = office.run(writes(FILE, CART), prompt="add a cart with discounts")
    LANDINGS[landing](office, done.branch)
    reply = office.why(FILE, 3)
    (part,), (source,) = reply.ranges, reply.sources
    assert (part.first, part.last, part.certainty) == (3, 3, "edit")
    assert part.git_commit == office.git("log", "-1", "--format=%H", "--", FILE).strip()
    assert (source.effort_id, source.session_id, source.driver) == (done.effort_id, done.session_id, "claude")
    assert (source.edit.tool, source.edit.kind, source.task_id) == ("Write", "tool", office.desk.task)
    assert source.prompt == "go"  # what the agent was given, which may say more than what was asked for
    assert reply.text.strip() == "discount = find_discount(cart.customer)"


@pytest.mark.requirement("R395")
@pytest.mark.parametrize("landing", ["rebase", "squash"])
def test_lines_of_agents_survive_renames_new_indentation_moves_and_wrapping(office: Office, landing: str) -> None:
    done = office.run(writes(FILE, CART))
    LANDINGS[landing](office, done.branch)
    (office.top / FILE).unlink()
    office.commit("src/basket.py", CART)
    office.commit("src/basket.py", "class Basket:\n" + "".join(f"    {line}\n" for line in CART.splitlines()))
    wrapped = (office.top / "src/basket.py").read_text()
    wrapped = wrapped.replace("find_discount(cart.customer)", "find_discount(\n            cart.customer,\n        )")
    office.commit("src/basket.py", wrapped)
    found = office.efforts_of("src/basket.py")
    assert found[0] is None
    assert found[1:4] == [done.effort_id] * 3
    assert found[-1] == done.effort_id


@pytest.mark.requirement("R395")
def test_lines_of_people_are_unknown_even_if_an_agent_wrote_the_same(office: Office) -> None:
    done = office.run(writes(FILE, CART))
    _squash(office, done.branch)
    office.commit("src/shop.py", "import cart\n\n\ndef open_shop():\n    return amount - discount\n")
    copied = CART.replace("def total", "def sum_up")
    office.commit(FILE, CART + "\n\n" + copied)
    assert office.efforts_of(FILE) == [done.effort_id] * 4 + [None] * 4
    assert office.efforts_of("src/shop.py") == [None] * 3


@pytest.mark.requirement("R395")
def test_a_line_that_a_person_deletes_and_types_again_is_unknown(office: Office) -> None:
    done = office.run(writes(FILE, CART))
    _squash(office, done.branch)
    line = "    discount = find_discount(cart.customer)\n"
    office.commit(FILE, CART.replace(line, ""))
    office.commit(FILE, CART)
    assert office.efforts_of(FILE) == [done.effort_id, done.effort_id, None, done.effort_id]


@pytest.mark.requirement("R395")
def test_the_work_of_an_effort_that_never_landed_is_nobodys_when_a_person_types_a_line_of_it(office: Office) -> None:
    office.run(edits("src/shop.py", GREETING, GREETING + "    play_some_music(volume=7)\n"))
    office.commit("src/shop.py", f"import cart\n\n\ndef open_shop():\n{GREETING}    play_some_music(volume=7)\n")
    assert office.efforts_of("src/shop.py") == [None] * 4


@pytest.mark.requirement("R395")
def test_lines_of_a_command_belong_to_the_effort(office: Office) -> None:
    done = office.run(commands(FILE, CART))
    _merge(office, done.branch)
    reply = office.why(FILE, 2)
    assert (reply.ranges[0].certainty, reply.sources[0].edit) == ("effort", None)
    assert reply.sources[0].effort_id == done.effort_id


def test_a_whole_file_is_shown_as_ranges_with_shares(office: Office) -> None:
    done = office.run(
        edits("src/shop.py", GREETING, GREETING + "    cart.check_all_prices()\n    cart.refill_shelves()\n")
    )
    _merge(office, done.branch)
    reply = office.why("src/shop.py")
    assert [(part.first, part.last, part.certainty) for part in reply.ranges] == [(1, 5, "unknown"), (6, 7, "edit")]
    assert (reply.lines, reply.agent_lines, reply.unknown_lines) == (7, 2, 5)
    assert office.why("src/shop.py", 4, 6).lines == 3


def test_an_agent_in_the_checkout_of_a_person_is_known_before_and_after_the_commit(office: Office) -> None:
    added = GREETING + "    cart.check_all_prices()\n    cart.refill_shelves()\n"
    done = office.run(edits("src/shop.py", GREETING, added), in_place=True)
    (office.top / "src/shop.py").write_text((office.top / "src/shop.py").read_text() + "    print('by a person')\n")
    expected = [None, None, None, done.effort_id, done.effort_id, None]
    assert office.efforts_of("src/shop.py") == expected
    assert office.why("src/shop.py", 6).ranges[0].git_commit is None
    office.git("commit", "-q", "-a", "-m", "together")
    assert office.efforts_of("src/shop.py") == expected


def test_a_file_that_an_agent_wrote_over_without_showing_what_was_there_is_unknown(office: Office) -> None:
    old = (office.top / "src/shop.py").read_text()

    def overwrites(tree: Path) -> Call:
        writes("src/shop.py", old + CART)(tree)
        return "Write", {"file_path": str(tree / "src/shop.py"), "content": old + CART}, "The file has been updated"

    office.run(overwrites, in_place=True)
    office.git("commit", "-q", "-a", "-m", "together")
    assert set(office.efforts_of("src/shop.py")) == {None}


def test_a_line_with_a_secret_is_found_by_its_redacted_form(office: Office) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = CART.replace("find_discount(cart.customer)", f"'{token}'")
    done = office.run(writes(FILE, text))
    _squash(office, done.branch)
    reply = office.why(FILE, 3)
    assert reply.sources[0].effort_id == done.effort_id
    assert token not in reply.text


def test_each_kind_of_bad_input_has_its_own_error(office: Office) -> None:
    office.commit("src/old.py", CART)
    office.git("mv", "src/old.py", "src/new.py")
    office.git("commit", "-q", "-m", "rename")
    office.commit("logo.bin", "a\0b")
    (office.top / "untracked.py").write_text("x = 1\n")
    (office.top / "link").symlink_to("/etc")
    with pytest.raises(FileMissing, match=r"renamed to src/new.py"):
        office.why("src/old.py")
    with pytest.raises(FileMissing, match="there is no file"):
        office.why("src/nothing.py")
    with pytest.raises(InvalidParams, match="is a binary file"):
        office.why("logo.bin")
    with pytest.raises(InvalidParams, match="is a directory"):
        office.why("src")
    with pytest.raises(InvalidParams, match="not tracked"):
        office.why("untracked.py")
    with pytest.raises(InvalidParams, match="there is no line 99: the file has 4 lines"):
        office.why("src/new.py", 99)
    with pytest.raises((PathOutside, InvalidParams, ProjectNotFound)):
        office.why("link/passwd")
    with pytest.raises(InvalidParams, match="not in a git repository"):
        office.desk.call("memory.why", path="/etc/passwd")


def test_an_agent_can_only_ask_about_its_own_project(office: Office) -> None:
    attempt = queue_worker.start(office.desk.world)
    with pytest.raises(Forbidden, match="cannot access"):
        office.why("src/shop.py", session_id=attempt.session.id)


@pytest.mark.requirement("R395")
def test_notes_name_efforts_and_lines_but_no_prompt_and_are_written_once(office: Office) -> None:
    done = office.run(writes(FILE, CART), prompt="add a cart with discounts")
    _squash(office, done.branch)
    first = office.desk.call("memory.notes.export", path=str(office.top))
    note = office.git("notes", "--ref=ramet", "show", "HEAD")
    assert note == f"ramet-attribution 1\n{FILE}\n  e{done.effort_id} s{done.session_id} 1-4"
    again = office.desk.call("memory.notes.export", path=str(office.top))
    assert (first.written, again.written, again.unchanged) == (1, 0, 1)
    assert not re.search("discount", note)


@pytest.mark.requirement("R395")
@pytest.mark.parametrize("has_child", [False, True])
def test_lines_that_a_command_was_seen_to_write_name_it_unless_children_shared_the_worktree(
    office: Office, *, has_child: bool
) -> None:
    done = office.run(commands(FILE, CART))
    _merge(office, done.branch)
    (call,) = office.desk.world.call("memory.edits.calls", session_id=done.session_id).items
    if has_child:
        child = office.desk.add("do", "a child")
        office.desk.world.sql("UPDATE efforts SET spawned_by = :by WHERE id = :id", by=done.session_id, id=child.id)
    lines = pack(compare_files([], hash_lines(CART)))
    seen = {"kind": "shell", "path": FILE, "at_ms": call.at_ms, "message_id": call.message_id}
    for _ in range(2):  # the same one again changes nothing
        office.desk.ask(
            RecordEdits(effort_id=done.effort_id, session_id=done.session_id, edits=[NewEdit(**seen, lines=lines)])
        )
    reply = office.why(FILE, 2)
    (source,) = reply.sources
    if has_child:
        assert (reply.ranges[0].certainty, source.edit) == ("effort", None)
    else:
        assert (reply.ranges[0].certainty, source.edit.kind, source.edit.command) == ("edit", "shell", f"make {FILE}")
