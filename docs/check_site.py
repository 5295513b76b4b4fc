"""Check the pages that Sphinx has built: ``python docs/check_site.py build/docs``.

Every link within the pages leads to a page and a place on it, every picture says in words what it
shows, nothing is loaded from elsewhere, addresses elsewhere are well formed, and the index of
names has every public name. Prints each fault, and exits with 1 if there is one.
"""

from __future__ import annotations

import html
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Page", "faults", "page_of", "unlisted"]

TAG = re.compile(
    r"<([a-zA-Z][\w-]*)((?:\s+[^\s=>\"'/]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?)*)"
)
ATTRIBUTE = re.compile(r"([^\s=>\"'/]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
IN_STYLE = re.compile(r"(?:@import\s+|url\()\s*[\"']?((?:https?:)?//[^\"')\s]+)")
LOADS = {
    **{"script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "embed": ("src",)},
    **{"audio": ("src",), "video": ("src", "poster"), "source": ("src", "srcset")},
    **{"object": ("data",), "link": ("href",), "image": ("href", "xlink:href")},
}
"""What each element loads with the page."""

NOT_LOADED = ("canonical", "next", "prev", "index", "search", "author", "copyright")
"""Kinds of ``<link>`` that load nothing."""


@dataclass(frozen=True)
class Page:
    """What matters of a page of HTML."""

    places: frozenset[str]
    links: tuple[str, ...]
    loaded: tuple[str, ...]
    silent: tuple[str, ...]
    """Pictures without words."""


def page_of(text: str) -> Page:
    """Return what matters of the text of a page."""
    places, links, loaded, silent = set(), [], [], []
    for tag, rest in TAG.findall(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
        given = {
            name.lower(): html.unescape(a or b or c) for name, a, b, c in ATTRIBUTE.findall(rest)
        }
        element = tag.lower()
        places |= {given[name] for name in ("id", "name") if name in given}
        if element == "a" and "href" in given:
            links.append(given["href"])
        if element == "img" and not given.get("alt", "").strip() and "aria-hidden" not in given:
            silent.append(given.get("src", ""))
        if element != "link" or given.get("rel") not in NOT_LOADED:
            loaded += [given[name] for name in LOADS.get(element, ()) if given.get(name)]
        loaded += IN_STYLE.findall(given.get("style", ""))
    for style in re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL):
        loaded += IN_STYLE.findall(style)
    return Page(frozenset(places), tuple(links), tuple(loaded), tuple(silent))


def faults(folder: Path) -> Iterator[str]:
    """Yield each fault of the pages below a folder, as a line."""
    pages = {
        path.relative_to(folder).as_posix(): page_of(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }
    for name, page in pages.items():
        for address in page.loaded:
            yield from _fault_of_loaded(folder, name, address)
        for picture in page.silent:
            yield f"{name}: the picture {picture} has no alternative text"
        for link in dict.fromkeys(page.links):
            fault = _fault_of_link(folder, pages, name, link)
            if fault:
                yield f"{name}: {link} {fault}"
    for path in sorted(folder.rglob("*.css")):
        for address in IN_STYLE.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(folder)}: loads {address}"


def _fault_of_loaded(folder: Path, name: str, address: str) -> Iterator[str]:
    parts = urlsplit(address)
    if parts.scheme == "data":
        return
    if parts.scheme or parts.netloc:
        yield f"{name}: loads {address}"
    elif not (folder / name).parent.joinpath(unquote(parts.path)).is_file():
        yield f"{name}: loads {address}, which is no file"


def _fault_of_link(folder: Path, pages: dict[str, Page], name: str, link: str) -> str:
    parts = urlsplit(link)
    if parts.scheme in ("http", "https"):
        return "" if re.fullmatch(r"[\w-]+(\.[\w-]+)+(:\d+)?", parts.netloc) else "is no address"
    if parts.scheme:
        return "" if parts.scheme == "mailto" else "is of an unknown kind"
    target = (folder / name).parent.joinpath(unquote(parts.path)).resolve() if parts.path else None
    place = name
    if target is not None:
        if not target.is_relative_to(folder.resolve()) or not target.is_file():
            return "leads to no file"
        place = target.relative_to(folder.resolve()).as_posix()
    anchor = unquote(parts.fragment)
    if anchor and place in pages and anchor not in pages[place].places:
        return "leads to no place on its page"
    return ""


def elsewhere(folder: Path) -> list[str]:
    """Return the addresses elsewhere that the pages link to, each once."""
    links: set[str] = set()
    for path in folder.rglob("*.html"):
        links |= set(page_of(path.read_text(encoding="utf-8")).links)
    return sorted(link for link in links if link.startswith(("http:", "https:")))


def unlisted(folder: Path, names: Iterable[str]) -> list[str]:
    """Return the names that the index ``objects.inv`` of the pages does not have."""
    content = (folder / "objects.inv").read_bytes()
    lines = zlib.decompress(content.split(b"\n", 4)[4]).decode().splitlines()
    known = {line.split(" ")[0] for line in lines}
    return [name for name in names if name not in known]


def main(folder: Path) -> int:
    """Print the faults, and a line for each address elsewhere; return the exit code."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from docs.sphinx_pages.public_names import homes
    from docs.sphinx_pages.supporting_types import supporting_types

    names = [home.path for home in homes().values()]
    more = [one.path for one in supporting_types().values()]
    found = [
        *faults(folder),
        *(f"{name} is not in the reference" for name in unlisted(folder, [*names, *more])),
    ]
    for fault in found:
        sys.stdout.write(f"{fault}\n")
    n_pages = len(list(folder.rglob("*.html")))
    sys.stdout.write(
        f"{n_pages} pages, {len(names):,} public names, {len(elsewhere(folder))} addresses"
        f" elsewhere, {len(found)} faults.\n"
    )
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
