"""Tool calls that change files, as each vendor's history has them."""

import json
from typing import Any

import pytest

from ramet.model.memory.edit import FileEdit
from ramet.vendors import registry

PATCH = """*** Begin Patch
*** Update File: src/cart.py
@@ def total
 a = 1
-b = 2
+b = 3
*** Add File: src/new.py
+c = 4
*** Delete File: src/old.py
*** End Patch"""
PATCHED = [
    FileEdit(path="src/cart.py", old="a = 1\nb = 2", new="a = 1\nb = 3"),
    FileEdit(path="src/new.py", old="", new="c = 4"),
]
CHANGED = [FileEdit(path="/shop/a.py", old="x = 1", new="x = 2")]


def _replacing(path: str, old: str, new: str) -> str:
    return json.dumps({path: "/shop/a.py", old: "x = 1", new: "x = 2"})


@pytest.mark.parametrize(
    ("vendor", "tool", "given", "expected"),
    [
        ("claude", "Edit", _replacing("file_path", "old_string", "new_string"), CHANGED),
        ("gemini", "replace", _replacing("file_path", "old_string", "new_string"), CHANGED),
        ("opencode", "edit", _replacing("filePath", "oldString", "newString"), CHANGED),
        ("command", "edit", _replacing("path", "old", "new"), CHANGED),
        ("codex", "apply_patch", PATCH, PATCHED),
        ("codex", "shell", json.dumps({"command": ["apply_patch", PATCH]}), PATCHED),
        ("codex", "exec_command", json.dumps({"cmd": f"apply_patch <<'EOF'\n{PATCH}\nEOF"}), PATCHED),
        ("opencode", "patch", json.dumps({"patchText": PATCH}), PATCHED),
        ("claude", "Read", '{"file_path": "/shop/a.py"}', []),
        ("codex", "file_change", '{"changes": [{"path": "a.py", "kind": "update"}]}', []),
    ],
)
def test_a_call_says_which_text_it_replaced(vendor: str, tool: str, given: str, expected: list[FileEdit]) -> None:
    assert registry.edits()[vendor].read(tool, given, "ok") == expected


def test_a_written_file_is_new_only_if_the_result_says_so() -> None:
    given = json.dumps({"file_path": "/shop/a.py", "content": "x = 1"})
    read = registry.edits()["claude"].read
    assert read("Write", given, "File created successfully at: /shop/a.py")[0].old == ""
    assert read("Write", given, "The file /shop/a.py has been updated.")[0].old is None


def test_several_edits_and_a_cell_of_a_notebook_are_read() -> None:
    read = registry.edits()["claude"].read
    parts: list[Any] = [{"old_string": "a", "new_string": "b"}, "nonsense", {"old_string": "c", "new_string": "d"}]
    given = json.dumps({"file_path": "/shop/a.py", "edits": parts})
    assert [(edit.old, edit.new) for edit in read("MultiEdit", given, "")] == [("a", "b"), ("c", "d")]
    cell = json.dumps({"notebook_path": "/shop/a.ipynb", "new_source": "x = 1\ny = 2"})
    assert read("NotebookEdit", cell, "")[0].new == '"x = 1\\n",\n"y = 2"'


@pytest.mark.parametrize("vendor", sorted(registry.edits()))
@pytest.mark.parametrize("given", ["", "[]", "null", "{", '{"file_path": 7, "edits": {"a": 1}}', "*** Begin Patch"])
def test_what_makes_no_sense_is_no_edit(vendor: str, given: str) -> None:
    read = registry.edits()[vendor].read
    tools = ("Edit", "MultiEdit", "Write", "NotebookEdit", "edit", "write", "patch", "replace", "apply_patch")
    assert [read(tool, given, "") for tool in tools] == [[]] * len(tools)
