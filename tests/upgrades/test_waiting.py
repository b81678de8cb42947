"""A daemon that is killed in a migration, or waits for another host's: the command that started it says so in time."""

import json
from pathlib import Path

import psycopg
import pytest
from tests.upgrades.builds import Installation, wait_until

_MIGRATING = 7236461
"""The lock of `migrations.sql`, which a host holds while it migrates."""


@pytest.mark.requirement("R465")
def test_a_command_says_that_its_daemon_waits_for_a_migration_and_the_next_one_finds_it(
    this: Installation, world: Path, postgres_url: str
) -> None:
    configured = {
        "database": {"type": "postgres", "url": postgres_url},
        "daemon": {"start_timeout_seconds": 2},
    }
    (world / "user" / ".config" / "ramet" / "config.yaml").write_text(json.dumps(configured))
    with psycopg.connect(postgres_url, autocommit=True) as other_host:
        other_host.execute(b"SELECT pg_advisory_lock(%d)" % _MIGRATING)
        done = this("ps")
        assert done.returncode == 1
        first, fix = done.stderr.splitlines()
        assert first.startswith("error: the daemon did not answer in time; it may still be migrating the database")
        assert fix.startswith("  fix: try again in a moment")
    wait_until(lambda: this("ps").returncode == 0)


@pytest.mark.requirement("R465")
def test_a_daemon_that_is_killed_in_the_middle_of_its_migration_is_named_and_the_next_command_repeats_it(
    this: Installation,
) -> None:
    this.environ["RAMET_FAULT"] = "during_migration:5"
    done = this("ps")
    assert (done.returncode, done.stderr.count("\n")) == (1, 2)
    assert done.stderr.startswith(
        "error: the daemon was ended by SIGKILL while it started\n  fix: run the command again"
    )
    del this.environ["RAMET_FAULT"]
    this.ok("ps")
    assert "intact" in this.ok("db", "check")
