"""A permission mode that the program does not have is refused by name, before an agent is started with it."""

import pytest

from ramet.config.settings import DriverSettings, ProfileSettings
from ramet.errors import InvalidSetting
from ramet.vendors.selection import installed, resolve


@pytest.mark.parametrize(
    ("driver", "mode", "fix"),
    [
        ("claude", "acceptEdit", "did you mean acceptEdits? use one of: plan, default, "),
        ("codex", "workspace_write", "did you mean workspace-write? use one of: read-only, "),
        ("codex", "zebra", "use one of: read-only, workspace-write, danger-full-access"),
    ],
)
def test_a_misspelt_permission_mode_is_named_with_a_suggestion(driver: str, mode: str, fix: str) -> None:
    settings = DriverSettings(profiles={"mine": ProfileSettings(driver=driver, permission_mode=mode)})
    with pytest.raises(InvalidSetting) as refusal:
        resolve("mine", settings, {"PATH": "/usr/bin:/bin"})
    assert refusal.value.field == "drivers.profiles.mine.permission_mode"
    assert (repr(mode) in refusal.value.message, refusal.value.fix.startswith(fix)) == (True, True)
    (row,) = [row for row in installed(settings, {"PATH": ""}, versions=False) if row.name == "mine"]
    assert (row.program, fix in (row.fix or "")) == (None, True)


def test_a_program_of_the_user_s_own_has_no_modes() -> None:
    settings = DriverSettings(
        profiles={"mine": ProfileSettings(driver="command", permission_mode="any", program=["sh"])}
    )
    assert resolve("mine", settings, {"PATH": "/usr/bin:/bin"}).profile.permission_mode == "any"
