"""What is released: the files in wheel and sdist, the changelog, the check of a tag."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import miptree

ROOT = Path(__file__).parents[1]
TEXT = "## Unreleased\n\n## 1.2.0 - 2030-01-31\n\n### Added\n\n- A.\n"


def loaded(name):
    """A script of .ci as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_release = loaded("check_release")
test_wheel = loaded("test_wheel")
test_wheel.__test__ = False  # it is no test, for all its name


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, built by the packages that are installed here."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=200)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def sources():
    """The files of the package that are under version control, or could be."""
    paths = (ROOT / "src").rglob("*")
    files = (p for p in paths if p.is_file() and "__pycache__" not in p.parts)
    return {path.relative_to(ROOT / "src").as_posix() for path in files}


def test_the_wheel_has_every_file_of_the_package_and_no_other(built):
    with zipfile.ZipFile(built[0]) as archive:
        names = set(archive.namelist())
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == sources()
    suffixes = {Path(name).suffix for name in inside}
    assert suffixes >= {".py", ".typed", ".html", ".css", ".js", ".json", ".toml"}
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)


def test_the_sdist_has_what_is_needed_and_no_data(built):
    with tarfile.open(built[1]) as archive:
        members = {m.name.split("/", 1)[1]: m.size for m in archive.getmembers()}
    assert {f"src/{name}" for name in sources()} <= set(members)
    needed = ("README.md", "LICENSE", "CITATION.cff", "SECURITY.md", "tests/_data.py")
    assert set(needed) <= set(members)
    data = {".csv", ".jsonl", ".data", ".parquet", ".gz", ".npz", ".nbc", ".nbi"}
    assert not [name for name in members if Path(name).suffix in data]
    assert not [name for name in members if name.startswith("benchmarks/results")]
    assert sum(members.values()) < 20e6


def test_the_changelog_keeps_its_form():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert check_release.faults_of_changelog(text) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Unreleased", "Next", "Unreleased"),
        ("2030-01-31", "soon", "YYYY-MM-DD"),
        ("Added", "New", "none of"),
        ("- A.\n", "- A.\n\n### Added\n", "twice"),
        ("- A.\n", "- A.\n\n## 1.3.0 - 2030-02-01\n", "newest"),
    ],
)
def test_a_changelog_in_another_form_is_told(old, new, said):
    assert check_release.faults_of_changelog(TEXT) == []
    faults = check_release.faults_of_changelog(TEXT.replace(old, new))
    assert len(faults) == 1
    assert said in faults[0]


@pytest.fixture
def release(tmp_path):
    """A folder that may be published as v1.2.0."""
    (tmp_path / "src" / "miptree").mkdir(parents=True)
    (tmp_path / "src" / "miptree" / "_version.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(TEXT)
    text = (ROOT / "pyproject.toml").read_text()
    text = text.replace(check_release.PLACEHOLDER, "example.org")
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "README.md").write_text("[A](https://example.org/a.md), [B](#b).\n")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("src/miptree/_version.py", "1.2.0", "1.3.0", "should be 'v1.3.0'"),
        ("src/miptree/_version.py", "1.2.0", "1.2.0.dev0", "is no release"),
        ("CHANGELOG.md", "## 1.2.0", "## 1.1.0", "no heading"),
        ("pyproject.toml", "example.org", "example.invalid", "address"),
        ("README.md", "https://example.org/", "docs/", "links to 'docs/a.md'"),
    ],
)
def test_a_tag_that_does_not_fit_is_not_published(release, file, old, new, said):
    assert check_release.reasons_against(release, "v1.2.0") == []
    path = release / file
    path.write_text(path.read_text().replace(old, new))
    assert said in " ".join(check_release.reasons_against(release, "v1.2.0"))


def test_a_release_candidate_has_the_notes_of_its_release(release):
    path = release / "src" / "miptree" / "_version.py"
    path.write_text('__version__ = "1.2.0rc1"\n')
    assert check_release.reasons_against(release, "v1.2.0rc1") == []


def test_the_version_has_the_form_that_is_documented():
    assert re.fullmatch(rf"{check_release.RELEASE}(\.dev0)?", miptree.__version__)
    assert check_release.written_version(ROOT) == miptree.__version__


def test_the_light_tests_exist_and_the_oldest_versions_are_read(built):
    for name in test_wheel.LIGHT:
        assert (ROOT / "tests" / name).is_file(), name
    oldest = list(test_wheel.oldest_versions(built[0]))
    text = (ROOT / "pyproject.toml").read_text()
    names = ("numpy", "scipy", "scikit-learn", "highspy", "numba", "pandas", "typer")
    for name in names:
        (found,) = (line for line in oldest if line.startswith(f"{name}=="))
        assert f'"{found.replace("==", ">=")}"' in text


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_first_five_minutes_are_a_script_that_can_be_read():
    path = ROOT / "examples" / "first_five_minutes.sh"
    subprocess.run(["bash", "-n", str(path)], check=True, timeout=60)
    commands = set(re.findall(r"^miptree (\w+)", path.read_text(), flags=re.MULTILINE))
    assert commands >= {"fit", "show", "verify", "evaluate", "predict", "export"}
