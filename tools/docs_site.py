"""What the docs site needs beyond MkDocs: a hook, which mkdocs.yml names.

The pages of the repository's root become pages of the site. A link to a repository file that is no page becomes text
with the file's path, because the repository has no public address. Diagrams are drawn when the site is built. Every
page carries a policy that makes the browser refuse other hosts, because the theme's scripts contain addresses of some.
The reasons are in docs/decisions/0037-docs-site.md.
"""

import os
import re
from pathlib import Path
from typing import Any
from zlib import crc32

import mmdr
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.superfences import SuperFencesException

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

ROOT_PAGES = {
    "index.md": ROOT / "README.md",
    "architecture.md": ROOT / "ARCHITECTURE.md",
    "changelog.md": ROOT / "CHANGELOG.md",
    "contributing.md": ROOT / "CONTRIBUTING.md",
}
"""The pages of the site that are not below `docs`."""

POLICY = "default-src 'self' file: data: 'unsafe-inline'"
"""What a page may load: its own host, or files if it was opened from one. The theme has inline scripts and styles."""

_CODE_OR_LINK = re.compile(
    r"^ *```.*?^ *```$"
    r"|\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)"
    r"|`[^`\n]*`",
    re.MULTILINE | re.DOTALL,
)
_SCHEME = re.compile(r"[a-z]+:")
_ITEM = re.compile(r" *(?:[-*+]|(?P<number>\d+)\.) +")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill in the folders of the navigation, and draw the diagrams."""
    config.nav = [_expand(entry) for entry in config.nav or []]
    fence = {"name": "mermaid", "class": "diagram", "format": _draw}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [fence]}
    return config


def _expand(entry: Any) -> Any:
    """An entry of the navigation; a folder becomes the list of its pages."""
    if isinstance(entry, dict):
        return {title: _expand(below) for title, below in entry.items()}
    if isinstance(entry, list):
        return [_expand(below) for below in entry]
    if entry.endswith("/"):
        pages = sorted((DOCS / entry).glob("*.md"), key=lambda page: (page.name != "README.md", page.name))
        return [page.relative_to(DOCS).as_posix() for page in pages]
    return entry


def _draw(source: str, *_: Any, **__: Any) -> str:
    """The SVG of a diagram, without its colours: `docs/assets/site.css` has some for the light and the dark scheme."""
    try:
        drawn = mmdr.render(source).svg()
    except Exception as error:
        raise SuperFencesException(f"a diagram cannot be drawn: {error}\n{source}") from error
    drawn = re.sub(r"<style>.*?</style>", "", drawn, flags=re.DOTALL)
    # As wide as it was drawn: a narrow window scrolls it, instead of making its words too small to read.
    drawn = re.sub(r'width="100%"(.*?) style="max-width:([\d.]+)px"', r'width="\2"\1', drawn, count=1)
    # The ids of two diagrams on one page must differ.
    drawn = re.sub(r'(id="|url\(#)merman', rf"\1diagram-{crc32(source.encode()):08x}", drawn)
    return f'<div class="diagram">{drawn}</div>'


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the repository's root."""
    for uri, path in ROOT_PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Translate what the pages write for GitHub: lists, and the links that lead out of `docs` or into it."""
    if page.file.src_uri.startswith("decisions/"):
        page.meta["search"] = {"boost": 0.5}  # a search finds the guide first
    return _CODE_OR_LINK.sub(lambda match: _rewrite(match, page, files), space_lists(markdown))


def space_lists(markdown: str) -> str:
    """Give lists the spaces that Python-Markdown wants: four below an item, and an empty line before a list.

    On GitHub the text of an item decides how far the lines below it are indented, and a list may follow its paragraph.
    """
    lines: list[str] = []
    columns: list[int] = []  # where the text of each open item starts
    is_list = False  # the lines since the last empty one started with an item
    is_code = False  # in a fenced block
    for line in markdown.splitlines():
        if not line.strip():
            lines.append("")
            continue
        starts = not lines or not lines[-1]
        item = None if is_code else _ITEM.match(line)
        if item and not starts and not columns and item["number"] not in (None, "1"):
            item = None  # a line of a paragraph that happens to start with a number
        indent = len(line) - len(line.lstrip())
        while columns and indent < columns[-1] and not is_code and (item or starts):
            columns.pop()
        if item and not starts and not is_list:
            lines.append("")
        if starts or item:
            is_list = bool(item)
        lines.append("    " * len(columns) + line[min(indent, columns[-1] if columns else 0) :])
        if item:
            columns.append(item.end())
        if line.lstrip().startswith("```"):
            is_code = not is_code
    return "\n".join(lines)


def _rewrite(match: re.Match[str], page: Page, files: Files) -> str:
    target = match["target"]
    if target is None or target.startswith("#") or _SCHEME.match(target):
        return match[0]
    path, _, fragment = target.partition("#")
    file = (Path(str(page.file.abs_src_path)).parent / path).resolve()
    uri = _uri(file)
    if files.get_file_from_path(uri):
        relative = os.path.relpath(uri, Path(page.file.src_uri).parent)
        return f"[{match['text']}]({relative}{'#' if fragment else ''}{fragment})"
    if not file.exists():
        return match[0]  # strict mode names it
    shown = f"`{file.relative_to(ROOT).as_posix()}`"
    before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
    return f"{match['text']}: {shown}" if (before, after) == ("(", ")") else f"{match['text']} ({shown})"


def _uri(file: Path) -> str:
    """The place of a file in the site, if it has one."""
    for uri, path in ROOT_PAGES.items():
        if path == file:
            return uri
    return os.path.relpath(file, DOCS)


def on_post_page(output: str, **_: Any) -> str:
    """Make the browser refuse other hosts."""
    return _add_policy(output)


def on_post_template(output_content: str, **_: Any) -> str:
    """The page for an address that does not exist is a template."""
    return _add_policy(output_content)


def _add_policy(output: str) -> str:
    return output.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">', 1)
