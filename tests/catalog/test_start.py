"""What listing costs: modules, memory and time, by bounds that hold on a busy machine too."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest

import prowess.catalog
from benchmarks.corpus import write_corpus
from prowess.catalog import Catalog

if TYPE_CHECKING:
    from pathlib import Path

_COSTLY = ("dataclasses", "typing", "inspect", "pathlib", "asyncio", "anyio", "yaml", "click", "hashlib", "json")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus")
    write_corpus(str(root), 1000)
    return root


def test_listing_plain_skills_imports_nothing_costly(corpus: Path) -> None:
    program = (
        "import sys; from prowess import Catalog; assert len(Catalog(sys.argv[1]).entries()) == 1000; "
        "print(*sorted(sys.modules))"
    )
    # -S: the site of a developer's environment may import anything.
    run = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}", str(corpus)],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert [module for module in run.stdout.split() if module in _COSTLY] == []


@pytest.mark.proves("runtime.perf.memory")
def test_a_thousand_entries_with_their_properties_take_less_than_a_megabyte(corpus: Path) -> None:
    Catalog(corpus)  # what is imported on the way is not the entries' cost
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        catalog = Catalog(corpus)
        for entry in catalog.entries():
            assert entry.properties["description"]
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(catalog.entries()) == 1000
    assert after - before <= 1_000_000


@pytest.mark.proves("runtime.perf.discovery")
def test_a_thousand_skills_are_found_in_less_than_a_tenth_of_a_second(corpus: Path) -> None:
    best = 1.0
    for _ in range(5):  # the machine is shared: the best of five, in time of the processor, says what the code costs
        started = time.process_time()
        Catalog(corpus)
        best = min(best, time.process_time() - started)
    assert best < 0.1


def test_the_public_names_of_the_room_resolve() -> None:
    for name in prowess.catalog.__all__:
        assert getattr(prowess.catalog, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = prowess.catalog.Nothing
