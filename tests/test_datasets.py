import csv
import gzip
import http.server
import io
import itertools
import json
import threading
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from _data import data_folder
from miptree.datasets import DatasetError, load, names, official_test_names
from miptree.datasets._content import fingerprints, raw_rows, typed
from miptree.datasets._download import download
from miptree.datasets._registry import Source, entry


@pytest.fixture(autouse=True)
def _nothing_here(monkeypatch, tmp_path):
    """No data folder, an empty cache, and no internet."""
    monkeypatch.delenv("MIPTREE_DATA", raising=False)
    monkeypatch.setenv("MIPTREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MIPTREE_UCI_URL", "http://127.0.0.1:9/nobody-listens")
    monkeypatch.setenv("MIPTREE_OPENML_URL", "http://127.0.0.1:9/nobody-listens")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


class Served(dict):
    """Bytes by path."""

    asked: list
    address: str


@pytest.fixture
def server(monkeypatch):
    """An HTTP server on this machine; what it serves, by path."""
    served, asked = Served(), []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = served.get(self.path)
            self.send_response(404 if body is None else 200)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{running.server_port}"
    monkeypatch.setenv("MIPTREE_UCI_URL", f"{address}/ml")
    monkeypatch.setenv("MIPTREE_OPENML_URL", address)
    served.asked, served.address = asked, address
    yield served
    running.shutdown()
    running.server_close()


def balance_scale() -> str:
    """UCI's balance-scale.data, which is a rule."""
    lines = []
    for lw, ld, rw, rd in itertools.product(range(1, 6), repeat=4):
        side = "B" if lw * ld == rw * rd else "LR"[lw * ld < rw * rd]
        lines.append(f"{side},{lw},{ld},{rw},{rd}\n")
    return "".join(lines)


def monks_1_test() -> str:
    """UCI's monks-1.test, which is a rule, with its blanks and names."""
    lines = []
    domain = itertools.product(*(range(1, k + 1) for k in (3, 3, 2, 3, 4, 2)))
    for i, row in enumerate(domain, start=1):
        label = int(row[0] == row[1] or row[4] == 1)
        lines.append(f" {label} {' '.join(map(str, row))} data_{i}\n")
    return "".join(lines)


def wine_lines() -> list[str]:
    wine = load_wine()
    return [",".join(map(repr, map(float, row))) for row in wine.data]


def wine_data() -> str:
    """UCI's wine.data."""
    labels = load_wine().target + 1
    rows = zip(labels, wine_lines(), strict=True)
    return "".join(f"{label},{row}\n" for label, row in rows)


# ----------------------------------------------------------------------- the registry


def test_all_sets_of_the_paper_are_known():
    from miptree.bench.paper import paper_results

    assert len(names()) == 34
    assert len(official_test_names()) == 11
    assert {result.set for result in paper_results()} == set(names())
    d_of_uci = {"parkinsons": 22, "seismic-bumps": 18}
    for result in paper_results():
        known = entry(result.set)
        assert (known.n, len(known.classes)) == (result.n, result.Y)
        assert len(known.columns) == d_of_uci.get(result.set, result.d)


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="no data set 'irises'; there are iris, cong"):
        load("irises")
    with pytest.raises(ValueError, match="official test part 'iris'; there are spectf"):
        load("iris", "paper_test")
    with pytest.raises(ValueError, match="part must be"):
        load("iris", "test")


def test_sets_of_development_come_from_the_data_folder(monkeypatch, tmp_path):
    assert len(names("dev")) == 33
    with pytest.raises(DatasetError, match="set MIPTREE_DATA to the folder that holds"):
        load("vehicle", "dev")
    columns = ["a", "b", "c"]
    known = replace(
        entry("zoo", "dev"),
        columns=tuple(columns), categorical=("b", "c"), strings=("b",),
    )  # fmt: skip
    rows = [["1.5", "red", "1", "x"], ["", "", "", "y"], ["2", "blue", "0", "x"]]
    frame, target = typed(rows, known)
    assert frame.isna().sum().tolist() == [1, 1, 1]
    assert frame["c"].cat.categories.tolist() == [0, 1]
    assert target.tolist() == ["x", "y", "x"]


@pytest.mark.parametrize("part", ["paper", "paper_test", "dev"])
def test_every_file_loads_and_is_what_the_registry_says(part, monkeypatch):
    if not (data_folder().parent / part).is_dir():
        pytest.skip(f"{part} is absent, as data are never committed; set MIPTREE_DATA")
    monkeypatch.setenv("MIPTREE_DATA", str(data_folder().parent))
    for name in names(part):
        data, known = load(name, part), entry(name, part)
        assert data.frame.shape == (known.n, len(known.columns))
        assert sorted(data.target.unique()) == sorted(known.classes)
        assert str(data_folder().parent) in data.source
        for column in data.frame:
            is_category = data.frame[column].dtype == "category"
            assert is_category == (column in known.categorical)


