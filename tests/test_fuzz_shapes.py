"""Fuzzing by shapes: hypothesis builds tables and values from nothing, and shrinks.

The inputs of ``python -m fuzz`` are good files that were damaged; these are of any
shape.
"""

import json
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("typer")

from _sealed import forged
from fuzz.mutations import TEXTS, somewhere
from fuzz.targets import ModelFiles, ProofFiles, Tables, sealed_lines
from fuzz.watch import watched

AMOUNTS = [
    pytest.param(60, id="some"),
    pytest.param(10_000, id="many", marks=pytest.mark.long),
]
ODD = [text.decode("utf-8", "replace") for text in TEXTS]
CELLS = st.one_of(
    st.text(max_size=6),
    st.integers().map(str),
    st.floats().map(repr),
    st.floats(-1e6, 1e6).map("{:,.2f} €".format),
    st.dates().map(str),
    st.sampled_from(["", "?", "n/a", "-", "1.234,5", "0012", *ODD]),
)
PLAIN = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=12,
)


@st.composite
def tables(draw):
    """The bytes of a table: rows of one width or not, in some dialect and encoding."""
    width = draw(st.integers(1, 5))
    row = st.lists(CELLS, min_size=width, max_size=width)
    if draw(st.booleans()):
        row = st.lists(CELLS, max_size=6)
    rows = draw(st.lists(row, max_size=12))
    separator = draw(st.sampled_from([",", ";", "\t", "|", " "]))
    quote = draw(st.sampled_from(["", '"', "'"]))
    lines = [
        separator.join(f"{quote}{cell}{quote}" for cell in cells) for cells in rows
    ]
    encoding = draw(st.sampled_from(["utf-8", "utf-16", "cp1252", "utf-8-sig"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    return end.join(lines).encode(encoding, "replace")


def check_all(most, strategy, read):
    """Let hypothesis find an input for which ``read`` fails."""
    relaxed = settings(
        max_examples=most,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    relaxed(given(strategy)(read))()


@pytest.mark.parametrize("most", AMOUNTS)
def test_tables_of_any_shape(most, tmp_path):
    target, outcomes = Tables(tmp_path / "table"), set()
    for good in target.good:  # packages load modules of their own, unwatched
        target.read(good)

    def read(content):
        with watched(target.folder):
            outcomes.add(target.read(("a.csv", content)))

    check_all(most, tables(), read)
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("most", AMOUNTS)
def test_models_with_any_value_anywhere(most, tmp_path):
    target, outcomes = ModelFiles(tmp_path / "model"), set()
    honest = [json.loads(content) for content in target.good]
    for good in enumerate(target.good):
        target.read(good)

    def read(drawn):
        seed, value = drawn
        k = seed % len(honest)
        plain = json.loads(target.good[k])
        holder, key = somewhere(plain, Random(seed))
        holder[key] = value
        content = forged(plain, honest[k]).encode("utf-8", "surrogatepass")
        with watched(target.folder):
            outcomes.add(target.read((k, content)))

    check_all(most, st.tuples(st.integers(0, 10**6), PLAIN), read)
    assert "refused" in outcomes


@pytest.mark.parametrize("most", AMOUNTS)
def test_proofs_with_any_value_anywhere(most, tmp_path):
    target, outcomes = ProofFiles(tmp_path / "proof"), set()
    for good in target.good:
        target.read(good)

    def read(drawn):
        seed, value = drawn
        content, table = target.good[seed % len(target.good)]
        lines = content.splitlines()[:-1]
        random = Random(seed)
        k = random.randrange(len(lines))
        plain = [json.loads(lines[k])]
        holder, key = somewhere(plain, random)
        holder[key] = value
        lines[k] = json.dumps(plain[0]).encode()
        body = b"".join(line + b"\n" for line in lines)
        with watched(target.folder):
            outcomes.add(target.read((sealed_lines(body), table)))

    check_all(most, st.tuples(st.integers(0, 10**6), PLAIN), read)
    assert "rejected" in outcomes
