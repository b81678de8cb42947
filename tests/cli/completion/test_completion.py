"""Completion, in the real shells: commands, options, and names with their titles."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.cli.command_line import CommandLine

pytestmark = pytest.mark.requirement("R375")

_SECONDS = 60
_TITLE = "echo one, two: three \x1b]0;owned\x07$(touch owned) `touch owned`"
_SHOWN = "shell queued: echo one, two: three"


@pytest.fixture
def fleet(shop: CommandLine) -> CommandLine:
    """An effort with a hostile title, e1, and two branches."""
    shop.ok("add", _TITLE, "--skill", "shell")
    shop.ok("history", "commit", "what-if", "Guests have no cart.")
    shop.ok("history", "commit", "what-else", "Guests have a cart.")
    return shop


def _complete(ramet: CommandLine, shell: str, line: str) -> list[str]:
    """What `ramet` answers to a shell, as the script of that shell asks."""
    words = line.split(" ")
    environ = {"_RAMET_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    if shell == "fish":
        environ["COMP_CWORD"] = words[-1]
    done = ramet(environ=environ)
    assert done.stderr == ""
    return done.stdout.splitlines()


def _need(shell: str) -> str:
    """The shell's path. Without it there is no proof: a skip that is seen on a laptop, a failure in CI."""
    path = shutil.which(shell)
    if path is None and os.environ.get("CI"):
        pytest.fail(f"{shell} is not installed, so its completion is not proved")
    return path or pytest.skip(f"{shell} is not installed, so its completion is not proved")


class _Shell:
    """An interactive shell on a terminal."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def wait_for(self, *texts: str) -> None:
        """Until the terminal has shown all of them."""
        deadline = time.monotonic() + _SECONDS
        while not all(text in self.seen for text in texts):
            assert select.select([self._terminal], [], [], deadline - time.monotonic())[0], self.seen
            self.seen += os.read(self._terminal, 65536).decode(errors="replace")


@contextmanager
def _shell(ramet: CommandLine, *command: str) -> Iterator[_Shell]:
    ours, theirs = pty.openpty()
    path = f"{os.path.dirname(ramet.program)}:{ramet.environ['PATH']}"  # noqa: PTH120
    environ = {**ramet.environ, "PATH": path, "TERM": "xterm", "LC_ALL": "C.UTF-8", "PS1": "> ", "COLUMNS": "200"}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ramet.cwd, env=environ, start_new_session=True
    )
    os.close(theirs)
    try:
        yield _Shell(ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


# What `ramet` answers.


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ramet ", "init"),
        ("ramet wo", "work"),
        ("ramet history comp", "compress"),
        ("ramet history branch cr", "create"),
        ("ramet run --res", "--resume"),
        ("ramet --js", "--json"),
        ("ramet history commit main x --role ass", "assistant"),
    ],
)
def test_commands_and_options_are_completed_at_every_level(
    offline: CommandLine, shell: str, line: str, found: str
) -> None:
    assert any(found in answer for answer in _complete(offline, shell, line))


@pytest.mark.parametrize("line", ["ramet lo", "ramet merg", "ramet branch "])
def test_moved_commands_are_not_offered(offline: CommandLine, line: str) -> None:
    assert _complete(offline, "bash", line) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("line", ["ramet show ", "ramet show zz", "ramet nonsense x ", "ramet --set x show "])
def test_a_line_that_leads_nowhere_gets_no_answer_and_no_word(offline: CommandLine, shell: str, line: str) -> None:
    assert _complete(offline, shell, line) == []
    assert not (offline.home / "ramet" / "run").exists(), "completion starts no daemon"


def test_efforts_sessions_runs_and_branches_are_offered_with_their_titles(fleet: CommandLine) -> None:
    answers = dict(line.split("\t")[1:] for line in _complete(fleet, "bash", "ramet show "))
    assert set(answers) == {"e1", "what-if", "what-else"}
    assert answers["e1"].startswith(_SHOWN)
    assert "\x1b" not in answers["e1"]
    fleet.ok("task", "add", "cart")
    fleet.begin_effort("cart", "plan")
    fleet.ok("session", "start", "cart", "e2")
    assert [line.split("\t")[1] for line in _complete(fleet, "bash", "ramet session show ")] == ["s1"]
    assert [line.split("\t")[1] for line in _complete(fleet, "bash", "ramet history log what-i")] == ["what-if"]


def test_a_data_directory_in_the_line_is_used(fleet: CommandLine) -> None:
    home = fleet.environ["RAMET_HOME"]
    fleet.environ["RAMET_HOME"] = f"{home}-other"
    assert _complete(fleet, "bash", "ramet show e") == []
    assert len(_complete(fleet, "bash", f"ramet --home {home} show e")) == 1
    fleet.environ["RAMET_HOME"] = home


def test_a_path_is_left_to_the_shell(offline: CommandLine) -> None:
    assert _complete(offline, "bash", "ramet project add sr") == ["file\tsr\t"]


def test_the_top_level_is_completed_without_importing_a_command() -> None:
    program = "import sys; from ramet.cli.main import main; main(); print(*sys.modules, file=sys.stderr)"
    environ = {**os.environ, "_RAMET_COMPLETE": "bash_complete", "COMP_WORDS": "ramet ", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environ)
    assert not {"rich", "msgspec", "yaml", "ramet.cli.commands.look.ps"} & set(done.stderr.split())


# In the shells.


def test_bash_inserts_a_single_name_and_shows_titles_to_choose_from(fleet: CommandLine) -> None:
    with _shell(fleet, _need("bash"), "--norc", "--noprofile", "-i") as bash:
        bash.type('eval "$(ramet completion bash)"; echo load""ed\n')
        bash.wait_for("loaded")
        bash.type("ramet show e\t")
        bash.wait_for("ramet show e1 ")
        bash.type("\x15ramet show \t\t")
        bash.wait_for(f"e1  ({_SHOWN}", "what-if  (branch)")
    assert not (fleet.cwd / "owned").exists()


def test_zsh_inserts_a_single_name_and_shows_titles_to_choose_from(fleet: CommandLine) -> None:
    with _shell(fleet, _need("zsh"), "-f", "-i") as zsh:
        zsh.type('autoload -Uz compinit; compinit -u -D; eval "$(ramet completion zsh)"; echo load""ed\n')
        zsh.wait_for("loaded")
        zsh.type("ramet show wha\t\t")
        zsh.wait_for("what-if", "what-else", "branch")
        zsh.type("\x15ramet history compr\t")
        zsh.wait_for("compress")
    assert not (fleet.cwd / "owned").exists()


def test_fish_completes_names_with_their_titles(fleet: CommandLine) -> None:
    path = f"{os.path.dirname(fleet.program)}:{fleet.environ['PATH']}"  # noqa: PTH120
    done = subprocess.run(
        [_need("fish"), "--no-config", "-c", 'ramet completion fish | source; complete -C "ramet show "'],
        capture_output=True,
        text=True,
        check=True,
        timeout=_SECONDS,
        cwd=fleet.cwd,
        env={**fleet.environ, "PATH": path, "LC_ALL": "C.UTF-8"},
    )
    answers = dict(line.split("\t") for line in done.stdout.splitlines())
    assert answers["e1"].startswith(_SHOWN)
    assert {"what-if", "what-else"} <= set(answers)
    assert not (fleet.cwd / "owned").exists()
