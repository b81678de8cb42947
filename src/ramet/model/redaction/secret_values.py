"""Whether a value that is assigned to a name is a secret: by the name, by where it stands, and by how it looks.

A name alone says little (`token = get_token()`, `password: str`, `max_tokens: 4096`), and a value alone says little
(hashes, ids and encoded images are as random as keys). So the less a name says, the more random its value must be.
"""

import re
import string
from enum import Enum
from functools import cache
from itertools import pairwise
from operator import ne
from typing import NamedTuple

from ramet.model.redaction.secret_names import Strength, words


class Place(Enum):
    """Where a value stands, which says whether it can be code."""

    QUOTED = 0
    LITERAL = 1
    """In `.env`, a shell or a query, where no code can be."""
    FIELD = 2
    """The rest of a line of YAML or of a header."""
    BARE = 3
    """Somewhere in a line, without quotes."""


_TRIVIAL = words("""
    admin always any apikey array attribute aws4-hmac-sha256 basic bearer bool boolean buffer bytes change_me
    changeit changeme comment confirm confirmation constant current current_password default digest disabled
    email empty enabled entity environ environment example false field file function getpass hidden identifier
    inherit input int integer interactive invalid iso-8859-1 key keyring keyword latin-1 login markup masked
    mypassword mysecret mytoken never new_password nil none null nullable number object old_password operator
    optional optionalstring override pass passphrase passwd password password1 password123 password_here
    passwort placeholder previous private prompt prompted property protected public punctuation pwd readonly
    redacted required root secret secrets self sometimes static stdin storage str string support test text this
    token token_here true undefined unique unknown unset user username utf-8 value values varchar variable
    visible void yourapikey yourpassword yoursecret yourtoken
""")
"""What is behind a name and says nothing."""


class _Look(NamedTuple):
    """What a value is made of."""

    digits: int
    uppers: int
    lowers: int
    others: int
    turns: float
    """How often its neighbours are of different kinds: near 0.6 if it is random, near 0.1 in words."""

    @property
    def letters(self) -> int:
        return self.uppers + self.lowers


@cache
def _paths() -> re.Pattern[str]:
    return re.compile(r"(?:[A-Za-z]:|[.~]{0,2})(?:[/\\][\w.@ -]+){2,}[/\\]?|[.~]{1,2}/.*|/[a-z]+(?:/[\w.-]+)*")


@cache
def _code() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$#][\w$]*)*[!?]?")


@cache
def _digit() -> re.Pattern[str]:
    return re.compile(r"[0-9]")


@cache
def _not_values() -> re.Pattern[str]:
    """What stands for a value that is elsewhere, or for none; a URL, which is read as one; a hash that says so."""
    return re.compile(
        r"\A(?i:(?:sha[0-9]{1,3}|md5|h1|blake[0-9a-z]+|data|urn)[-:~])|://|\[REDACTED:|\*\*\*|\A(?:\$|\{\{|%[({]|#\{|@\{|<[^>]*>?$|\*+$|x+$|X+$|\.+$|-+$|_+$|•+$|arn:|vault:|env:|file:|op://|!(?:Ref|Sub|vault|secret|env|GetAtt|reference)\b|&[a-z]|\\\(|"
        r"(?:process|import\.meta|os|sys|self|this|settings|config|options|props|args|ctx|req|request|env|data|state)\b\.)"
    )


@cache
def _examples() -> re.Pattern[str]:
    """What tells a reader to put something there."""
    return re.compile(
        r"(?i)(?:(?:your|my|the|some|enter|insert|replace|put|add)[-_ ][a-z_ -]*|[a-z_ -]*[-_ ]here)[.!]?"
    )


@cache
def _separators() -> re.Pattern[str]:
    return re.compile(r"[-_.]")


@cache
def _uuids() -> re.Pattern[str]:
    return re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@cache
def _hex() -> re.Pattern[str]:
    return re.compile(r"(?:0x)?[0-9a-f]+|(?:0x)?[0-9A-F]+")


def is_secret(value: str, named: Strength, place: Place) -> bool:
    """Whether a value is a secret, if its name says so much."""
    if len(value) < 4 or named is Strength.NEVER or (named is not Strength.STRONG and not _digit().search(value)):
        return False
    if value.lower().strip("_-<>") in _TRIVIAL or _not_values().search(value) or _examples().fullmatch(value):
        return False
    look = _look(value)
    match named:
        case Strength.STRONG:
            return _is_password(value, look, place)
        case Strength.WEAK:
            return _is_token(value, look, place)
        case _:
            return _is_random(value, look, place)


