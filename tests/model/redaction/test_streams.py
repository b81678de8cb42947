"""A secret that arrives in pieces is redacted, wherever it is cut; what cannot be one is passed on at once."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.redaction.assigned import plant_assigned
from tests.model.redaction.planted import Maker, Planted, is_left, plant_keys, plant_tokens

from ramet.model.redaction import Redactor
from ramet.model.redaction.streams import MOST_HELD, split


def stream(pieces: list[str]) -> str:
    """The pieces as they are passed on, each as soon as it can be, and redacted on its own."""
    redactor, waiting, passed = Redactor(), "", []
    for piece in pieces:
        ready, waiting = split(waiting + piece, redactor)
        passed.append(redactor.redact(ready).text)
    return "".join([*passed, redactor.redact(waiting).text])


def cut(text: str, maker: random.Random) -> list[str]:
    places = sorted(maker.sample(range(len(text) + 1), min(maker.randint(1, 5), len(text))))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def sample() -> list[Planted]:
    every = [*plant_tokens(340, 1), *plant_keys(340, 1), *plant_assigned(340, 1)]
    return random.Random(340).sample(every, 400)


@pytest.mark.requirement("R340")
def test_a_planted_secret_is_found_however_its_text_is_cut_into_pieces() -> None:
    maker = random.Random(1)
    redactor = Redactor()
    found = [each for each in sample() if not is_left(each, redactor.redact(each.text).text)]
    missed = [each.source for each in found if is_left(each, stream(cut(each.text, maker)))]
    assert len(missed) <= len(found) // 100, missed


@pytest.mark.requirement("R340")
@pytest.mark.parametrize("size", [1, 2, 7, 20])
def test_a_token_is_found_in_pieces_of_any_size(size: int) -> None:
    token = Maker(2).expand("sk-ant-api03-{b93}AA")
    text = f"I use\n{token} here, and\nnothing else.\n"
    seen = stream([text[at : at + size] for at in range(0, len(text), size)])
    assert token[20:40] not in seen
    assert seen.startswith("I use\n[REDACTED:anthropic:")
    assert seen.endswith(" here, and\nnothing else.\n")


def test_whole_lines_and_words_are_passed_on_at_once() -> None:
    assert split("done\n", Redactor()) == ("done\n", "")
    assert split("Continue? [y/N] ", Redactor()) == ("Continue? [y/N] ", "")
    assert split("half a wor", Redactor()) == ("half a ", "wor")


def test_a_text_without_end_waits_only_up_to_a_bound_and_is_cut_where_no_secret_is() -> None:
    token = Maker(3).expand("ghp_{a36}")
    text = "x" * MOST_HELD + "," + token + "," + "y" * 4080
    ready, waiting = split(text, Redactor())
    assert ready + waiting == text
    assert len(waiting) <= MOST_HELD
    assert token in ready or token in waiting


@given(st.lists(st.text(alphabet="ab \n:=-password", max_size=20), max_size=6))
def test_nothing_is_lost_between_pieces(pieces: list[str]) -> None:
    waiting, passed = "", ""
    for piece in pieces:
        ready, waiting = split(waiting + piece, Redactor())
        passed += ready
    assert passed + waiting == "".join(pieces)
