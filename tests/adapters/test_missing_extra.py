"""An adapter whose library is not installed says which extra brings it."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import pytest

from prowess.errors import MissingExtraError


@pytest.mark.parametrize(
    ("adapter", "library", "extra"),
    [
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("langchain", "langchain", "langchain"),
        ("openai_agents", "agents", "openai-agents"),
        ("agentskills_core", "agentskills_core", "agentskills"),
        ("opentelemetry", "opentelemetry", "otel"),
        ("dask", "distributed", "scale"),
    ],
)
def test_a_missing_library_is_an_import_error_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, adapter: str, library: str, extra: str
) -> None:
    name = f"prowess.adapters.{adapter}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    for module in [module for module in sys.modules if module == library or module.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)  # what Python takes for a module that cannot be found
    with pytest.raises(MissingExtraError) as caught:
        importlib.import_module(name)
    assert str(caught.value).startswith(f"{name} needs a library that cannot be imported")
    assert str(caught.value).endswith(f"pip install 'prowess[{extra}]'")
    assert isinstance(caught.value, ImportError)
    assert caught.value.code == "unavailable"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 -- our own bytes


def test_the_room_itself_brings_no_framework() -> None:
    code = (
        "import sys, prowess, prowess.adapters, prowess.adapters.hosted\n"
        "print(sorted({'pydantic_ai', 'langchain', 'langchain_core', 'agents', 'pydantic'} & sys.modules.keys()))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
