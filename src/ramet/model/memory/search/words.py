"""The words of a text, as the index sees them: parts of identifiers, pairs of Chinese, Japanese and Korean characters.

The index's own tokenizer splits at everything that is no letter or digit, so `snake_case` and paths need no help here.
What it cannot split is written beside the text (`parts`), at indexing and in a query alike. `SPLITTER` is the version
of these rules: an index that was written with others is built again.
"""

import re
from itertools import islice

SPLITTER = 1

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{2,}")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_MOST_PARTS = 2000
_MOST_SYMBOLS = 40
_LONGEST_SYMBOL = 80

_COMMON = """
a about after all also am an and any are as at be because been before but by can could did do does doing for from get
got had has have he her here him his how i if in into is it its just me my no not of off on one or other our out over
own s same she should so some such t than that the their them then there these they this those to too under up us very
was we were what when where which while who whom why will with would you your
"""

STOP_WORDS = frozenset(_COMMON.split())
"""Words that are in nearly every text. A query leaves them out unless it has no others."""


def split_identifier(word: str) -> list[str]:
    """The parts of `camelCase` and `HTTPServer`, in lower case; nothing if the word has only one."""
    parts = [part.lower() for part in _HUMPS.findall(word)]
    return parts if len(parts) > 1 else []


def pair_characters(run: str) -> list[str]:
    """The overlapping pairs of a run of characters: no rule could find the words of a script without spaces."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def find_parts(text: str) -> str:
    """What is written beside a text: each identifier's parts once, and the pairs of its other scripts."""
    # Most words are all small or have one large letter in front: this runs for every text, so they are passed over.
    names = [word for word in dict.fromkeys(_NAME.findall(text)) if not word[1:].islower() and not word.isupper()]
    found = [" ".join(parts) for word in names if (parts := split_identifier(word))]
    if not text.isascii():
        found += [" ".join(pair_characters(run)) for run in _CJK.findall(text)]
    return " . ".join(found[:_MOST_PARTS])


def find_symbols(text: str) -> list[str]:
    """The first identifiers of a text that have several parts, each once. The index itself splits `snake_case`, but
    no rule could find `username` in `getUserName`.
    """
    names = (word for word in dict.fromkeys(_NAME.findall(text)) if not word[1:].islower() and not word.isupper())
    symbols = (word for word in names if len(word) <= _LONGEST_SYMBOL and len(split_identifier(word)) > 1)
    return list(islice(symbols, _MOST_SYMBOLS))


def is_humped(word: str) -> bool:
    """Whether a word is an identifier that has parts."""
    return word.isascii() and len(split_identifier(word)) > 1


def split_scripts(word: str) -> list[tuple[str, bool]]:
    """A word in pieces, each with whether it is of a script that is written without spaces."""
    pieces, at = [], 0
    for match in _CJK.finditer(word):
        if match.start() > at:
            pieces.append((word[at : match.start()], False))
        pieces.append((match.group(), True))
        at = match.end()
    return [*pieces, (word[at:], False)] if at < len(word) else pieces
