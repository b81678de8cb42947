"""Spelling: which words a misspelt one may have meant."""

from string import ascii_lowercase

_SHORT = 5


def allowed_edits(word: str) -> int:
    """How many letters may be wrong."""
    return 0 if len(word) < 4 else 1 if len(word) <= _SHORT else 2


def distance(first: str, second: str, most: int) -> int:
    """How many letters differ: inserted, left out, replaced, or two that changed places; counted up to `most` + 1."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        current = [row]
        for column, other in enumerate(second, 1):
            cost = min(above[column] + 1, current[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > most:
            return most + 1
        before, above = above, current
    return above[-1]


def prefixes(word: str) -> list[str]:
    """The beginnings that a word may have if its own has one wrong letter, each of two letters."""
    swapped = word[1] + word[0]
    skipped = word[1:3]
    added = [word[0] + word[2], word[0] + word[1]]
    return list(dict.fromkeys([word[:2], swapped, skipped, *added]))


def other_beginnings(word: str) -> list[str]:
    """The beginnings that a word may have if its first letter is wrong or missing, each of three letters."""
    letters = [letter for letter in ascii_lowercase if letter != word[0]]
    return [letter + rest for rest in (word[1:3], word[:2]) for letter in letters]


def best(word: str, known: list[tuple[str, int]]) -> str | None:
    """The known word that is nearest; of several, the commonest."""
    most = allowed_edits(word)
    scored = [(distance(word, each, most), -docs, each) for each, docs in known if each != word]
    found = min((entry for entry in scored if 0 < entry[0] <= most), default=None)
    return None if found is None else found[2]
