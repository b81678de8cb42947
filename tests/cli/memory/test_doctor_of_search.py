"""`ramet doctor` says how far the search index is, and why there are no vectors."""

import pytest
from tests.cli.command_line import CommandLine


@pytest.mark.requirement("R393")
def test_the_doctor_names_a_model_that_cannot_be_used_and_the_fix(ramet: CommandLine) -> None:
    directory = str(ramet.home / "model")
    ramet.configure({"search": {"embeddings": "directory", "model_directory": directory}})
    (finding,) = [each for each in ramet.json("doctor")["items"] if each["name"] == "search"]
    assert finding["result"] == "warn"
    assert f"no vectors: the model in {directory} cannot be used: tokenizer.json" in finding["detail"]
    assert "search.model_directory" in finding["fix"]
