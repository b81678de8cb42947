"""`ramet show`: anything by its name."""

import pytest
from tests.cli.command_line import CommandLine


@pytest.mark.parametrize(
    ("reference", "noun", "command"),
    [
        ("e999", "effort", "ramet queue --all -A"),
        ("e99999", "effort", "ramet queue --all -A"),
        ("s999", "session", "ramet session list -A"),
        ("r999", "run", "ramet runs list --all -A"),
    ],
)
def test_a_name_that_nothing_has_is_refused_with_the_command_that_lists_names(
    ramet: CommandLine, reference: str, noun: str, command: str
) -> None:
    done = ramet("show", reference)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"error: there is no {noun} {reference}\n  fix: list what there is: `{command}`\n"
    assert ramet(*command.split()[1:]).returncode == 0
