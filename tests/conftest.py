"""Fixtures and settings of all tests: a fresh home, no settings of the user, deterministic Hypothesis examples."""

from __future__ import annotations

import gc
import os
import re
import signal
from copy import copy
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.chromium import chromium
from tests.postgresql import postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator

    import coverage

__all__ = ["chromium", "postgresql"]  # fixtures of every room
gc.disable()  # until all tests are listed, see pytest_collection_finish

# No deadline: CI machines are shared, so the time of one example varies.
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# In the background or under nohup, these signals are ignored, and child processes inherit that. Tests send the signals,
# so their handlers are restored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# pytest imports readline, which can set these for processes without os.environ knowing it.
for _name in {"COLUMNS", "LINES"} - os.environ.keys():
    os.unsetenv(_name)

_FOREIGN = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "XDG_CONFIG_HOME", "PYTHONWARNINGS", "CI")


# Coverage makes tests up to three times slower. The tests of these packages run almost only lines that other tests run
# too, or run no code of src.
_UNMEASURED = ("benchmarks", "conformance", "demo", "docs_src", "examples")
_UNMEASURED_FILE = re.compile(r"^pytestmark = \[?(pytest\.mark\.\w+, )?pytest\.mark\.unmeasured\b", re.MULTILINE)
_UNMEASURED_TESTS = re.compile(r"\bunmeasured\b|\bmeasured_once\b|\bSourceConformance\b")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without a test for this part of tools/test.sh: listing their tests takes most of a collection."""
    part = config.option.markexpr
    if part not in {"unmeasured", "not unmeasured"} or not re.fullmatch(r"test_\w+\.py", collection_path.name):
        return None
    measured = part == "not unmeasured"
    return True if not _has_tests(collection_path, measured=measured) else None


@cache
def _has_tests(path: Path, *, measured: bool) -> bool:
    if path.relative_to(Path(__file__).parent).parts[0] in _UNMEASURED:
        return not measured
    text = path.read_text("utf-8")
    return not _UNMEASURED_FILE.search(text) if measured else bool(_UNMEASURED_TESTS.search(text))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of `_UNMEASURED` packages, and all cases but the first one of tests with `measured_once`.

    tools/test.sh runs tests with this mark without coverage.

    Raises:
        pytest.UsageError: neither part of tools/test.sh would run a test.
    """
    tried = set()
    for item in items:
        if item.get_closest_marker("measured_once"):
            test = item.nodeid.partition("[")[0]
            if test in tried:
                item.add_marker(pytest.mark.unmeasured)
            tried.add(test)
        # The archives are refused by the same lines in every source; reading them under coverage takes a minute.
        is_repeated = item.nodeid.endswith("::test_hostile_archives_are_refused_and_nothing_is_written")
        if is_repeated or item.nodeid.startswith(tuple(f"tests/{package}/" for package in _UNMEASURED)):
            item.add_marker(pytest.mark.unmeasured)
        if not _has_tests(item.path, measured=not item.get_closest_marker("unmeasured")):
            message = f"{item.nodeid} would never run: `_UNMEASURED_FILE` or `_UNMEASURED_TESTS` does not find its mark"
            raise pytest.UsageError(message)


def pytest_collection_finish() -> None:
    """Start to collect garbage, but do not visit the objects of listed tests each time: there are a million."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that leaves another working directory to the tests after it."""
    before = item.config.rootpath
    yield
    if Path.cwd() != before:
        left = Path.cwd()
        os.chdir(before)
        pytest.fail(f"the test left the working directory {left}", pytrace=False)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Let coverage start in the workers once, by pytest-cov, and not as in a process that a test starts."""
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)


@pytest.fixture(scope="session", autouse=True)
def coverage_of_processes(request: pytest.FixtureRequest) -> None:
    """Let the processes that tests start be measured if the tests are."""
    plugin = request.config.pluginmanager.getplugin("_cov")
    measured = plugin.cov_controller.cov if plugin and plugin.cov_controller else None
    if measured is not None:
        os.environ["COVERAGE_PROCESS_CONFIG"] = _coverage_of_processes(measured)


def _coverage_of_processes(measured: coverage.Coverage) -> str:
    """Return the configuration of coverage in the processes that tests start.

    With `source`, each process searches src for files that it did not import, which takes as long as `prowess list`.
    """
    config = copy(measured.config)
    config.set_option("run:source", [])
    config.set_option("run:include", [str(Path(__file__).parents[1] / "src/prowess/*")])
    return config.serialize()


_numbers = count()


def _fresh_directory(factory: pytest.TempPathFactory, name: str) -> Path:
    """Make a directory. `factory.mktemp` makes a link to the latest one too, and takes five times as long."""
    path = factory.getbasetemp() / f"{name}-{next(_numbers)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a fresh directory, named after the test."""
    return _fresh_directory(tmp_path_factory, re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set HOME and every per-user directory of Prowess to fresh directories. Return the home."""
    home = _fresh_directory(tmp_path_factory, "home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("PROWESS_HOME", str(home / ".prowess"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("PROWESS_")]:
        if name not in {"PROWESS_HOME", "PROWESS_FUZZ"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PROWESS_PACKAGES", "off")  # packages of this environment have skills, which tests must not see
    return home


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio."""
    return "asyncio"
