"""The ports of worktrees: ten each, and no port of another's."""

import socket
from pathlib import Path

import pytest
from tests.workspace.repositories import Shop

from ramet.workspace.worktrees import ports


def tops(shop: Shop, count: int) -> list[Path]:
    return [Path(shop.prepare(f"e{number}").path) for number in range(count)]


@pytest.mark.requirement("R458")
def test_each_worktree_has_ten_ports_of_its_own_and_keeps_them(shop: Shop) -> None:
    made = tops(shop, 5)
    bases = [ports.reserve(shop.folder, top) for top in made]
    numbers = [base + number for base in bases if base is not None for number in range(ports.BLOCK)]
    assert len(set(numbers)) == 50
    assert [ports.reserve(shop.folder, top) for top in made] == bases
    assert [ports.read(top) for top in made] == bases


@pytest.mark.requirement("R458")
def test_a_block_in_which_a_port_is_used_is_passed_over(shop: Shop) -> None:
    first, second = tops(shop, 2)
    base = ports.reserve(shop.folder, first)
    assert base is not None
    with socket.socket() as server:
        server.bind(("127.0.0.1", base + 13))
        server.listen()
        assert ports.reserve(shop.folder, second) not in (None, base, base + 10)


@pytest.mark.requirement("R458")
def test_the_ports_of_a_worktree_that_is_gone_are_given_again(shop: Shop) -> None:
    first, second = tops(shop, 2)
    base = ports.reserve(shop.folder, first)
    shop.run(shop.project, "worktree", "remove", "--force", str(first))
    assert ports.reserve(shop.folder, second) == base


def test_a_folder_that_is_no_worktree_has_no_ports(shop: Shop) -> None:
    [made] = tops(shop, 1)
    assert ports.reserve(shop.folder, made.with_name("e99")) is None
    assert ports.read(made.with_name("e99")) is None
