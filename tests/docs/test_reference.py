"""The reference is what the code says: generated, whole, and up to date."""

import json
import subprocess
import sys
from typing import get_args

import pytest
from tests.docs.pages import ROOT

from ramet.errors import BY_CODE
from ramet.model.event import EventKind
from ramet.protocol.describe import EVENT_PURPOSES, describe
from ramet.protocol.operations import OPERATIONS

REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.requirement("R314")
def test_what_is_generated_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.requirement("R280", "R314")
def test_the_machine_readable_list_has_every_operation_and_its_schemas() -> None:
    listed = json.loads((REFERENCE / "operations.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in listed] == list(OPERATIONS)
    assert all(row["params"]["type"] == "object" for row in listed)
    assert all(row["reply"].keys() & {"properties", "anyOf"} for row in listed)


@pytest.mark.requirement("R280")
def test_the_page_says_how_many_operations_there_are() -> None:
    page = (REFERENCE / "operations.md").read_text(encoding="utf-8")
    assert f"There are {len(OPERATIONS)} operations" in page
    assert page.count("\n## `") == len(OPERATIONS)


def test_params_of_the_list_refuse_unknown_names() -> None:
    assert all(row["params"]["additionalProperties"] is False for row in describe())


def test_only_what_changes_something_takes_an_idempotency_key() -> None:
    takes_key = {row["name"] for row in describe() if "idempotency_key" in row["params"]["properties"]}
    assert takes_key == {row["name"] for row in describe() if row["changes"]}


def test_every_error_code_is_documented() -> None:
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    assert [code for code in BY_CODE if f"### `{code}`\n" not in page] == []


def test_every_error_that_an_operation_names_is_a_code() -> None:
    assert {code for row in describe() for code in row["errors"]} <= set(BY_CODE)


@pytest.mark.requirement("R314")
def test_every_kind_of_event_is_explained() -> None:
    assert list(EVENT_PURPOSES) == list(get_args(EventKind))
