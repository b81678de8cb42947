"""Seeded corpora for search: conversations with questions about them, and code with descriptions of it.

Nothing in them was written by anybody: words are made of syllables, drawn as in real texts (few are common, most are
rare), and each question has some words of the place that answers it, some in another form, and some of elsewhere.
"""

import random
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

_ONSETS = tuple("b c d f g h k l m n p r s t v w z br cl dr fl gr pl qu st sh tr".split())  # noqa: SIM905
_NUCLEI = ("a", "e", "i", "o", "u", "ai", "ea", "oo", "ou")
_CODAS = ("", "l", "m", "n", "nd", "r", "rk", "st", "t", "x", "p")
_FILLERS = "what when where did the do you and with that how was for about which".split()  # noqa: SIM905
_ENDINGS = ("s", "ing", "ed", "er")
_VERBS = "add fix remove rename handle support avoid cache retry validate".split()  # noqa: SIM905


class Session(NamedTuple):
    """A session: its messages in order, each with who said it."""

    messages: list[tuple[str, str]]


class Question(NamedTuple):
    """A query, and the session that answers it."""

    text: str
    session: int


class Corpus(NamedTuple):
    """Sessions and questions about them."""

    sessions: list[Session]
    questions: list[Question]


def make_words(rng: random.Random, number: int) -> list[str]:
    """Different words, the commonest first."""
    words: dict[str, None] = {}
    while len(words) < number:
        syllables = rng.choices((1, 2, 3), (2, 5, 2))[0]
        words["".join(rng.choice(_ONSETS) + rng.choice(_NUCLEI) + rng.choice(_CODAS) for _ in range(syllables))] = None
    return list(words)


class Words:
    """Draws words as a real text has them."""

    def __init__(self, rng: random.Random, number: int) -> None:
        self.rng = rng
        self.known = make_words(rng, number)
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(number)))

    def draw(self, number: int) -> list[str]:
        return self.rng.choices(self.known, cum_weights=self._weights, k=number)


def conversations(seed: int = 1, sessions: int = 300, turns: int = 20, questions: int = 1000) -> Corpus:
    """People talk with agents; questions are about one thing that was said."""
    rng = random.Random(seed)
    words = Words(rng, 5000)
    topics = [rng.sample(words.known[60:], 60) for _ in range(40)]
    rare = make_words(rng, 9000)[5000:]
    made, asked = [], []
    for number in range(sessions):
        topic, own = rng.choice(topics), rng.sample(rare, 14)
        said = [_turn(rng, words, topic, own) for _ in range(turns)]
        made.append(Session([("user" if at % 3 == 0 else "assistant", text) for at, text in enumerate(said)]))
        texts = [_ask(rng, words, rng.choice(said), set(own), topic) for _ in range(1 + questions // sessions)]
        asked += [Question(text, number) for text in texts]
    rng.shuffle(asked)
    return Corpus(made, asked[:questions])


def _turn(rng: random.Random, words: Words, topic: list[str], own: list[str]) -> str:
    length = int(min(rng.lognormvariate(3.2, 0.8), 250)) + 5
    drawn = [
        *words.draw(int(length * 0.55)),
        *rng.choices(topic, k=int(length * 0.2)),
        *rng.choices(_FILLERS, k=int(length * 0.22)),
        *rng.choices(own, k=rng.choice((0, 1, 1, 2))),
    ]
    rng.shuffle(drawn)
    return " ".join(drawn)


def _ask(rng: random.Random, words: Words, said: str, own: set[str], topic: list[str]) -> str:
    """A question: some words of a turn, the special ones not always; a word of the topic, and one of nowhere."""
    spoken = [word for word in dict.fromkeys(said.split()) if word not in _FILLERS]
    special = [word for word in spoken if word in own][: rng.choice((0, 1, 1, 2))]
    kept = special + rng.sample(spoken, min(len(spoken), rng.randint(2, 4)))
    inflected = [word + rng.choice(_ENDINGS) if rng.random() < 0.25 else word for word in kept]
    asked = [*inflected, *rng.sample(topic, rng.choice((0, 1))), *words.draw(rng.choice((0, 1, 1, 2)))]
    rng.shuffle(asked)
    return " ".join([*rng.sample(_FILLERS, 3), *asked])


def code(seed: int = 2, sessions: int = 400, questions: int = 1000) -> Corpus:
    """Changes of code; questions describe a change by parts of its identifiers."""
    rng = random.Random(seed)
    words = Words(rng, 2500)
    made, asked = [], []
    for number in range(sessions):
        nouns = list(dict.fromkeys(words.draw(10) + rng.sample(words.known, 8)))
        changes = [_change(rng, words, nouns) for _ in range(rng.randint(3, 12))]
        said = [("user" if at % 4 == 0 else "assistant", text) for at, text in enumerate(changes)]
        made.append(Session(said))
        for _ in range(1 + questions // sessions):
            described = rng.sample(nouns, min(len(nouns), rng.randint(2, 4))) + words.draw(rng.choice((0, 1)))
            asked.append(Question(" ".join([rng.choice(_VERBS), *described]), number))
    rng.shuffle(asked)
    return Corpus(made, asked[:questions])


def _change(rng: random.Random, words: Words, nouns: list[str]) -> str:
    lines = []
    for _ in range(rng.randint(3, 18)):
        parts = rng.sample(nouns, 2) if rng.random() < 0.5 else words.draw(2)
        name = rng.choice((_camel, "_".join))(parts)
        lines.append(f"+    {name}({', '.join(words.draw(rng.randint(0, 3)))}) = {rng.choice(words.draw(1))}")
    return "\n".join([f"--- src/{rng.choice(nouns)}/{rng.choice(nouns)}.py", *lines])


def _camel(parts: list[str]) -> str:
    return parts[0] + "".join(part.capitalize() for part in parts[1:])


def many_messages(seed: int, number: int) -> Iterator[tuple[str, str]]:
    """Messages of about 700 bytes without end: what a large index is made from."""
    rng = random.Random(seed)
    words = Words(rng, 60_000)
    for at in range(number):
        length = int(min(rng.lognormvariate(4.1, 0.7), 600)) + 8
        text = " ".join(words.draw(length))
        yield ("user" if at % 12 == 0 else "assistant"), text
