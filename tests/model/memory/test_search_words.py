"""How texts and queries are read for search: parts of words, spelling, fusion, snippets, tool calls."""

import pytest

from ramet.model.memory.search import misspelt_words
from ramet.model.memory.search.fusion import LARGEST_BOOST, Signals, boost, fuse, rank_sessions
from ramet.model.memory.search.search_query import parse
from ramet.model.memory.search.tool_records import find_error_line, read_call, read_outcome, sign
from ramet.model.memory.search.words import find_parts, split_identifier
from ramet.store.memory.index.index_reader import Ranked

NOW = 1_800_000_000_000


def ranked(number: int, rank: float, kind: str = "answer", age_ms: int = 10**11, **facts: bool) -> Ranked:
    is_below = facts.get("is_below", False)
    return Ranked(number, None, number, 1, 1, kind, NOW - age_ms, is_below, rank)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["get", "user", "name"]),
        ("HTTPServer", ["http", "server"]),
        ("parseX509", ["parse", "x", "509"]),
        ("plain", []),
        ("Title", []),
        ("UPPER", []),
    ],
)
def test_an_identifier_has_the_parts_that_its_letters_show(word: str, parts: list[str]) -> None:
    assert split_identifier(word) == parts


def test_parts_are_written_once_and_scripts_without_spaces_as_pairs() -> None:
    assert find_parts("getUserName and getUserName of a Plain THING") == "get user name"
    assert find_parts("数据库") == "数据 据库"


def test_a_colon_inside_a_word_is_no_filter() -> None:
    query = parse("https://example.org/a std::vector main.py:12 since:7d")
    assert query.filters == {"since": "7d"}
    assert [term.text for term in query.terms][:2] == ["https://example.org/a", "std::vector"]


@pytest.mark.parametrize(
    ("wrong", "right"), [("polcy", "policy"), ("retyr", "retry"), ("dictionnary", "dictionary"), ("ploicy", "policy")]
)
def test_a_misspelt_word_finds_the_nearest_known_one(wrong: str, right: str) -> None:
    known = [("policy", 3), ("police", 1), ("retry", 2), ("dictionary", 1), ("unrelated", 9)]
    assert misspelt_words.best(wrong, known) == right
    assert any(right.startswith(start) for start in misspelt_words.prefixes(wrong))


def test_short_words_are_not_corrected() -> None:
    assert misspelt_words.best("cat", [("car", 5)]) is None


def test_no_signal_turns_a_clear_order_round() -> None:
    clear, loved = ranked(1, -10.0), ranked(2, -10.0 / (1 + LARGEST_BOOST) + 0.01, "decision", age_ms=0)
    signals = Signals(NOW, own_project=1)
    assert boost(loved, signals) <= LARGEST_BOOST
    scores = fuse([clear, loved], [], {}, Signals(NOW))
    assert scores["text", 1] > scores["text", 2]
    near = ranked(3, -9.9, "decision", age_ms=0)
    scores = fuse([clear, near], [], {}, Signals(NOW))
    assert scores["text", 3] > scores["text", 1]


def test_subagents_stand_five_ranks_lower() -> None:
    texts = [ranked(1, -9.0, is_below=True), *(ranked(number, -9.0 + number / 10) for number in range(2, 9))]
    scores = fuse(texts, [], dict.fromkeys(range(1, 9), 0), Signals(NOW))
    order = sorted(scores, key=lambda key: (-scores[key], key))
    assert [number for _, number in order].index(1) >= 4


def test_sessions_are_ranked_by_rare_words_before_common_ones() -> None:
    assert rank_sessions([{1: 1}, {2: 3, 3: 2, 4: 1}], 10) == {1: 0, 2: 1, 3: 2, 4: 3}


def test_a_call_is_read_as_a_command_an_edit_or_a_path() -> None:
    assert read_call("Bash", '{"command": "make test", "cwd": "/w"}').command == "make test"
    assert read_call("shell", '{"command": ["bash", "-lc", "ls -l"]}').command == "ls -l"
    edit = read_call("Edit", '{"file_path": "/a.py", "old_string": "x", "new_string": "y"}')
    assert (edit.kind, edit.paths) == ("edit", ["/a.py"])
    patch = read_call("apply_patch", '{"input": "*** Begin Patch\\n*** Update File: b.py\\n+y"}')
    assert (patch.kind, patch.paths) == ("edit", ["b.py"])
    assert read_call("Read", '{"file_path": "/c.py"}').kind == "path"
    assert read_call("Odd", "no json").kind == "command"


def test_the_same_error_has_the_same_signature_elsewhere() -> None:
    one = sign("KeyError: 'name' at 0x7f3a in /home/ada/a.py:12")
    assert one == sign("KeyError: 'name' at 0x99ff in /srv/b/c.py:340")
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: no such walrus\n'
    assert find_error_line(trace) == "ValueError: no such walrus"
    outcome = read_outcome("Exit code: 3\nfatal: not a git repository", None)
    assert (outcome.is_error, outcome.exit_status, outcome.kind) == (True, 3, "error")
    assert not read_outcome("all 3 errors were fixed", "success").is_error
