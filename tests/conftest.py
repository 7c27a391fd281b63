"""What holds for all tests."""

import os
import shutil
import signal

import pytest

from miptree.checker import check
from miptree.control.background import SWITCH
from miptree.mip import node_lp
from miptree.proof import compile_proof_kernels
from miptree.proof.routes import compile_route_kernels
from miptree.search import compile_kernels


@pytest.fixture(scope="session", autouse=True)
def _no_process_is_left_behind():
    """Those that compile end with the tests, and with the programs that these start."""
    os.environ[SWITCH] = "0"


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled():
    """No test's time limit pays for compiling, whichever comes first."""
    compile_kernels()
    compile_proof_kernels()
    compile_route_kernels()


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard():
    """Also where a shell started the tests in the background, which ignore it then."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def node_lps(monkeypatch):
    """The LPs of nodes that were solved since the test began."""
    solved, solve = [], node_lp._NodeLP.solve

    def noted(self, *args):
        solved.append(self)
        return solve(self, *args)

    monkeypatch.setattr(node_lp._NodeLP, "solve", noted)
    return solved


@pytest.fixture
def bugs_show(monkeypatch):
    """Let no exception be taken for a hostile proof: a fault of the checker shows."""
    monkeypatch.setattr(check, "UNEXPECTED", ())


@pytest.fixture(scope="module")
def browser():
    """A Chromium without a window, in which pages are opened."""
    webdriver = pytest.importorskip("selenium.webdriver")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium with its chromedriver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(driver)
    found = webdriver.Chrome(options=options, service=service)
    yield found
    found.quit()
