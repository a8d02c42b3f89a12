"""What every test starts from: a home of its own, no settings of the person who runs it, and a seeded generator."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from _typeshed import TraceFunction

# No deadline: the two cores of a CI machine are shared, so the time of one example says little.
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Whoever starts the tests in the background, or behind nohup, hands an ignored signal down to every command that they
# start; the tests send these signals and say what has to follow.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

_FOREIGN = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "XDG_CONFIG_HOME", "PYTHONWARNINGS")


# The tracer that counts covered lines makes every line of Python cost several times as much, those of pytest and of
# what the tests import too. So it works while a fixture is made, a test runs and all is taken down; otherwise it rests.
_tracer: TraceFunction | None = None  # known when collection begins


@contextmanager
def _measured() -> Generator[None]:
    before = sys.gettrace()
    sys.settrace(_tracer)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the tracer rest from here on; tests/test_imports.py shows it what runs when a module is imported.

    What was collected stays to the end. No garbage collection walks it again: one such walk costs half a second, which
    a test of processor time would take for its own.
    """
    global _tracer  # noqa: PLW0603 -- there is one tracer in a process, and it is known from here on
    _tracer = sys.gettrace()
    sys.settrace(None)
    collected = yield
    gc.freeze()
    return collected


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Generator[None, object, object]:
    """Measure what makes a fixture."""
    with _measured():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None]:
    """Measure what takes fixtures down."""
    with _measured():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Measure a test, unless it is marked `unmeasured`.

    The marker of pytest-cov does not do that in a worker: there, one measurement runs below another.
    """
    if pyfuncitem.get_closest_marker("unmeasured") is None:
        with _measured():
            return (yield)
    in_threads = threading.gettrace()
    threading.settrace(None)
    try:
        return (yield)
    finally:
        threading.settrace(in_threads)


@pytest.fixture(autouse=True)
def own_home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Point HOME and every per-user place of Prowess to fresh directories; return the home."""
    if request.node.get_closest_marker("unmeasured") is not None:
        monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # nor are the processes that it starts measured
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("PROWESS_HOME", str(home / ".prowess"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.startswith("PROWESS_")]:
        if name not in {"PROWESS_HOME", "PROWESS_FUZZ"}:
            monkeypatch.delenv(name)
    return home


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio."""
    return "asyncio"
