"""The environment of a sandboxed agent: what would name an absent path or a closed way out is changed or left out.

`bwrap` itself gets the same environment, because its first process can be looked at from inside.
"""

from collections.abc import Iterable, Mapping

from ramet.sandbox.host_rules import parse
from ramet.sandbox.plan import Preset
from ramet.sandbox.relay import VARIABLES

_SOCKETS = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
"""What names sockets of the desktop: they are absent inside."""
_DIRECT = ("NO_PROXY", "no_proxy")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_TMP = "/tmp"  # noqa: S108 - the sandbox has its own

_GIT_SETTINGS = (
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),  # they would pack the refs of other agents
    ("commit.gpgSign", "false"),  # the keys are absent
)


def adapt(
    environ: Mapping[str, str], preset: Preset, identity: Mapping[str, str], hosts: Iterable[str]
) -> dict[str, str]:
    """The environment for inside. `identity` says who commits, `hosts` are those that the proxy allows."""
    adapted = {name: value for name, value in environ.items() if name not in _SOCKETS}
    adapted |= {name: _TMP for name in adapted if name.endswith("TMPDIR")}
    adapted = {**identity, **adapted, **_git_settings(adapted)}
    return _through_proxy(adapted, hosts) if preset == "strict" else adapted


def _git_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Settings for git, behind those that the environment has already."""
    given = environ.get("GIT_CONFIG_COUNT", "")
    first = int(given) if given.isdigit() else 0
    settings = {"GIT_CONFIG_COUNT": str(first + len(_GIT_SETTINGS))}
    for number, (key, value) in enumerate(_GIT_SETTINGS, first):
        settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return settings


def _through_proxy(environ: Mapping[str, str], hosts: Iterable[str]) -> dict[str, str]:
    """No other proxy can be reached. Servers that the agent starts itself are reached directly, unless a host that is
    allowed has the same name.
    """
    outside = {parse(host).host for host in hosts}
    direct = ",".join(name for name in _LOOPBACK if name not in outside)
    kept = {name: value for name, value in environ.items() if name not in (*VARIABLES, *_DIRECT)}
    return kept | (dict.fromkeys(_DIRECT, direct) if direct else {})
