"""The page on large tables says what was measured."""

import json
from math import log
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def seconds():
    """CPU seconds of the fits, by the name of the case."""
    journal = (ROOT / "benchmarks" / "results" / "growth.jsonl").read_text()
    return {line["name"]: line["fit"] for line in map(json.loads, journal.splitlines())}


@pytest.mark.parametrize(
    ("what", "least", "middle", "most"),
    [("rows", 1000, 100_000, 10_000_000), ("columns", 5, 40, 160)],
)
def test_powers_are_those_of_the_journal(seconds, what, least, middle, most):
    first, second, third = (seconds[f"{what}-{n}"] for n in (least, middle, most))
    slow = log(second / first) / log(middle / least)
    fast = log(third / second) / log(most / middle)
    text = (ROOT / "docs" / "large.md").read_text()
    powers = f"{what}^{slow:.1f} up to {middle:,}, then {what}^{fast:.1f} |"
    assert f"| {least:,} {what} | {most:,} {what} | " in text
    assert powers in text


def test_memory_is_that_of_the_journal():
    lines = (ROOT / "benchmarks" / "results" / "growth.jsonl").read_text().splitlines()
    cases = {line["name"]: line for line in map(json.loads, lines)}
    text = (ROOT / "docs" / "large.md").read_text()
    assert "seven times its size from a million rows on" in text
    for name in ("rows-1000000", "rows-10000000"):
        assert round(cases[name]["mb"] / cases[name]["table_mb"]) == 7
