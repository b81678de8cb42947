"""A shell command, taken apart without running it: which programs it starts, with which words, and what it redirects.

A permission rule speaks of the words that a program is given. So a command is understood only if its words are known
before it runs: a substitution, a variable, an assignment in front of it or a construct of the shell's own language is
refused with a reason, never guessed. The parser knows what POSIX shells, bash and zsh agree on, and refuses the rest.
"""

import unicodedata
from typing import NamedTuple, NoReturn

_NEXT = frozenset(";&|\n")
_BLANKS = frozenset(" \t")
_GLOB = frozenset("*?[")
_RESERVED = frozenset(
    [
        "!",
        "[[",
        "]]",
        "{",
        "}",
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "foreach",
        "function",
        "if",
        "in",
        "repeat",
        "select",
        "then",
        "time",
        "until",
        "while",
        "nocorrect",
        "noglob",
        "-",
    ]
)
"""Words of the shell's language: what follows them is not an argument."""
_QUOTED_ESCAPES = frozenset('$`"\\\n')
_LONGEST = 10_000


class Word(NamedTuple):
    """One word, without its quotes."""

    text: str
    is_exact: bool = True
    """False if the shell may replace it: a file pattern, or a home directory."""


class SimpleCommand(NamedTuple):
    """One program and its arguments."""

    words: tuple[Word, ...]
    writes: tuple[str, ...] = ()
    """The files that its output is redirected to."""
    reads: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]


class NotUnderstood(Exception):
    """What a command does cannot be known before it runs. The message says why."""


def split(command: str) -> list[SimpleCommand]:
    """The programs that a command starts, in order. `NotUnderstood` if one of them cannot be known."""
    if len(command) > _LONGEST:
        raise NotUnderstood(f"it has more than {_LONGEST:,} characters")
    for character in command:
        _check(character)
    found = _Parser(command).parse()
    if not found:
        raise NotUnderstood("it is empty")
    return found


def _check(character: str) -> None:
    """Refuse what people and shells may see differently."""
    if character in "\n\t" or " " <= character <= "~":
        return
    category = unicodedata.category(character)
    if category[0] in "ZC":
        raise NotUnderstood(f"it has the invisible character U+{ord(character):04X}")


class _Parser:
    """Reads one command line from left to right."""

    def __init__(self, command: str) -> None:
        self._rest = command
        self._at = 0
        self._commands: list[SimpleCommand] = []
        self._words: list[Word] = []
        self._writes: list[str] = []
        self._reads: list[str] = []
        self._must_follow = False

    def parse(self) -> list[SimpleCommand]:
        while self._at < len(self._rest):
            character = self._rest[self._at]
            if character in _BLANKS:
                self._at += 1
            elif self._rest.startswith("\\\n", self._at):
                self._at += 2
            elif self._rest.startswith("&>", self._at):
                self._at += 1
                self._redirect("")
            elif character in _NEXT:
                self._end(self._operator())
            elif character in "<>":
                self._redirect("")
            elif character in "()":
                _refuse("it has parentheses, which start another shell")
            elif character == "#":
                _refuse("it has a comment")
            else:
                self._word()
        if self._must_follow and not self._words:
            _refuse("it ends with an operator")
        self._end("\n")
        return self._commands

    def _operator(self) -> str:
        for operator in ("&&", "||", "|&", ";;"):
            if self._rest.startswith(operator, self._at):
                self._at += 2
                return operator
        self._at += 1
        return self._rest[self._at - 1]

    def _end(self, operator: str) -> None:
        """The end of one simple command."""
        if operator == ";;":
            _refuse("it has the operator ;;")
        if not self._words:
            if self._writes or self._reads:
                _refuse("it redirects without a command")
            if operator != "\n":
                _refuse(f"nothing is in front of {operator}")
            return
        first = self._words[0].text
        if first in _RESERVED:
            _refuse(f"{first!r} belongs to the shell's own language")
        if _is_assignment(first):
            _refuse(f"it sets the variable {first.partition('=')[0]} for the command")
        self._commands.append(SimpleCommand(tuple(self._words), tuple(self._writes), tuple(self._reads)))
        self._must_follow = operator in ("&&", "||", "|", "|&")
        self._words, self._writes, self._reads = [], [], []

    def _redirect(self, descriptor: str) -> None:
        """`> file`, `2>&1` and their like. `descriptor` is the number in front of it."""
        is_input = self._rest[self._at] == "<"
        operator = self._rest[self._at]
        self._at += 1
        if self._at < len(self._rest) and self._rest[self._at] in "<>&|(":
            operator += self._rest[self._at]
            self._at += 1
        if operator in ("<<", "<>", "<(", ">(", "<|"):
            _refuse(f"it has {operator}")
        while self._at < len(self._rest) and self._rest[self._at] in _BLANKS:
            self._at += 1
        if self._at >= len(self._rest) or self._rest[self._at] in (*_NEXT, *"<>()#"):
            _refuse(f"nothing follows {descriptor}{operator}")
        target = self._read_word()
        if not target.is_exact:
            _refuse(f"it redirects to {target.text}, which the shell may replace")
        if operator in (">&", "<&") and (target.text.rstrip("-").isdecimal() or target.text == "-"):
            return
        if target.text != "/dev/null":
            (self._reads if is_input else self._writes).append(target.text)

    def _word(self) -> None:
        start = self._at
        word = self._read_word()
        is_next_redirection = self._at < len(self._rest) and self._rest[self._at] in "<>"
        if is_next_redirection and self._rest[start : self._at].isdecimal():
            return self._redirect(word.text)
        return self._words.append(word)

    def _read_word(self) -> Word:
        text, is_exact, start = "", True, self._at
        while self._at < len(self._rest):
            character = self._rest[self._at]
            if character in _BLANKS or character in _NEXT or character in "<>()":
                break
            self._at += 1
            match character:
                case "'":
                    text += self._single_quoted()
                case '"':
                    text += self._double_quoted()
                case "\\":
                    text += self._escaped()
                case "$" | "`":
                    _refuse(_SUBSTITUTION)
                case "{" | "}":
                    _refuse("it has braces, which the shell may expand")
                case _:
                    is_exact = is_exact and character not in _GLOB and not (character in "~=" and self._at - 1 == start)
                    text += character
        return Word(text, is_exact)

    def _single_quoted(self) -> str:
        end = self._rest.find("'", self._at)
        if end < 0:
            _refuse("a quote has no end")
        text, self._at = self._rest[self._at : end], end + 1
        return text

    def _double_quoted(self) -> str:
        text = ""
        while self._at < len(self._rest):
            character = self._rest[self._at]
            self._at += 1
            if character == '"':
                return text
            if character in "$`":
                _refuse(_SUBSTITUTION)
            if character == "\\" and self._at < len(self._rest) and self._rest[self._at] in _QUOTED_ESCAPES:
                character = self._rest[self._at]
                self._at += 1
                if character == "\n":
                    continue
            text += character
        return _refuse("a quote has no end")

    def _escaped(self) -> str:
        if self._at >= len(self._rest):
            _refuse("it ends with a backslash")
        character = self._rest[self._at]
        self._at += 1
        return "" if character == "\n" else character


_SUBSTITUTION = "it has a substitution or a variable"


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.removesuffix("+").split("[")[0].isidentifier()


def _refuse(reason: str) -> NoReturn:
    raise NotUnderstood(reason)
