"""What a review says, as data: its verdict, and what it found, each with a fingerprint that later rounds know again.

A review is prose of an agent. What cannot be read for certain is not guessed: the verdict is None then, with a reason,
and whoever asked treats it as if changes were requested. Reading never raises.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

Verdict = Literal["APPROVED", "APPROVED_WITH_FOLLOWUPS", "CHANGES_REQUESTED", "NEEDS_DISCUSSION"]
Severity = Literal["BLOCKER", "FOLLOWUP", "NIT"]
"""What has to be settled before the work is good; what can be done later; what is a matter of taste."""

APPROVALS: frozenset[Verdict] = frozenset({"APPROVED", "APPROVED_WITH_FOLLOWUPS"})

_SEVERITIES: dict[str, Severity] = {
    **dict.fromkeys(("BLOCKER", "BLOCKERS", "BLOCKING", "MUST_FIX"), "BLOCKER"),
    **dict.fromkeys(("FOLLOWUP", "FOLLOWUPS", "FOLLOW_UP", "FOLLOW_UPS"), "FOLLOWUP"),
    **dict.fromkeys(("NIT", "NITS", "NITPICK", "NITPICKS"), "NIT"),
}
_UNREAD = "its verdict cannot be read: "
_DIGITS = 12
"""Of a fingerprint: enough for the findings of one chain."""
_LONGEST_PLACE = 300

_FENCE = re.compile(r"\s*(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_WRAPPED = re.compile(r"\A\s*```(?:markdown|md)[ \t]*\n(?P<text>.*)\n```\s*\Z", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(r"(?P<level>#{1,6})\s+(?P<title>.+)")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+")
_RULE = re.compile(r"\|[\s:|-]+")
"""The line below the head of a table."""
_VERDICT = re.compile(
    r"(?:final\s+|overall\s+)?verdict[*_`]*(?:\s*[:=](?P<said>.*)|\s+[\u2013\u2014-](?P<told>.*))?", re.IGNORECASE
)
_LABEL = re.compile(
    r"(?P<open>[\[(*_`|\s]*)(?P<word>blockers?|follow[ _-]?ups?|nit(?:pick)?s?)(?![\w-])"
    r"(?P<close>[\])*_`]*\s*[:|\u2013\u2014-]?)",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"(?:there (?:are|is) )?(?:none|n/?a|nothing|0|no (?:\w+ )?(?:blockers?|follow[ -]?ups?|nits?|issues?|findings?))"
    r"(?: (?:found|here|remain(?:s|ing)?|left|to report))?\W*",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"[A-Z][\w ]{0,30}:\s")
"""Evidence, impact, advice: a line of a finding that begins with such a word."""
_KNOWN = re.compile(rf"[\[(]f:(?P<fingerprint>[0-9a-f]{{{_DIGITS}}})[\])]")
_TOKEN = re.compile(r"[^\s()\[\]{}<>,;'\"`|*]+")
_PLACE = re.compile(r"(?P<file>[^:#]+)(?::(?P<line>\d{1,9})(?:[-\u2013:]\d+)*|#L(?P<anchor>\d{1,9})(?:-L?\d+)?)[.:]?")
_FILE = re.compile(r"[\w@+./-]*(?:/[\w@+.-]+|\.[A-Za-z]\w{0,9})")
_LINE_WORDS = re.compile(r"\blines?\s+\d+(?:\s*(?:-|\u2013|to)\s*\d+)?", re.IGNORECASE)


class Finding(Struct, frozen=True, kw_only=True):
    """One finding of a review."""

    severity: Severity
    text: str
    file: str | None = None
    line: int | None = None
    fingerprint: str
    """A hash of its text and its file, but not of its line. A review that repeats a finding may give it instead, as
    `[f:0123456789ab]`."""


class Review(Struct, frozen=True, kw_only=True):
    """A review that was read."""

    verdict: Verdict | None
    """None where it cannot be read for certain."""
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    """Why there is no verdict."""

    @property
    def is_approval(self) -> bool:
        return self.verdict in APPROVALS

    @property
    def doubt(self) -> str:
        """Why there is no verdict, as the end of a sentence about it: `cannot be read (it states no verdict)`."""
        return f"cannot be read ({(self.reason or 'unknown').removeprefix(_UNREAD)})"


class Progress(Struct, frozen=True, kw_only=True):
    """How the findings of one review compare with those before it."""

    new: tuple[Finding, ...]
    still_open: tuple[Finding, ...]
    gone: tuple[Finding, ...]


class _Raw(Struct):
    """A finding while it is read."""

    severity: Severity
    lines: list[str]
    indent: int
    is_section: bool = False
    """Whether everything up to the next heading belongs to it."""
    is_row: bool = False
    """Whether it is a row of a table."""
    file: str | None = None
    line: int | None = None


def parse_review(text: str) -> Review:
    """The verdict and findings of a review in markdown, with or without a block of JSON."""
    reader = _Reader()
    if text.lstrip().startswith("{"):
        reader.read_json(text)
    else:
        wrapped = _WRAPPED.match(text)
        reader.read_markdown(wrapped["text"] if wrapped else text)
    findings = tuple(_identify(_choose(reader.stated, reader.found)))
    reason = reader.trouble or _doubt(reader.said, findings)
    verdict = None if reason else _verdict(reader.said[0])
    return Review(verdict=verdict, findings=findings, reason=reason)


def open_after(previous: Iterable[Finding], current: Iterable[Finding]) -> Progress:
    """Which findings are new, which were there before, and which are there no more."""
    before = {finding.fingerprint: finding for finding in previous}
    now = {finding.fingerprint: finding for finding in current}
    return Progress(
        new=tuple(finding for key, finding in now.items() if key not in before),
        still_open=tuple(finding for key, finding in now.items() if key in before),
        gone=tuple(finding for key, finding in before.items() if key not in now),
    )


def _choose(stated: list[_Raw], found: list[_Raw]) -> list[_Raw]:
    """What JSON states goes before what the prose says in other words; but no blocker is lost between the two."""
    if not stated or any(each.severity == "BLOCKER" for each in stated):
        return stated or found
    return [*stated, *(each for each in found if each.severity == "BLOCKER")]


def _doubt(said: Sequence[str], findings: Sequence[Finding]) -> str | None:
    """Why the verdict cannot be relied on."""
    if not said:
        return "it states no verdict"
    verdicts = {_verdict(each) for each in said}
    if None in verdicts:
        unread = next(each for each in said if _verdict(each) is None)
        return f"{_UNREAD}{unread.strip()[:80]!r}"
    if len(verdicts) > 1:
        return f"it states several verdicts: {', '.join(sorted(filter(None, verdicts)))}"
    if verdicts <= APPROVALS and any(finding.severity == "BLOCKER" for finding in findings):
        return "it approves but lists blockers"
    return None


def _verdict(said: str) -> Verdict | None:
    name = _name(said)
    return next((verdict for verdict in get_args(Verdict) if verdict == name.replace("FOLLOW_UP", "FOLLOWUP")), None)


def _name(text: str) -> str:
    """`changes requested`, `Changes-Requested` and `**CHANGES_REQUESTED**` are one name."""
    return re.sub(r"[\W_]+", "_", text).strip("_").upper()


class _Reader:
    """Takes one line after the other."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.found: list[_Raw] = []
        self.stated: list[_Raw] = []
        """What a block of JSON says."""
        self.trouble: str | None = None
        self._fence: str | None = None
        self._block: list[str] = []
        self._is_json = False
        self._section: tuple[Severity, int] | None = None
        self._current: _Raw | None = None
        self._is_verdict_next = False
        self._is_after_blank = False

    def read_markdown(self, text: str) -> None:
        for line in text.splitlines():
            self._read(line)
        if self._fence is not None:
            self.trouble = "a code block in it never ends"

    def _read(self, line: str) -> None:
        if self._fence is not None:
            self._read_code(line)
        elif match := _FENCE.match(line):
            self._fence, self._block = match["mark"], []
            self._is_json = match["info"].strip().lower() in ("json", "")
            self._continue(line)
        elif not line.strip():
            self._is_after_blank = True
            self._continue("")
        else:
            self._read_text(line)
            self._is_after_blank = False

    def _read_code(self, line: str) -> None:
        assert self._fence is not None  # noqa: S101
        self._continue(line)
        bare = line.strip()
        if len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}:
            self._fence = None
            if self._is_json:
                self.read_json("\n".join(self._block))
        else:
            self._block.append(line)

    def _read_text(self, line: str) -> None:
        body = line.strip()
        if self._is_verdict_next:
            self._is_verdict_next = False
            self.said.append(body)
        elif heading := _HEADING.match(body):
            self._read_heading(len(heading["level"]), heading["title"].rstrip("# "))
        elif match := _VERDICT.fullmatch(body.lstrip("-*+_` ")):
            self._read_verdict(match)
        else:
            self._read_item(line, body)

    def _read_verdict(self, match: re.Match[str]) -> None:
        """It stands behind the word, or in the next line."""
        self._current = self._section = None
        said = (match["said"] or match["told"] or "").strip("*_` ")
        self._is_verdict_next = not said
        self.said += [said] if said else []

    def _read_heading(self, level: int, title: str) -> None:
        self._current = None
        severity = _SEVERITIES.get(_name(title.partition("(")[0]))
        if match := _VERDICT.fullmatch(title.strip("*_` ")):
            self._read_verdict(match)
        elif severity is not None:
            self._section = (severity, level)
        elif label := _label(title, is_item=True):
            self._begin(*label, indent=0, is_section=True)
        elif self._section and level > self._section[1]:
            self._begin(self._section[0], title, indent=0, is_section=True)
        else:
            self._section = None

    def _read_item(self, line: str, body: str) -> None:
        indent = len(line) - len(line.lstrip())
        bullet = _BULLET.match(body)
        text = body[bullet.end() :] if bullet else body
        is_item = bullet is not None or body.startswith("|")
        if _RULE.fullmatch(body):
            self._drop_table_head()
        elif label := _label(text, is_item=is_item):
            self._begin(*label, indent=indent)
        elif self._current and self._goes_on(indent, is_item=is_item):
            self._current.lines.append(body)
        elif self._section and (is_item or not body.endswith(":")):
            self._begin(self._section[0], text, indent=indent, is_row=body.startswith("|"))
        else:
            self._current = None

    def _drop_table_head(self) -> None:
        """What was taken for a finding names the columns."""
        if self._current and self._current.is_row:
            self.found.pop()
        self._current = None

    def _goes_on(self, indent: int, *, is_item: bool) -> bool:
        """Whether a line belongs to the finding before it."""
        assert self._current is not None  # noqa: S101
        if self._current.is_section or indent > self._current.indent:
            return True
        return not is_item and not self._is_after_blank

    def _begin(
        self, severity: Severity, text: str, *, indent: int, is_section: bool = False, is_row: bool = False
    ) -> None:
        if _NONE.fullmatch(text.strip(" *_`|")):
            self._current = None
            return
        self._current = _Raw(severity=severity, lines=[text], indent=indent, is_section=is_section, is_row=is_row)
        self.found.append(self._current)

    def _continue(self, line: str) -> None:
        if self._current:
            self._current.lines.append(line.rstrip())

    def read_json(self, block: str) -> None:
        """A block that is a review; other JSON is an example of something."""
        try:
            document = msgspec.json.decode(block)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            if '"verdict"' in block or '"findings"' in block:
                self.trouble = "its JSON block cannot be read"
            return
        if isinstance(document, dict) and document.keys() & {"verdict", "findings"}:
            if "verdict" in document:
                self.said.append(str(document["verdict"]))
            findings = [_from_json(each) for each in _as_list(document.get("findings"))]
            if None in findings:
                self.trouble = "a finding in its JSON block cannot be read"
            self.stated += filter(None, findings)


