"""What the kernel refuses to everything inside a sandbox, beyond mounts and namespaces.

Some system calls reach past namespaces: sockets of families that ignore network namespaces (a virtual machine's host,
Bluetooth), the user's key rings, file handles, and io_uring, which opens sockets without a system call that a filter
sees. Abstract unix sockets belong to the network namespace, so an agent that shares the host's network would reach the
desktop's through them; Landlock closes these on Linux 6.12 or newer.

Only the standard library is imported: this runs inside, before the agent.
"""

import ctypes
import errno
import os
import platform
import struct
from typing import NamedTuple


class Architecture(NamedTuple):
    """The numbers of one kind of machine."""

    audit: int
    socket: int
    refused: tuple[int, ...]
    """add_key, request_key, keyctl, perf_event_open, open_by_handle_at, bpf, userfaultfd."""
    other_abi: int | None = None
    """The first number of a second set of system calls."""


ARCHITECTURES = {
    "x86_64": Architecture(0xC000003E, 41, (248, 249, 250, 298, 304, 321, 323), other_abi=0x40000000),
    "aarch64": Architecture(0xC00000B7, 198, (217, 218, 219, 241, 265, 280, 282)),
}

_IO_URING = (425, 426, 427)
_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK, by which programs list interfaces."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _AUDIT_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _FAIL, _KILL = 0x7FFF0000, 0x00050000, 0x80000000

_PR_SET_SECCOMP, _FILTER_MODE, _PR_SET_NO_NEW_PRIVS = 22, 2, 38
_CREATE_RULESET, _RESTRICT_SELF = 444, 446
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_SCOPES_SINCE = 6
_VERSION_FLAG = 1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def make_filter(architecture: Architecture) -> bytes:
    """The filter as the kernel reads it. Each test falls through to the answer behind it, or skips it."""
    answers = dict.fromkeys((*architecture.refused, *_IO_URING), _FAIL | errno.ENOSYS)
    lines = [(_LOAD, 0, 0, _AUDIT_AT), (_EQUAL, 1, 0, architecture.audit), (_RETURN, 0, 0, _KILL)]
    lines.append((_LOAD, 0, 0, _NUMBER_AT))
    if architecture.other_abi is not None:
        lines += [(_AT_LEAST, 0, 1, architecture.other_abi), (_RETURN, 0, 0, _KILL)]
    for number, answer in answers.items():
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]
    lines += [(_EQUAL, 1, 0, architecture.socket), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _FIRST_ARGUMENT_AT)]
    for family in _FAMILIES:
        lines += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    lines.append((_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def apply() -> None:
    """Give up these rights, for this process and all that it starts. Raises `OSError` if the kernel refuses that."""
    library = ctypes.CDLL(None, use_errno=True)
    _require(library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _close_scopes(library)
    code = make_filter(ARCHITECTURES[platform.machine()])
    program = _Program(len(code) // 8, code)
    _require(library.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0))


def has_scopes() -> bool:
    """Whether this kernel can close abstract sockets."""
    return int(ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)) >= _SCOPES_SINCE


def _close_scopes(library: ctypes.CDLL) -> None:
    """No abstract socket and no signal of a process outside; also none of the first process inside."""
    if not has_scopes():
        return
    attributes = struct.pack("=QQQ", 0, 0, _ABSTRACT_SOCKETS | _SIGNALS)
    ruleset = _require(library.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
    try:
        _require(library.syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _require(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
