"""Which hosts a strict sandbox may reach. A rule is `name`, `*.name`, `name:port` or `address:port`.

A rule without a port allows the two ports of the web. A wildcard never leads to an address that is not public: whoever
owns a name below it decides what that name resolves to. A plain name may lead into a private network, but not back to
this machine or to its neighbours on the link, where clouds serve credentials. An address that is written out may be
any.
"""

import ipaddress
import re
from collections.abc import Iterable
from typing import NamedTuple

_PORTS = (443, 80)
_HOST = re.compile(r"(\*\.)?[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?")
_LOCAL = ("localhost", "ip6-localhost")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Rule(NamedTuple):
    """A host that may be reached."""

    host: str
    port: int | None = None
    is_wildcard: bool = False

    @property
    def is_literal(self) -> bool:
        """Whether it names an address, or this machine."""
        return _address(self.host) is not None or self.host in _LOCAL


def parse(text: str) -> Rule:
    """The rule that a text states. Raises `ValueError` if it states none."""
    host, port = split(text.strip().lower())
    if _address(host) is not None:
        return Rule(host, port)
    if len(host) > 253 or not _HOST.fullmatch(host):
        raise ValueError(f"{text!r} is not a host; write it as example.org, *.example.org or example.org:8080")
    host = host.removesuffix(".")
    return Rule(host.removeprefix("*."), port, is_wildcard=host.startswith("*."))


def split(text: str) -> tuple[str, int | None]:
    """Host and port of `host:port`, `[address]:port` or a host alone. Raises `ValueError` for a port that is none."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":") if rest else ""
    elif text.count(":") > 1:
        host, port = text, ""
    else:
        host, _, port = text.partition(":")
    if not port:
        return host, None
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(f"{port!r} is not a port; write a number from 1 to 65535")
    return host, int(port)


def find_rule(rules: Iterable[Rule], host: str, port: int) -> Rule | None:
    """The rule that allows a host at a port; the most exact one first."""
    host = host.lower().removesuffix(".")
    matching = [rule for rule in rules if _matches(rule, host) and port in ((rule.port,) if rule.port else _PORTS)]
    return min(matching, key=lambda rule: rule.is_wildcard, default=None)


def admits(rule: Rule, address: str) -> bool:
    """Whether the host of a rule may be at this address."""
    found = _address(address.partition("%")[0])
    if found is None:
        return False
    if rule.is_literal:
        return True
    found = getattr(found, "ipv4_mapped", None) or found
    is_near = found.is_loopback or found.is_link_local or found.is_unspecified or found.is_multicast
    return found.is_global if rule.is_wildcard else not is_near


def _matches(rule: Rule, host: str) -> bool:
    return host.endswith(f".{rule.host}") if rule.is_wildcard else host == rule.host


def _address(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