def is_varied(token: str) -> bool:
    """Whether it alternates as no identifier does."""
    return _look(token).turns >= 0.3


@cache
def _kinds() -> dict[int, str]:
    """Of each character below 128, whether it is a digit, an upper or a lower letter; all others are "o"."""
    groups = {"d": string.digits, "u": string.ascii_uppercase, "l": string.ascii_lowercase}
    others = dict.fromkeys(range(128), "o")
    return others | {ord(character): kind for kind, group in groups.items() for character in group}


def _look(value: str) -> _Look:
    kinds = value.translate(_kinds())
    digits, uppers, lowers = kinds.count("d"), kinds.count("u"), kinds.count("l")
    turns = sum(map(ne, kinds, kinds[1:])) / max(len(kinds) - 1, 1)
    return _Look(digits, uppers, lowers, len(kinds) - digits - uppers - lowers, turns)


def _is_password(value: str, look: _Look, place: Place) -> bool:
    """Behind a name that says it: whatever is not code and no word about it."""
    if any(character.isspace() for character in value):
        return place is Place.QUOTED and _is_passphrase(value)
    if _paths().fullmatch(value) and look.turns < 0.4:
        return False
    match place:
        case Place.LITERAL:
            return True
        case Place.BARE if set(value) & _CODE_SIGNS:
            return False
        case Place.BARE if _code().fullmatch(value):
            return "." not in value and look.digits >= 2 and look.turns >= (0.2 if len(value) >= 16 else 0.3)
    return _is_word(value, look) if not look.digits else _is_numbered(value, look, place)


def _is_numbered(value: str, look: _Look, place: Place) -> bool:
    """With digits: not what looks like the name of the second of something."""
    if not look.letters:
        return len(value) >= 6 and place is Place.QUOTED
    return place is Place.QUOTED or look.digits >= 2 or look.turns >= 0.25 or not _code().fullmatch(value)


def _is_word(value: str, look: _Look) -> bool:
    """Without digits: long enough in small letters, or as mixed as no name is."""
    if look.others:
        is_marked = not _code().fullmatch(value) and bool(set(value) - _WORD_MARKS or look.others >= 3)
        return len(value) >= 6 and (is_marked or (look.turns >= 0.3 and len(value) >= 16))
    if look.lowers == len(value):
        return len(value) >= 8
    return look.turns >= 0.4 and len(value) >= 12


def _is_passphrase(value: str) -> bool:
    words = value.split(" ")
    are_words = all(word.isalpha() and word.islower() and 3 <= len(word) <= 12 for word in words)
    return 4 <= len(words) <= 12 and are_words and not _PROSE & set(words)


_CODE_SIGNS = frozenset("()[]{}<>;,|")
_WORD_MARKS = frozenset(string.ascii_letters + "_-. /:'")
_PROSE = words("""
    about again and any are been before but can cannot change check choose confirm current did does enter field
    for forgot from has have into invalid least longer match missing must new not old one only passphrase password
    please provide repeat required reset set should than that the this too use user valid was when which will with
    wrong you your
""")
"""Words of sentences about passwords."""


def _is_token(value: str, look: _Look, place: Place) -> bool:
    """Behind a name that may mean one: random, or too long a number in base 16 to mean anything else."""
    if any(character.isspace() for character in value) or _paths().fullmatch(value):
        return False
    if _uuids().fullmatch(value) or (_hex().fullmatch(value) and len(value) >= 16):
        return look.digits > 0 and look.letters > 0
    if set(value) & _CODE_SIGNS or not look.digits or not look.letters:
        return False
    shortest, turns = (12, 0.2) if place is not Place.BARE else (16, 0.25)
    return len(value) >= shortest and look.turns >= turns


def _is_random(value: str, look: _Look, place: Place) -> bool:
    """Behind any name: only what nobody would write by hand, and what is no hash and no id."""
    if not 20 <= len(value) <= 160 or place is Place.BARE or _hex().fullmatch(value) or _uuids().fullmatch(value):
        return False
    if set(value) - _ENCODED or _paths().fullmatch(value) or value.startswith("_Z"):
        return False
    is_mixed = look.digits and look.uppers >= 3 and look.lowers >= 3 and look.turns >= 0.38
    longest = max(map(len, _separators().split(value)))
    return bool(is_mixed) and longest >= 12 and len(set(value)) >= 13 and not _is_counted(value)


_ENCODED = frozenset(string.ascii_letters + string.digits + "+/=_-.~")


def _is_counted(value: str) -> bool:
    """Whether it goes through an alphabet, as tables of characters do."""
    steps = sum(ord(other) - ord(one) == 1 for one, other in pairwise(value))
    return steps > len(value) // 4
