"""The socket is its user's alone."""

import asyncio
import os
import socket
import stat
from pathlib import Path

import pytest
from tests.daemon.conftest import Serve

from ramet.daemon.composition import new_event_loop
from ramet.daemon.wire.socket_file import open_socket, peer_pid, peer_uid
from ramet.errors import DaemonFailed, SocketUnsafe


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.requirement("R264")
def test_the_socket_and_its_directory_are_private_whatever_the_umask(run_directory: Path) -> None:
    path = run_directory / "new" / "s"
    previous = os.umask(0)
    try:
        with open_socket(path, os.getuid()):
            assert _mode(path) == 0o600
            assert _mode(path.parent) == 0o700
    finally:
        os.umask(previous)


@pytest.mark.requirement("R264")
def test_a_stale_socket_is_replaced(run_directory: Path) -> None:
    path = run_directory / "s"
    open_socket(path, os.getuid()).close()
    assert path.exists()
    with open_socket(path, os.getuid()), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o722, 0o777])
def test_a_directory_that_others_may_write_in_is_refused(run_directory: Path, mode: int) -> None:
    run_directory.chmod(mode)
    with pytest.raises(SocketUnsafe, match="other users can write"):
        open_socket(run_directory / "s", os.getuid())
    assert not (run_directory / "s").exists()


def test_a_directory_of_somebody_else_is_refused(run_directory: Path) -> None:
    with pytest.raises(SocketUnsafe, match=f"belongs to user {os.getuid()}"):
        open_socket(run_directory / "s", os.getuid() + 1)


def test_a_path_that_no_socket_can_have_is_a_clear_error(run_directory: Path) -> None:
    with pytest.raises(DaemonFailed, match="cannot listen on"):
        open_socket(run_directory / ("x" * 120), os.getuid())


def test_the_peer_is_known(run_directory: Path) -> None:
    with open_socket(run_directory / "s", os.getuid()) as listener, socket.socket(socket.AF_UNIX) as client:
        client.connect(str(run_directory / "s"))
        listener.setblocking(True)
        connected, _ = listener.accept()
        with connected:
            assert peer_uid(connected) == os.getuid()


def test_a_peer_that_has_gone_is_no_process(run_directory: Path) -> None:
    """Whichever event loop there is: each says in its own way that the connection is closed."""

    async def live() -> list[int | None]:
        connected: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
        path = run_directory / "s"
        async with await asyncio.start_unix_server(lambda _, writer: connected.set_result(writer), path):
            _, client = await asyncio.open_unix_connection(path)
            writer = await connected
            before = peer_pid(writer.get_extra_info("socket"))
            client.close()
            writer.close()
            await writer.wait_closed()
            return [before, peer_pid(writer.get_extra_info("socket"))]

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert runner.run(live()) == [os.getpid(), None]


def test_a_peer_of_another_user_is_refused(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    client = serve(owner_uid=os.getuid() + 1).connect()
    assert client.socket.recv(1) == b""
    assert f"peer refused uid={os.getuid()}" in caplog.text
