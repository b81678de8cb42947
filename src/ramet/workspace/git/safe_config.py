"""The configuration that git is given in place of a repository's own: data keys by a list, and no program.

A repository's configuration can name programs in dozens of keys, and each release of git may add one. So the list is
of what is taken, not of what is left out. Every key on it was chosen because its value is a switch, a number or a name:
none is a command, a path, an address or the name of a driver.

The user's own configuration is read through the same list. Its filters count if `worktree.git_filters` names them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ramet.errors import GitFailed

_ANYBODYS = re.compile(
    r"""
    core\.(autocrlf|bare|bigfilethreshold|checkstat|compression|eol|filemode|ignorecase|logallrefupdates
          |loosecompression|precomposeunicode|repositoryformatversion|safecrlf|sharedrepository|sparsecheckout
          |sparsecheckoutcone|symlinks|trustctime)
    |diff\.(algorithm|renamelimit|renames)
    |merge\.(conflictstyle|directoryrenames|renamelimit|renames|renormalize)
    |(user|author|committer)\.(email|name)
    """,
    re.VERBOSE,
)
_OWNERS = re.compile(r"core\.(attributesfile|excludesfile|fsync|fsyncmethod|protecthfs|protectntfs)")
"""Taken from the user's own files only: paths, and what protects the user."""

SPARSE = frozenset({"core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse"})
"""The keys of one worktree that are taken: which files it has."""

_EXTENSIONS: Mapping[str, re.Pattern[str]] = {
    "objectformat": re.compile("sha1|sha256"),
    "refstorage": re.compile("files|reftable"),
    "preciousobjects": re.compile("|true|false"),
    "relativeworktrees": re.compile("|true|false"),
    "noop": re.compile(".*"),
}
"""What changes how git reads a repository, and the values that are passed on."""

_LEFT_OUT = frozenset({"worktreeconfig", "partialclone"})
"""Extensions without which git still reads the repository: further configuration, and objects to fetch."""

_FILTER = re.compile(r"filter\.(?P<name>.+)\.(?P<key>clean|smudge|process|required)", re.DOTALL)
_REMOTE = re.compile(r"remote\..+\.url", re.DOTALL)
_ADDRESS = re.compile(r"(https?|ssh|git)://[^-].*|[\w.]+@[\w.][\w.-]*:.*", re.DOTALL)
"""An address on the network, and no remote helper such as `ext::`."""


class Entry(NamedTuple):
    """A key as git prints it, with its section and last part in lower case, and its value."""

    key: str
    value: str


def parse(printed: bytes) -> list[Entry]:
    """Entries of `git config --list -z`. A key without a value is a switch that is on."""
    entries = (field.decode(errors="surrogateescape").partition("\n") for field in printed.split(b"\0") if field)
    return [Entry(key, value if has_value else "true") for key, has_value, value in entries]


def compose(owners: Iterable[Entry], local: Iterable[Entry], filters: Collection[str], before_filter: str) -> str:
    """The text of the file: the user's entries, then the repository's, which override them.

    `before_filter` is put before the commands of the filters that the user allows.
    """
    taken = [
        *(entry for entry in owners if _ANYBODYS.fullmatch(entry.key) or _OWNERS.fullmatch(entry.key)),
        *_allowed_filters(owners, filters, before_filter),
        *(entry for entry in local if _ANYBODYS.fullmatch(entry.key)),
        *_extensions(local),
    ]
    if filters:  # git-lfs asks for the remote's address
        taken += [entry for entry in local if _REMOTE.fullmatch(entry.key) and _ADDRESS.fullmatch(entry.value)]
    return "# Written by Ramet, for its own git.\n" + "".join(_line(entry) for entry in taken)


def has_extension(local: Iterable[Entry], name: str) -> bool:
    """Whether a repository uses an extension of its format."""
    return any(entry.key == f"extensions.{name}" and entry.value != "false" for entry in local)


def safe_directories(owners: Iterable[Entry], environ: Mapping[str, str]) -> list[str]:
    """The directories of other users that the user trusts git with. An empty value takes back those before it."""
    found: list[str] = []
    for value in (entry.value for entry in owners if entry.key == "safe.directory"):
        path = f"{environ.get('HOME', '')}/{value[2:]}" if value.startswith("~/") else value
        found = [*found, path] if path else []
    return found


def _allowed_filters(owners: Iterable[Entry], filters: Collection[str], before: str) -> Iterator[Entry]:
    for entry in owners:
        found = _FILTER.fullmatch(entry.key)
        if found and found["name"] in filters:
            is_command = found["key"] != "required" and entry.value
            yield entry._replace(value=before + entry.value) if is_command else entry


def _extensions(local: Iterable[Entry]) -> Iterator[Entry]:
    for entry in local:
        section, _, name = entry.key.partition(".")
        if section != "extensions" or name in _LEFT_OUT:
            continue
        if name not in _EXTENSIONS or not _EXTENSIONS[name].fullmatch(entry.value):
            raise GitFailed(f"the repository uses {entry.key}={entry.value}, which Ramet does not know")
        yield entry


def _line(entry: Entry) -> str:
    """A section of its own for each entry, so that the order stays."""
    section, _, rest = entry.key.partition(".")
    subsection, _, name = rest.rpartition(".")
    heading = f'{section} "{_escape(subsection)}"' if subsection else section
    value = _escape(entry.value).replace("\n", "\\n").replace("\t", "\\t")
    return f'[{heading}]\n\t{name} = "{value}"\n'


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
