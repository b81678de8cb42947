"""The file that agents' settings name: always at the same place, and always as things are now."""

import stat
import sys
from pathlib import Path

from msgspec import structs
from tests.hooks.conftest import Done, Hook
from tests.hooks.listener import listening, saying

from ramet.config.settings import DaemonSettings, HookSettings, Settings
from ramet.hooks import program


def test_it_is_for_its_owner_and_is_left_alone_where_it_is_right(hook: Hook) -> None:
    before = hook.program.stat()
    assert stat.S_IMODE(before.st_mode) == 0o700
    program.write_program(Settings(daemon=DaemonSettings(autostart=False)), hook.places)
    assert hook.program.stat().st_ino == before.st_ino
    program.write_program(Settings(hooks=HookSettings(deadline_ms=77)), hook.places)
    assert hook.program.stat().st_ino != before.st_ino
    assert "deadline_seconds=0.077" in hook.program.read_text()
    assert [path.name for path in hook.home.iterdir() if path.is_file()] == ["hook"]


def test_the_user_s_own_daemon_keeps_the_program_current_and_no_other_does(hook: Hook, tmp_path: Path) -> None:
    own = tmp_path / "ramet/config.yaml"
    own.parent.mkdir()
    own.write_text("hooks: {on_daemon_down: block}")
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "RAMET_HOOKS_DEADLINE_MS": "77"}
    before = hook.program.read_text()
    program.keep_program_current(environ, structs.replace(hook.places, socket=Path("/another.sock")))
    assert hook.program.read_text() == before
    program.keep_program_current(environ, hook.places)
    wanted = Settings(hooks=HookSettings(on_daemon_down="block"))
    assert hook.program.read_text() == program.make_program(wanted, hook.places)
    hook.program.unlink()
    program.keep_program_current(environ, hook.places)
    assert not hook.program.exists()


def test_gaps_are_for_the_daemon_that_the_program_speaks_to(hook: Hook) -> None:
    other = structs.replace(hook.places, socket=hook.home / "run/other.sock")
    assert (program.is_heard_by(hook.places), program.is_heard_by(other)) == (True, False)
    hook.program.unlink()
    assert program.is_heard_by(other)


def test_an_interpreter_whose_path_no_first_line_can_have_is_started_by_a_shell(hook: Hook) -> None:
    for folder in ("with a blank", "long" * 50, "it's"):
        place = hook.home / folder
        place.mkdir()
        interpreter = place / "python"
        interpreter.symlink_to(Path(sys.executable).resolve())
        text = hook.program.read_text()
        body = text[text.index("# Hands") :]
        hook.program.write_text(program._first_line(str(interpreter)) + body)
        with listening(hook.socket, saying({"a": 1})):
            assert hook.run("{}") == Done(0, '{"a":1}\n', "")
        assert folder == "it's" or hook.program.read_text().startswith("#!/bin/sh")


def test_where_ramet_has_gone_the_agent_goes_on(hook: Hook) -> None:
    text = hook.program.read_text()
    folder = str(Path(program.__file__).parent)
    hook.program.write_text(text.replace(folder, "/nowhere"))
    assert hook.run("{}") == Done(0, "", "")
