"""The system's own files that every sandbox can read, and the files that Ramet itself runs from.

`/etc` is mounted entry by entry: for root, all of it would include the password hashes and the host's private keys.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from ramet.errors import SandboxUnavailable
from ramet.sandbox.plan import Mount

_FOLDERS = ("usr", "opt", "nix/store")
_MAYBE_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders on some systems, links into /usr on most."""
_ETC = (
    *("alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version"),
    *("fonts", "gai.conf", "gitconfig", "group", "host.conf", "hostname", "hosts", "inputrc", "java*", "ld.so.cache"),
    *("ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf", "localtime", "magic", "mime.types", "networks"),
    *("nsswitch.conf", "os-release", "passwd", "perl", "pki/ca-trust/extracted", "pki/tls/cert.pem", "pki/tls/certs"),
    *("pki/tls/openssl.cnf", "profile", "profile.d", "protocols", "python3*", "redhat-release", "resolv.conf", "rpc"),
    *("services", "shells", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone", "zsh*"),
)


class SystemPaths(Struct, frozen=True):
    """What of the system exists inside."""

    links: tuple[tuple[str, str], ...]
    mounts: tuple[Mount, ...]


def find_system(root: Path = Path("/")) -> SystemPaths:
    """The system's folders below `root`, under their own names."""
    links = [(str(path.readlink()), f"/{name}") for name in _MAYBE_LINKS if (path := root / name).is_symlink()]
    folders = [name for name in (*_FOLDERS, *_MAYBE_LINKS) if (root / name).is_dir() and not (root / name).is_symlink()]
    etc = sorted({str(path.relative_to(root)) for pattern in _ETC for path in (root / "etc").glob(pattern)})
    sources = ((name, os.path.realpath(root / name)) for name in (*folders, *etc))
    return SystemPaths(tuple(links), tuple(Mount(f"/{name}", found) for name, found in sources if Path(found).exists()))


def find_own(home: str) -> tuple[Mount, ...]:
    """Ramet's own code and the Python that runs it: the first program inside, and the tools that an agent calls."""
    packages = [spec.origin for name in ("ramet", "msgspec") if (spec := find_spec(name)) and spec.origin]
    ramet, site_packages = Path(packages[0]).parent, Path(packages[1]).parents[1]
    # An installed Ramet is in `site_packages`; one that is being developed is not, and its repository is nobody's.
    wanted = [sys.base_prefix, sys.prefix, str(site_packages), str(ramet)]
    for path in wanted:
        if Path(home).is_relative_to(path):
            raise SandboxUnavailable(
                f"Ramet runs from {path}, and mounting that would show the home {home} to the agent",
                value=path,
                fix="install Ramet in an environment of its own: `uv tool install ramet` or `pipx install ramet`",
            )
    return tuple(Mount(path, path) for path in outermost(map(os.path.realpath, wanted)))


def interpreter() -> str:
    """The Python that runs without an environment: it starts faster."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def outermost(paths: Iterable[str]) -> Iterator[str]:
    """The paths that are inside no other one of them."""
    unique = [Path(path) for path in dict.fromkeys(paths)]
    for path in unique:
        if not any(path != other and path.is_relative_to(other) for other in unique):
            yield str(path)
