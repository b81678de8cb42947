"""The reference is what the code says: generated, whole, and up to date."""

import re
import subprocess
import sys
from typing import get_args

import pytest
from tests.docs.pages import ROOT

from ramet.errors import BY_CODE
from ramet.model.event import EventKind
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.wire.describe import EVENT_PURPOSES, describe

REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.requirement("R314")
def test_what_is_generated_is_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.requirement("R280", "R314")
def test_every_operation_and_every_event_is_one_line_of_the_api_file() -> None:
    lines = (REFERENCE / "api.txt").read_text(encoding="utf-8").splitlines()
    names = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert names == [*OPERATIONS, *get_args(EventKind)]


@pytest.mark.requirement("R280", "R314")
def test_a_line_of_the_api_file_has_the_fields_the_reply_and_the_errors() -> None:
    line = next(line for line in (REFERENCE / "api.txt").read_text().splitlines() if line.startswith("work.claim "))
    wanted = r"work\.claim  public  \(idempotency_key: .* worker: str, .*\) -> Claimed \| Refused  ! project_not_found"
    assert re.fullmatch(wanted, line)


def titles(page: str) -> set[str]:
    return set(re.findall(r"^## `([\w.]+)`$", (REFERENCE / page).read_text(encoding="utf-8"), re.MULTILINE))


def names_for(audience: str) -> set[str]:
    return {name for name, operation in OPERATIONS.items() if operation.audience == audience}


@pytest.mark.requirement("R280", "R323")
def test_the_reference_has_the_public_operations_and_a_page_of_its_own_those_for_compatibility() -> None:
    assert titles("operations.md") == names_for("public")
    assert titles("compatibility.md") == names_for("compatibility")
    assert f"There are {len(names_for('public'))} operations" in (REFERENCE / "operations.md").read_text()


@pytest.mark.requirement("R323")
def test_internal_operations_are_in_no_page_of_the_reference_and_not_in_the_library() -> None:
    pages = [page for page in REFERENCE.glob("*.md") if page.name != "config.md"]  # keys have names of their own
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    library = (ROOT / "src" / "ramet" / "library" / "operations.py").read_text(encoding="utf-8")
    assert names_for("internal")
    for name in names_for("internal"):
        assert f"`{name}`" not in text
        assert not re.search(rf"\b{OPERATIONS[name].request.__name__}\b", library)


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
