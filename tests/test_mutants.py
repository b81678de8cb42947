"""`make mutants`: the same sample for the same seed, in a copy, within its time, and what nobody noticed is named."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULE = "src/ramet/model/names.py"


def mutants(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "mutants.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_a_seed_names_its_sample() -> None:
    first = mutants("--list", "--seed", "7", "--count", "12").stdout
    assert first == mutants("--list", "--seed", "7", "--count", "12").stdout
    assert first != mutants("--list", "--seed", "8", "--count", "12").stdout
    lines = [line.split("  ")[0] for line in first.splitlines()]
    assert len(set(lines)) == 12
    assert all(line.startswith("src/ramet/") for line in lines)


def test_a_mutant_that_no_test_notices_is_named_and_the_checkout_stays_as_it_is(tmp_path: Path) -> None:
    before = (ROOT / MODULE).read_bytes()
    blind = tmp_path / "test_blind.py"
    blind.write_text("def test_nothing() -> None:\n    import ramet.model.names\n")
    done = mutants(MODULE, "--seed", "1", "--count", "1", "--tests", str(blind))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"SURVIVED {MODULE}:" in done.stdout
    seeing = tmp_path / "test_seeing.py"
    seeing.write_text(
        "from pathlib import Path\nimport ramet.model.names as names\n"
        f"def test_same() -> None:\n    assert Path(names.__file__).read_bytes() == {before!r}\n"
    )
    done = mutants(MODULE, "--seed", "1", "--count", "1", "--tests", str(seeing))
    assert (done.returncode, "1 of 1 killed" in done.stdout) == (0, True), done.stdout + done.stderr
    assert (ROOT / MODULE).read_bytes() == before


def test_no_mutant_is_tried_when_its_time_is_over() -> None:
    done = mutants("--seed", "7", "--count", "3", "--minutes", "0")
    assert (done.returncode, "3 mutants were not tried" in done.stdout) == (0, True)


def test_tests_that_take_too_long_have_noticed_the_mutant(tmp_path: Path) -> None:
    endless = tmp_path / "test_endless.py"
    endless.write_text("def test_endless() -> None:\n    while True:\n        pass\n")
    done = mutants(MODULE, "--seed", "1", "--count", "1", "--timeout", "20", "--tests", str(endless))
    assert (done.returncode, "killed" in done.stdout) == (0, True)
