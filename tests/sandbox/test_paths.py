"""Which of this machine's paths a sandbox shows without being asked."""

import os
import sys
from pathlib import Path

import pytest

from ramet.errors import SandboxUnavailable
from ramet.sandbox import program_paths, system_paths
from ramet.sandbox.plan import Mount


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A system of the usual layout."""
    for folder in (
        "usr/bin",
        "usr/lib",
        "opt",
        "etc/ssl/certs",
        "etc/ssl/private",
        "etc/ssh",
        "home/ann",
        "var",
        "run",
    ):
        (tmp_path / folder).mkdir(parents=True)
    for file in ("passwd", "shadow", "sudoers", "hosts", "ssh/ssh_host_key", "ssl/private/key.pem", "environment"):
        (tmp_path / "etc" / file).write_text("x")
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "lib64").mkdir()
    (tmp_path / "run" / "resolv.conf").write_text("nameserver 192.0.2.1")
    (tmp_path / "etc" / "resolv.conf").symlink_to("../run/resolv.conf")
    return tmp_path


def test_the_system_is_mounted_by_list_and_links_stay_links(root: Path) -> None:
    found = system_paths.find_system(root)
    assert found.links == (("usr/bin", "/bin"),)
    assert {mount.path for mount in found.mounts} == {
        *("/usr", "/opt", "/lib64", "/etc/passwd", "/etc/hosts", "/etc/ssl/certs", "/etc/resolv.conf"),
    }
    assert not any(mount.is_writable for mount in found.mounts)


def test_a_link_in_etc_is_mounted_as_the_file_that_it_leads_to(root: Path) -> None:
    (resolver,) = [mount for mount in system_paths.find_system(root).mounts if mount.path == "/etc/resolv.conf"]
    assert resolver.source == str(root / "run" / "resolv.conf")


def test_ramets_own_code_and_python_are_mounted_and_its_repository_is_not() -> None:
    mounts = [Path(mount.path) for mount in system_paths.find_own("/home/ann")]
    for needed in (sys.prefix, sys.base_prefix, Path(system_paths.__file__), os.__file__):
        assert any(Path(needed).resolve().is_relative_to(mount) for mount in mounts), needed
    assert not any(Path(__file__).is_relative_to(mount) for mount in mounts)


def test_a_python_that_is_installed_in_the_home_itself_is_refused() -> None:
    with pytest.raises(SandboxUnavailable, match="would show the home") as refusal:
        system_paths.find_own(f"{sys.base_prefix}/home")
    assert "pipx install ramet" in refusal.value.fix


def make_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    return path


def test_a_program_of_the_system_needs_no_mount(tmp_path: Path) -> None:
    program = make_program(tmp_path / "usr" / "bin" / "agent")
    covered = [Mount(str(tmp_path / "usr"), str(tmp_path / "usr"))]
    assert program_paths.find(str(program), "/home/ann", covered) == program_paths.ProgramPath(str(program))


def test_a_link_into_the_system_is_called_by_its_target(tmp_path: Path) -> None:
    program = make_program(tmp_path / "usr" / "bin" / "agent")
    link = tmp_path / "bin" / "agent"
    link.parent.mkdir()
    link.symlink_to(program)
    covered = [Mount(str(tmp_path / "usr"), str(tmp_path / "usr"))]
    assert program_paths.find(str(link), "/home/ann", covered).path == str(program)


def test_a_program_in_the_home_is_mounted_alone_and_called_by_its_real_name(tmp_path: Path) -> None:
    program = make_program(tmp_path / "share" / "agent" / "2.1")
    link = tmp_path / "bin" / "agent"
    link.parent.mkdir()
    link.symlink_to(program)
    found = program_paths.find(str(link), str(tmp_path), [])
    assert found == program_paths.ProgramPath(str(program), (Mount(str(program), str(program)),))


@pytest.mark.parametrize(("has_node", "mounted"), [(True, ".nvm/v20"), (False, ".nvm/v20/lib/node_modules")])
def test_a_program_of_npms_comes_with_its_packages_and_its_interpreter(
    tmp_path: Path, has_node: bool, mounted: str
) -> None:
    program = make_program(tmp_path / ".nvm/v20/lib/node_modules/@maker/agent/cli.js")
    if has_node:
        make_program(tmp_path / ".nvm/v20/bin/node")
    (found,) = program_paths.find(str(program), str(tmp_path), []).mounts
    assert found.path == str(tmp_path / mounted)


def test_packages_in_the_home_itself_do_not_show_the_home(tmp_path: Path) -> None:
    program = make_program(tmp_path / "lib/node_modules/agent/cli.js")
    make_program(tmp_path / "bin/node")
    (found,) = program_paths.find(str(program), str(tmp_path), []).mounts
    assert found.path == str(tmp_path / "lib/node_modules")
