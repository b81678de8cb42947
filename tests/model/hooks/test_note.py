"""A note carries its time in a heading."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ramet.model.hooks.note import entry, log_file_of

AT = datetime(2026, 1, 5, 8, 0, 7, tzinfo=UTC)


@pytest.mark.requirement("R249")
def test_the_time_is_in_the_first_heading() -> None:
    assert (
        entry("## Found it\nin the cart\n## Next\n", AT)
        == "\n## [2026-01-05T08:00:07Z] Found it\nin the cart\n## Next\n"
    )


@pytest.mark.requirement("R297")
def test_the_time_in_a_heading_has_its_zone_and_is_utc_wherever_it_comes_from() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=-7)))
    assert entry("found it", elsewhere) == entry("found it", AT)
    stamp = entry("found it", AT).partition("[")[2].partition("]")[0]
    assert datetime.fromisoformat(stamp) == AT


def test_a_note_without_a_heading_gets_one() -> None:
    assert entry("found it", AT) == "\n## [2026-01-05T08:00:07Z]\n\nfound it\n"


@pytest.mark.requirement("R249", "R272")
def test_a_log_is_named_after_ordinal_and_skill() -> None:
    assert (log_file_of(2, "implement"), log_file_of(1, "code-review")) == (
        "2_IMPLEMENTATION_LOG.md",
        "1_CODE_REVIEW_LOG.md",
    )
