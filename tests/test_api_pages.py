"""The API reference has a page for each topic, and each public name on one of them."""

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

import miptree

DOCS = Path(__file__).parents[1] / "docs"
PUBLIC = re.findall(r"`miptree\.(\w+)`", (DOCS / "releases.md").read_text())
"""Submodules whose names are promised to users."""
PAGES = sorted((DOCS / "api").glob("*.md"))


def public_names():
    """Public names with their objects; one object may have several names."""
    for name in miptree.__all__:
        if name != "__version__":
            yield f"miptree.{name}", getattr(miptree, name)
    for submodule in PUBLIC:
        module = importlib.import_module(f"miptree.{submodule}")
        for name in module.__all__:
            yield f"miptree.{submodule}.{name}", getattr(module, name)


def documented(page):
    """Names that a page shows, with their objects."""
    for name in re.findall(r"^::: ([\w.]+)", page.read_text(), re.MULTILINE):
        place, _, last = name.rpartition(".")
        yield name, getattr(importlib.import_module(place), last)


def test_every_public_name_is_on_exactly_one_page():
    pages = Counter()
    for page in DOCS.rglob("*.md"):
        pages.update({id(thing) for _, thing in documented(page)})
    off = {name: pages[id(thing)] for name, thing in public_names()}
    assert {name: n for name, n in off.items() if n != 1} == {}
    assert len(off) > 100


def test_no_page_shows_a_name_twice():
    for page in PAGES:
        names = Counter(id(thing) for _, thing in documented(page))
        assert set(names.values()) <= {1}, page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_topic_is_introduced_and_in_the_contents(page):
    title, intro, *_ = page.read_text().split("\n\n")
    assert title.startswith("# ")
    assert re.match(r"[A-Z][^#|]+\.", intro), intro
    assert f"api/{page.name}\n" in (DOCS.parent / "mkdocs.yml").read_text()
    if page.stem != "index":
        assert f"({page.name})" in (DOCS / "api" / "index.md").read_text()
