"""The mount plan: values in, arguments of `bwrap` out."""

from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from ramet.sandbox import plan
from ramet.sandbox.plan import Box, Checkout, Mount

CHECKOUT = Checkout(
    common="/code/shop/.git",
    own="/code/shop/.git/worktrees/e1",
    branches="/code/shop/.git/refs/heads/ramet",
    logs="/code/shop/.git/logs/refs/heads/ramet",
    branches_source="/home/ann/.ramet/branches/shop/e1/refs",
    logs_source="/home/ann/.ramet/branches/shop/e1/logs",
)
TOP = "/home/ann/.ramet/worktrees/shop/e1"
AGENTS = "/home/ann/.ramet/run/ramet-agents"
BOX = Box(
    bwrap="/usr/bin/bwrap",
    preset="workspace",
    links=(("usr/bin", "/bin"),),
    system=(Mount("/usr", "/usr"), Mount("/opt", "/opt")),
    home="/home/ann",
    tools=(Mount("/home/ann/.cargo", "/home/ann/.cargo"),),
    programs=(Mount("/venv", "/venv"),),
    state=(Mount("/home/ann/.agent/auth.json", "/home/ann/.agent/auth.json", is_writable=True),),
    worktree=TOP,
    read_only=(f"{TOP}/.git",),
    checkout=CHECKOUT,
    agents_folder=AGENTS,
    directory=f"{TOP}/app",
    entry=("/usr/bin/python3", "entry"),
)


def mounts(box: Box) -> dict[str, tuple[str, str]]:
    """By path inside: how it is mounted, and from where."""
    words = plan.arguments(box)
    binds = [words[at : at + 3] for at, word in enumerate(words) if word in ("--bind", "--ro-bind", "--symlink")]
    return {target: (how, source) for how, source, target in binds}


def followers(box: Box, option: str) -> list[str]:
    return [after for before, after in pairwise(plan.arguments(box)) if before == option]


def test_everything_comes_in_the_order_in_which_later_mounts_cover_earlier_ones() -> None:
    words = plan.arguments(replace(BOX, hidden_folders=("/opt/other",)))
    order = ["/usr", "/proc", "/tmp", "/home/ann", "/home/ann/.cargo", "/opt/other", "/venv"]
    order += ["/home/ann/.agent/auth.json", TOP, "/code/shop/.git", "/code/shop/.git/objects"]
    places = [max(at for at, word in enumerate(words) if word == path) for path in order]
    assert places == sorted(places)
    assert words[-5:] == ["--chdir", f"{TOP}/app", "--", "/usr/bin/python3", "entry"]


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("/usr", "--ro-bind"),
        ("/home/ann/.cargo", "--ro-bind"),
        ("/home/ann/.agent/auth.json", "--bind"),
        (TOP, "--bind"),
        (f"{TOP}/.git", "--ro-bind"),
        ("/code/shop/.git", "--ro-bind"),
        ("/code/shop/.git/objects", "--bind"),
        ("/code/shop/.git/objects/info", "--ro-bind"),
        ("/code/shop/.git/worktrees/e1", "--bind"),
        ("/code/shop/.git/worktrees/e1/commondir", "--ro-bind"),
        ("/code/shop/.git/worktrees/e1/gitdir", "--ro-bind"),
        ("/code/shop/.git/worktrees/e1/config.worktree", "--ro-bind"),
        ("/code/shop/.git/refs/heads/ramet", "--bind"),
        ("/code/shop/.git/logs/refs/heads/ramet", "--bind"),
    ],
)
def test_a_path_is_writable_or_read_only(path: str, how: str) -> None:
    assert mounts(BOX)[path][0] == how


def test_nothing_else_is_writable() -> None:
    writable = {path for path, (how, _) in mounts(BOX).items() if how == "--bind"}
    assert writable == {
        TOP,
        "/home/ann/.agent/auth.json",
        "/code/shop/.git/objects",
        "/code/shop/.git/worktrees/e1",
        "/code/shop/.git/refs/heads/ramet",
        "/code/shop/.git/logs/refs/heads/ramet",
    }
    assert followers(BOX, "--remount-ro") == ["/proc", "/"]


def test_the_ref_of_the_branch_is_a_copy() -> None:
    assert mounts(BOX)[CHECKOUT.branches][1] == CHECKOUT.branches_source
    assert mounts(BOX)[CHECKOUT.logs][1] == CHECKOUT.logs_source


@pytest.mark.parametrize("option", ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"])
@pytest.mark.parametrize("preset", ["workspace", "strict"])
def test_each_preset_has_namespaces_of_its_own(preset: Any, option: str) -> None:
    words = plan.arguments(replace(BOX, preset=preset))
    assert option in words
    assert {"--disable-userns", "--die-with-parent"} <= {*words}
    assert followers(replace(BOX, preset=preset), "--cap-drop") == ["ALL"]


def test_only_strict_has_a_network_of_its_own_and_the_proxy() -> None:
    assert "--unshare-net" not in plan.arguments(BOX)
    strict = replace(BOX, preset="strict", proxy_socket="/keepers/1/proxy.sock")
    assert "--unshare-net" in plan.arguments(strict)
    assert mounts(strict)["/run/ramet/proxy.sock"] == ("--ro-bind", "/keepers/1/proxy.sock")


def test_the_folder_of_the_socket_for_agents_is_mounted() -> None:
    assert mounts(BOX)[AGENTS] == ("--ro-bind", AGENTS)


@pytest.mark.parametrize(
    ("hidden", "is_covered"),
    [
        ("/opt/other", True),  # below a folder of the system
        ("/home/ann/.cargo/project", True),  # below a folder that the owner listed
        ("/venv/data", True),  # below a program's folder
        ("/srv/other", False),  # below nothing that is mounted
        ("/home/ann/other", False),
    ],
)
def test_what_is_hidden_is_covered_where_a_mount_would_show_it(hidden: str, is_covered: bool) -> None:
    box = replace(BOX, hidden_folders=(hidden,), hidden_files=(f"{hidden}.db",))
    assert (hidden in followers(box, "--tmpfs")) == is_covered
    assert (f"{hidden}.db" in mounts(box)) == is_covered
    assert not is_covered or mounts(box)[f"{hidden}.db"] == ("--ro-bind", "/dev/null")


def test_a_program_below_a_hidden_folder_is_mounted_after_the_cover() -> None:
    box = replace(BOX, hidden_folders=("/opt/ramet",), programs=(Mount("/opt/ramet/venv", "/opt/ramet/venv"),))
    words = plan.arguments(box)
    assert words.index("/opt/ramet") < words.index("/opt/ramet/venv")


@pytest.mark.parametrize(("home", "tmpfs"), [("/home/ann", ["/tmp", "/home/ann"]), ("/", ["/tmp"]), ("/tmp", ["/tmp"])])
def test_the_home_is_private_unless_it_is_the_root_or_tmp(home: str, tmpfs: list[str]) -> None:
    assert followers(replace(BOX, home=home), "--tmpfs") == tmpfs


def test_without_a_checkout_nothing_of_a_repository_is_writable() -> None:
    box = replace(BOX, worktree="/notes", checkout=None, read_only=("/notes/.git",))
    assert mounts(box)["/notes"] == ("--bind", "/notes")
    assert mounts(box)["/notes/.git"] == ("--ro-bind", "/notes/.git")
    assert not any(path.startswith("/code") for path in mounts(box))
