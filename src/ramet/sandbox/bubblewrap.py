"""Whether this machine can make a sandbox, and what to do if it cannot. A sandbox that cannot be made is an error: an
agent that should be confined never runs without its sandbox.
"""

import platform
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from ramet.errors import SandboxUnavailable
from ramet.sandbox.plan import Preset, probe
from ramet.sandbox.syscall_filter import ARCHITECTURES

_PROGRAM = "bwrap"
_PLACES = "/usr/bin:/bin:/usr/local/bin"
_SECONDS = 30

_INSTALL = "install it: `apt-get install bubblewrap` or `dnf install bubblewrap`"
_ALLOW = (
    "allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, and on Ubuntu 24.04 or newer "
    "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` or an AppArmor profile for bwrap"
)


def require(preset: Preset, path: str, *, system: str = sys.platform) -> str:
    """Where `bwrap` is. `path` is a PATH; the usual places follow it."""
    if system != "linux":
        raise SandboxUnavailable(
            f"the sandbox {preset} needs Linux, and this is {'macOS' if system == 'darwin' else system}",
            field="sandbox",
            value=preset,
            fix="set the profile's `sandbox` to off, or run this profile on Linux",
        )
    if platform.machine() not in ARCHITECTURES:
        raise SandboxUnavailable(
            f"the sandbox {preset} does not know the system calls of {platform.machine()}",
            field="sandbox",
            value=preset,
            fix=f"set the profile's `sandbox` to off; it works on {' and '.join(ARCHITECTURES)}",
        )
    found = shutil.which(_PROGRAM, path=f"{path}:{_PLACES}" if path else _PLACES)
    if found is None or not Path(found).is_absolute():
        raise SandboxUnavailable(f"the sandbox {preset} needs bwrap", field="sandbox", value=preset, fix=_INSTALL)
    _try(found, Path(found).stat().st_mtime_ns, preset)
    return found


@lru_cache(maxsize=8)
def _try(bwrap: str, _modified: int, preset: Preset) -> None:
    """Make an empty sandbox once. What fails is tried again the next time: an exception is not cached."""
    try:
        done = subprocess.run(
            probe(bwrap, preset),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(f"{bwrap} cannot be run: {error}", value=bwrap, fix=_INSTALL) from error
    if done.returncode != 0:
        said = done.stderr.strip()[-500:] or f"exit status {done.returncode}"
        is_old = "nknown option" in said
        raise SandboxUnavailable(
            f"{bwrap} cannot make the sandbox {preset}: {said}",
            field="sandbox",
            value=preset,
            fix="install bubblewrap 0.8 or newer" if is_old else _ALLOW,
        )
