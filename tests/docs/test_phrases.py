"""The phrases that readers stumble over, and the old names of commands, are in no text that people read."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import ROOT

from ramet.cli.commands.moved_commands import MOVED

_TOOL = ROOT / "tools" / "words.py"

_OLD_NAME = re.compile(rf"\bramet ({'|'.join(' '.join(old) for old in MOVED)})\b(?! [0-9]\\n)")
_KEPT = {
    "src/ramet/cli/commands/moved_commands.py": "the old names themselves",
    "CHANGELOG.md": "says which names are old",
}
"""Files that name an old spelling, and why."""


def _list_findings(*paths: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(_TOOL), *map(str, paths)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return done.stdout.splitlines()


@pytest.mark.requirement("R324")
@pytest.mark.parametrize(
    "sentence",
    [
        "The run goes on.",
        "Mend the line.",
        "It starts one where none runs.",
        "An option that may be repeated.",
        "Somebody is told.",
        "Put a summary in the place of a range.",
        "3 to look at",
        "What was tried in vain.",
    ],
)
def test_a_phrase_is_found_in_pages_messages_and_help(tmp_path: Path, sentence: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n{sentence}\n")
    module = tmp_path / "module.py"
    module.write_text(f'"""{sentence}"""\n\nraise ValueError("{sentence}")\n')
    assert [line.split(": ")[0] for line in _list_findings(page)] == [f"{page}:3"] * len(_list_findings(page))
    assert _list_findings(page)
    assert {line.split(": ")[0] for line in _list_findings(module)} == {f"{module}:3"}, "a docstring is for programmers"


@pytest.mark.requirement("R324")
def test_code_is_not_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```sh\necho where none goes on\n```\n\n`goes on` is a name.\n")
    assert _list_findings(page) == []


@pytest.mark.requirement("R324")
def test_make_check_reads_every_text() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^check: .*\bwords\b", makefile, re.MULTILINE)
    assert "tools/words.py\n" in makefile
    assert _list_findings() == []


@pytest.mark.requirement("R325")
def test_no_text_has_the_old_name_of_a_command() -> None:
    places = [ROOT / "src", ROOT / "docs", ROOT / "demo", ROOT / "benchmarks", *ROOT.glob("*.md")]
    files = [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*.*")))]
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in files
        if file.suffix in (".py", ".md", ".sql", ".txt", ".yaml", ".json") and str(file.relative_to(ROOT)) not in _KEPT
        for match in _OLD_NAME.finditer(file.read_text(encoding="utf-8"))
    ]
    assert found == []
    assert all(_OLD_NAME.search((ROOT / kept).read_text(encoding="utf-8")) for kept in _KEPT)