def _label(text: str, *, is_item: bool) -> tuple[Severity, str] | None:
    """The severity that a line begins with, and the rest: `BLOCKER: …`, `[NIT] …`, `**Follow-up** …`."""
    match = _LABEL.match(text)
    if match is None:
        return None
    is_marked = bool(match["open"].strip() or match["close"].strip())
    if not is_marked and not (is_item and match["word"].isupper()):
        return None
    return _SEVERITIES[_name(match["word"])], text[match.end() :].strip()


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _from_json(entry: Any) -> _Raw | None:
    if not isinstance(entry, dict):
        return None
    severity = _SEVERITIES.get(_name(str(entry.get("severity", ""))))
    names = ("text", "message", "title", "summary", "description")
    text = next((entry[name] for name in names if isinstance(entry.get(name), str) and entry[name].strip()), None)
    if severity is None or text is None:
        return None
    file, line = entry.get("file", entry.get("path")), entry.get("line")
    return _Raw(
        severity=severity,
        lines=[text],
        indent=0,
        file=file.removeprefix("./") if isinstance(file, str) else None,
        line=line if isinstance(line, int) and not isinstance(line, bool) else None,
    )


def _identify(found: Iterable[_Raw]) -> Iterator[Finding]:
    """The findings with their places and fingerprints; those that say the same of one file are told apart by order."""
    times: Counter[str] = Counter()
    for raw in found:
        text = _plain("\n".join(raw.lines)) or "(no description)"
        headline = text.partition("\n")[0] if raw.is_section else _headline(text)
        file, line = (raw.file, raw.line) if raw.file else _find_place(headline) or _find_place(text) or (None, None)
        known = _KNOWN.search(headline)
        fingerprint = known["fingerprint"] if known else _hash(file or "", _essence(headline))
        times[fingerprint] += 1
        if times[fingerprint] > 1:
            fingerprint = _hash(fingerprint, str(times[fingerprint]))
        yield Finding(severity=raw.severity, text=text, file=file, line=line, fingerprint=fingerprint)


