"""The machine's clock is set while a keeper runs: the kernel then reports another start of every process."""

import asyncio
from pathlib import Path

import pytest
from tests.keeper.held import Held, make_spec

from ramet.runner.processes import keepers, process_exit, process_identity


@pytest.mark.requirement("R467")
def test_a_keeper_is_still_known_if_the_clock_was_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(tmp_path, make_spec(tmp_path, tmp_path / "s", "sleep 600"))
    try:
        record = held.whole_record()
        booted_at = process_identity._boot_time()
        monkeypatch.setattr(process_identity, "_boot_time", lambda: booted_at + 3600)
        assert keepers.is_alive(record)
        with pytest.raises(TimeoutError):
            asyncio.run(asyncio.wait_for(process_exit.until_gone(record.pid, keepers.find_start(record)), 0.1))
    finally:
        held.close()
    assert not keepers.is_alive(record)
