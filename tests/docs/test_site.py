"""The docs site builds without a warning, has every page, and loads nothing from another host.

No browser takes part: pip installs none, and a check that most machines skip proves little. Every page carries a policy
that makes a browser refuse other hosts, and these tests read what the pages, the styles and the scripts load.
"""

import fcntl
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from tests.docs.pages import ROOT, blocks, name

pytestmark = pytest.mark.requirement("R326")

DOCS = ROOT / "docs"
AT_THE_ROOT = {
    "README.md": "index.html",
    "ARCHITECTURE.md": "architecture.html",
    "CHANGELOG.md": "changelog.html",
    "CONTRIBUTING.md": "contributing.html",
}
PARTS = {"h1", "h2", "h3", "h4", "ol", "ul", "li", "table", "tr", "th", "td", "pre", "strong", "em", "blockquote"}
_OTHER_HOST = re.compile(r"\s*(?:https?:)?//")
_LOADED_BY_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//""")
_LOADED_BY_SCRIPT = re.compile(r"""(?:\bimport|\bfrom|importScripts\(|fetch\()\s*\(?["'`](?:https?:)?//""")


def _require_mkdocs() -> None:
    """On a laptop the tests say loudly what they leave out; a build that leaves it out has failed."""
    missing = [module for module in ("mkdocs", "material", "mmdr") if importlib.util.find_spec(module) is None]
    if not missing:
        return
    message = f"THE DOCS SITE IS NOT TESTED: {', '.join(missing)} not installed; `pip install -e '.[docs]'` installs it"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(message)
    pytest.skip(message)


def _build(site: Path) -> None:
    program = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=100)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr, built.stderr


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site. The processes that share the tests share it: the first that asks builds it."""
    _require_mkdocs()
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "site.built").exists():
            _build(folder / "site")
            (folder / "site.built").touch()
    return folder / "site"


class Elements(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {key: value or "" for key, value in attrs}))


def elements(html: str) -> list[tuple[str, dict[str, str]]]:
    return Elements(html).found


def _place(page: Path) -> str:
    """Where a page of the repository is in the site."""
    if page.parent == ROOT:
        return AT_THE_ROOT[page.name]
    inside = page.relative_to(DOCS)
    return str(inside.with_name("index.html") if page.name == "README.md" else inside.with_suffix(".html"))


def _pages() -> list[Path]:
    return [*(ROOT / page for page in AT_THE_ROOT), *sorted(DOCS.rglob("*.md"))]


def _article(html: str) -> str:
    """The part of a page that its author wrote."""
    return html.partition("<article")[2].partition("</article>")[0]


def _loads(html: str) -> Iterator[str]:
    """The addresses that a browser loads to show a page, without those that a reader clicks."""
    for tag, attributes in elements(html):
        addresses = {"src", "srcset", "data", "poster", "xlink:href"}
        if tag in ("link", "use", "image") and attributes.get("rel") not in ("canonical", "prev", "next"):
            addresses.add("href")
        if tag != "a":
            yield from (attributes[key] for key in addresses if key in attributes)


def test_the_navigation_has_every_page_and_no_other(site: Path) -> None:
    home = elements((site / "index.html").read_text(encoding="utf-8"))
    linked = {each["href"] for tag, each in home if tag == "a" and "md-nav__link" in each.get("class", "")}
    pages = {address for address in linked if not address.startswith("#")}
    assert {"index.html" if address in (".", "./") else address for address in pages} == set(map(_place, _pages()))
    assert all((site / address).exists() for address in pages)


@pytest.mark.parametrize("page", _pages(), ids=name)
def test_a_page_has_the_parts_that_it_has_on_github(site: Path, page: Path) -> None:
    """The site's Markdown differs from GitHub's in lists, tables and code: what was written as a list stays one."""
    source = page.read_text(encoding="utf-8")
    github = Counter(tag for tag, _ in elements(MarkdownIt("commonmark").enable("table").render(source)))
    shown = Counter(tag for tag, _ in elements(_article((site / _place(page)).read_text(encoding="utf-8"))))
    diagrams = sum(block.language == "mermaid" for block in blocks(page))
    github.subtract({"pre": diagrams})
    assert {part: shown[part] for part in PARTS} == {part: github[part] for part in PARTS}
    assert shown["svg"] == diagrams


def test_a_link_to_a_file_that_is_no_page_shows_its_path(site: Path) -> None:
    home = _article((site / "index.html").read_text(encoding="utf-8"))
    assert "<code>tests/crash/test_sigkill.py</code>" in home
    assert [each["href"] for tag, each in elements(home) if tag == "a" and "tests/" in each.get("href", "")] == []


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    found = {
        f"{path.relative_to(site)}: {address}"
        for path in site.rglob("*.html")
        for address in _loads(path.read_text(encoding="utf-8"))
        if _OTHER_HOST.match(address)
    }
    assert found == set()


def test_no_style_and_no_script_loads_anything_from_another_host(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css", ".js", ".svg")]
    texts = {str(path.relative_to(site)): path.read_text(encoding="utf-8") for path in files}
    assert len(texts) > len(_pages())
    assert [file for file, text in texts.items() if _LOADED_BY_STYLE.search(text)] == []
    assert [file for file, text in texts.items() if _LOADED_BY_SCRIPT.search(text)] == []
    assert "http" not in texts["assets/iframe-worker.js"]


def test_every_page_tells_the_browser_to_refuse_other_hosts(site: Path) -> None:
    """The theme's script has addresses of other hosts: for diagrams, for the numbers of a forge, for old browsers."""
    for path in site.rglob("*.html"):
        first = elements(path.read_text(encoding="utf-8").partition("<head>")[2])[0]
        assert first[1].get("http-equiv") == "Content-Security-Policy", path
        directives = [each.split() for each in first[1]["content"].split(";")]
        assert [each[0] for each in directives] == ["default-src"]
        assert set(directives[0][1:]) <= {"'self'", "file:", "data:", "'unsafe-inline'"}


def test_the_search_finds_a_known_word_also_without_a_server(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"] if "worktree" in entry["text"].lower()}
    assert {"worktrees.html", "reference/cli.html"} <= found
    script = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert json.loads(script.removeprefix("var __index = ")) == index
