"""Which files a directive imports."""

import time

import pytest

from ramet.model.hooks.directive import find_imports, is_plain, make


@pytest.mark.requirement("R252")
def test_imports_are_found_each_once_in_order() -> None:
    text = "Read @docs/style.md and @../README.md, then (@docs/style.md).\n- @~/own.md\nSee @git-rules."
    assert find_imports(text) == ["docs/style.md", "../README.md", "~/own.md", "git-rules"]


def test_what_stands_in_code_or_in_an_address_imports_nothing() -> None:
    text = "Write to a@b.org or `@docs/a.md` or ``x `@b.md` y``.\n```\n@c.md\n```\n~~~~\n@d.md\n~~~\n~~~~\n@e.md"
    assert find_imports(text) == ["e.md"]
    assert find_imports("a `` b `@c.md` d ``` @f.md") == ["f.md"]


@pytest.mark.parametrize(
    "line", ["x" + "`" * 100_000 + "a" * 100_000, "a".join("`" * k for k in range(600)), "@" * 200_000]
)
def test_a_line_without_measure_is_read_in_no_time(line: str) -> None:
    start = time.process_time()
    assert find_imports(f"{line}\n@x.md") == ["x.md"]
    assert time.process_time() - start < 5


def test_what_a_terminal_would_obey_is_not_told() -> None:
    assert make("/a", "one\x1b[2J\x07\r\n\ttwo\x9b\x00").text == "one[2J\n\ttwo"
    assert not is_plain("/a\n--- /b")
    assert is_plain("/größe/日本\u200d")


def test_a_directive_is_known_by_what_it_says() -> None:
    assert make("/a", "x").hash == make("/b", "x").hash != make("/a", "y").hash
