"""The user's own file, to which a command adds a rule: what a person wrote stays as it is."""

from pathlib import Path

import pytest
import yaml

from ramet.config.edits.user_file import append
from ramet.errors import ConfigError

KEYS = ("permissions", "projects", "/home/me/a shop", "allow")
RULE = "run: npm test *"


def file(home: Path, text: str | None) -> Path:
    path = home / ".config" / "ramet" / "config.yaml"
    if text is not None:
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    return path


def rules(path: Path) -> list[object]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key in KEYS:
        document = document[key]
    return list(document)


@pytest.mark.parametrize(
    "before",
    [
        None,
        "",
        "# only a comment\n",
        "work:\n  retries: 1  # few\n\n# the end\n",
        "work:\n  retries: 1",
        "permissions:\n  allow:\n    - run: make test\n# after\nwork:\n  retries: 1\n",
        "permissions:\n  allow: [run: make test]\nwork: {retries: 1}\n",
        "permissions:\nwork:\n  retries: 1\n",
        "permissions:\n  projects:\n  allow: []\n",
        "permissions:\n    projects:\n        /other:\n            allow:\n            - run: x  # why\n    deny: []\n",
        "permissions:\n  projects:\n    /home/me/a shop:\n      deny:\n        - run: x\n\n# the end\n",
        "permissions:\n  projects:\n    /home/me/a shop:\n      allow:\n      - run: x\n      # more\n      deny: []\n",
        "permissions:\n  projects:\n    /home/me/a shop:\n      allow: ['run: x']\n",
        "permissions:\n  projects:\n    /home/me/a shop: {allow: [], deny: ['run: y']}\n",
        "permissions: {projects: {}}\n",
        "permissions: {allow: [],}\n",
        '{"work": {"retries": 1}, "permissions": {"projects": {"/home/me/a shop": {"allow": ["run: x"]}}}}',
        "{}\n",
    ],
)
def test_a_rule_is_added_and_everything_else_stays(tmp_path: Path, before: str | None) -> None:
    path = file(tmp_path, before)
    assert append({"HOME": str(tmp_path)}, KEYS, RULE) == path
    after = path.read_text(encoding="utf-8")
    assert rules(path)[-1] == RULE
    old = before or ""
    assert [line for line in old.splitlines() if "#" in line] == [line for line in after.splitlines() if "#" in line]
    assert len(yaml.safe_load(after)) >= len(yaml.safe_load(old) or {})
    assert append({"HOME": str(tmp_path)}, KEYS, RULE) == path
    assert path.read_text(encoding="utf-8") == after


@pytest.mark.parametrize(
    "before", ["- a list\n", "permissions: x\n", "permissions: [a]\n", "permissions:\n  projects: 7\n", "a: [\n"]
)
def test_a_file_that_cannot_be_changed_stays_as_it_is(tmp_path: Path, before: str) -> None:
    path = file(tmp_path, before)
    with pytest.raises(ConfigError):
        append({"HOME": str(tmp_path)}, KEYS, RULE)
    assert path.read_text(encoding="utf-8") == before