# --------------------------------------------------------------------- found here


def test_iris_and_wine_need_nothing():
    for name, bunch in (("iris", load_iris()), ("wine", load_wine())):
        data, known = load(name), entry(name)
        assert data.source == "scikit-learn"
        differs = (data.frame.to_numpy() != bunch.data).any(axis=1)
        assert np.flatnonzero(differs).tolist() == ([34, 37] if name == "iris" else [])
        rows = [
            [*map(repr, map(float, row)), label]
            for row, label in zip(data.frame.to_numpy(), data.target, strict=True)
        ]
        found = (known.content_sha256, known.order_sha256)
        assert fingerprints(rows, known) == found


def test_a_changed_file_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("MIPTREE_DATA", str(tmp_path))
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "iris.csv").write_text("a,target\n1,2\n")
    with pytest.raises(DatasetError, match="its sha256 is"):
        load("iris")


def test_offline_says_what_to_do():
    with pytest.raises(DatasetError, match="set MIPTREE_DATA to a folder that holds"):
        load("balance-scale")
    with pytest.raises(DatasetError, match="shuttle"):
        load("shuttle")


# ---------------------------------------------------------------------- downloaded


def test_a_download_is_checked_kept_and_not_repeated(server, tmp_path):
    server["/ml/balance-scale/balance-scale.data"] = balance_scale().encode()
    first = load("balance-scale")
    assert first.frame.shape == (625, 4)
    assert first.target.value_counts().to_dict() == {"L": 288, "R": 288, "B": 49}
    second = load("balance-scale")
    assert "cache" in second.source
    assert second.frame.equals(first.frame)
    assert second.target.equals(first.target)
    assert len(server.asked) == 1

    cached = tmp_path / "cache" / "paper" / "balance-scale.csv.gz"
    rows = list(csv.reader(io.StringIO(gzip.decompress(cached.read_bytes()).decode())))
    rows[5][0] = "9"
    text = "\n".join(map(",".join, rows))
    cached.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(DatasetError, match=r"Delete .*balance-scale"):
        load("balance-scale")


def test_blanks_names_and_categories(server):
    server["/ml/monks-problems/monks-1.test"] = monks_1_test().encode()
    data = load("monks-1", "paper_test")
    assert data.frame.shape == (432, 6)
    assert (data.frame.dtypes == "category").all()
    assert (data.target == "1").sum() == 216


def test_other_content_is_refused_and_other_order_is_told(server):
    path = "/ml/balance-scale/balance-scale.data"
    server[path] = balance_scale().replace("L", "R", 1).encode()
    with pytest.raises(DatasetError, match="is something else: 625 complete rows"):
        load("balance-scale")
    server[path] = "".join(reversed(balance_scale().splitlines(True))).encode()
    with pytest.warns(UserWarning, match="in another order"):
        load("balance-scale")


def test_headers_gaps_and_missing_values_are_left_out(server):
    text = "side,a,b,c,d\n\n% 1\n" + balance_scale() + "L,?,1,1,1\nL,,1,1,1\n"
    server["/ml/balance-scale/balance-scale.data"] = text.encode()
    assert len(load("balance-scale").target) == 625


def test_archives_and_openml(server):
    wine = entry("wine")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("wine/wine.data", wine_data())
        archive.writestr("wine/readme", "nothing")
    server["/ml/wine.zip"] = packed.getvalue()
    zipped = replace(wine, source=Source("wine.zip", target=0, member="wine.data"))

    arff = "@relation wine\n@attribute a real\n@data\n" + "".join(
        f"{row},'{label}'\n"
        for row, label in zip(wine_lines(), load_wine().target + 1, strict=True)
    )
    about = {"data_set_description": {"url": f"{server.address}/files/wine.arff"}}
    server["/api/v1/json/data/187"] = json.dumps(about).encode()
    server["/files/wine.arff"] = arff.encode()
    openml = replace(wine, source=Source("openml:187", rows=(0, 178)))

    for known in (zipped, openml):
        rows = raw_rows(download(known), known)
        assert fingerprints(rows, known) == (wine.content_sha256, wine.order_sha256)

    missing = replace(wine, source=Source("wine.zip", member="other.data"))
    with pytest.raises(DatasetError, match=r"no other\.data in the archive"):
        download(missing)
    server["/api/v1/json/data/187"] = b"{}"
    with pytest.raises(DatasetError, match="names no file"):
        download(openml)
