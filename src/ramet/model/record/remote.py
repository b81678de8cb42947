"""A git remote in the one form under which several machines know the same repository."""

import re

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SHORT = re.compile(r"(?:[^@/\s]+@)?(\[[0-9a-f:]+\]|[^:/\s]{2,}):(?!//)(.*)", re.IGNORECASE | re.DOTALL)
"""`user@host:path`, as ssh has it. A single letter before the colon is a disk."""

_HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[^@:/\s]+)(:\d+)?")


def normal_remote(url: str) -> str | None:
    """`host/path`, however it is reached and whoever reaches it; None where it names no other machine.

    Only what git itself takes for the same is made the same: the scheme, the user and password, the default port, a
    `.git` at the end. A folder on a disk is another one on every machine.
    """
    url = url.strip()
    scheme = _SCHEME.match(url)
    if scheme is None:
        short = _SHORT.fullmatch(url)
        return _join(short[1], short[2]) if short else None
    if scheme[0].lower() == "file://":
        return None
    authority, _, path = url[scheme.end() :].partition("/")
    return _join(re.sub(r":(22|80|443|9418)$", "", authority.rpartition("@")[2]), path)


def _join(host: str, path: str) -> str | None:
    path = re.sub(r"[?#].*", "", path, flags=re.DOTALL)
    plain = "/".join(part for part in path.split("/") if part).removesuffix(".git")
    if not _HOST.fullmatch(host) or not plain or "@" in plain:
        return None  # the rest of a password with a slash in it is nothing to keep
    return f"{host.lower()}/{plain}"
