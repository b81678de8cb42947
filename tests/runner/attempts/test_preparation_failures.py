"""Whose failure it is if an agent could not start."""

import pytest

from ramet import errors
from ramet.errors import RametError
from ramet.runner.attempts.preparation_failures import PERMANENT, UNFIT, blame, failure_of

pytestmark = pytest.mark.requirement("R462")


class Unforeseen(RametError):
    """Something that is on no list."""


@pytest.mark.parametrize(
    ("error", "shared", "alone"),
    [
        (errors.WorktreeError("the worktree could not be created: No space left on device"), "host", "host"),
        (errors.GitFailed("git worktree add failed: exit status -9"), "host", "host"),
        (errors.LaunchFailed("the keeper could not be started"), "host", "host"),
        (errors.SetupKilled("the set-up command was killed"), "host", "host"),
        (OSError(5, "Input/output error"), "host", "host"),
        (Unforeseen(), "host", "host"),
        (errors.UnknownDriver(), "effort", "effort"),
        (errors.PathOutside(), "effort", "effort"),
        (errors.InvalidSetting(), "effort", "effort"),
        (errors.WorktreeRefused("no commit"), "effort", "effort"),
        (errors.MergeConflict(), "effort", "effort"),
        (errors.DriverMissing(), "unfit", "effort"),
        (errors.CommitMissing(), "unfit", "effort"),
        (errors.SetupFailed("exit status 3"), "unfit", "unfit"),
        (errors.FolderMissing(), "unfit", "unfit"),
        (errors.WorktreeBusy(), "unfit", "unfit"),
        (errors.DatabaseUnreachable(), "nobody", "nobody"),
    ],
)
def test_only_a_closed_list_of_causes_is_not_the_hosts(error: Exception, shared: str, alone: str) -> None:
    assert blame(error, is_alone=False) == shared
    assert blame(error, is_alone=True) == alone


def test_only_what_is_the_efforts_own_is_permanent() -> None:
    kinds = [failure_of(whose) for whose in ("effort", "unfit", "host", "nobody")]
    assert kinds == ["permanent", "infrastructure", "infrastructure", "infrastructure"]


def test_no_cause_is_on_both_lists_and_each_has_its_reason() -> None:
    for kind in PERMANENT:
        assert not any(issubclass(kind, other) or issubclass(other, kind) for other in UNFIT), kind
    assert all(PERMANENT.values())
    assert all(UNFIT.values())