def _plain(text: str) -> str:
    """Without the marks that belonged to what stood before it."""
    text = text.strip().strip("| ")
    return text.replace("**", "", 1).strip() if text.count("**") % 2 else text


def _headline(text: str) -> str:
    """The first paragraph: what follows it is evidence and advice, which changes from round to round."""
    lines = text.split("\n")
    ends = (n for n, line in enumerate(lines) if n and (not line or _BULLET.match(line) or _ASIDE.match(line)))
    return " ".join(lines[: next(ends, len(lines))])


def _find_place(text: str) -> tuple[str, int | None] | None:
    """The first `file:line` that is named, else the first file."""
    tokens = [token for token in _TOKEN.findall(text) if len(token) <= _LONGEST_PLACE]
    for token in tokens:
        if (match := _PLACE.fullmatch(token)) and _FILE.fullmatch(match["file"]):
            return match["file"].removeprefix("./"), int(match["line"] or match["anchor"])
    files = (token.rstrip(".:") for token in tokens)
    return next(((file.removeprefix("./"), None) for file in files if "/" in file and _FILE.fullmatch(file)), None)


def _essence(headline: str) -> str:
    """The words, without where they stand: places, lines, and the number that the review gave the finding."""
    words = _LINE_WORDS.sub(" ", re.sub(r"^[A-Z]\d+\b", "", headline))
    kept = (token for token in words.split() if not _find_place(token))
    return " ".join(re.findall(r"\w+", " ".join(kept).lower()))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
