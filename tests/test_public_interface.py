"""The names that a user may rely on: they exist, they are documented, values are frozen, importing them is cheap."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from msgspec import Struct

import prowess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOMS = sorted(
    {"prowess", *(f"prowess.{info.name}" for info in pkgutil.iter_modules(prowess.__path__) if info.name != "__main__")}
)

# Values that are built by position because their fields have one obvious order.
_POSITIONAL: dict[str, str] = {
    "ToolToken": "a token is written name, then pattern",
    "SkillName": "one field",
}

# What even the smallest call would pay for. `prowess --version` and `import prowess` may load none of it.
_EXPENSIVE = frozenset(
    {
        *("anyio", "argparse", "asyncio", "click", "concurrent", "dataclasses", "hashlib", "inspect"),
        *("json", "logging", "markdown_it", "mcp", "pathlib", "pydantic", "pyromark", "shutil", "socket", "sqlite3"),
        *("msgspec", "subprocess", "tempfile", "tomllib", "urllib", "uuid", "yaml"),
    }
)


# What listing skills never needs: event loops, processes, servers, databases, Markdown.
_NOT_FOR_A_LISTING = frozenset(
    {
        *("alembic", "anyio", "asyncio", "markdown_it", "mcp", "psycopg", "pydantic", "pyromark", "socket"),
        *("sqlalchemy", "sqlite3", "subprocess", "yaml"),
    }
)


def _room(name: str) -> ModuleType:
    if name == "prowess.mcp_server":
        pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    return importlib.import_module(name)


def _public(room: ModuleType) -> Iterator[tuple[str, object]]:
    for name in getattr(room, "__all__", ()):
        yield name, getattr(room, name)


def _own_members(value: type) -> Iterator[tuple[str, object]]:
    for name, member in vars(value).items():
        if not name.startswith("_"):
            yield name, member


@pytest.mark.parametrize("name", ROOMS)
def test_every_exported_name_exists_once_and_in_order(name: str) -> None:
    exported = list(getattr(_room(name), "__all__", ()))
    assert len(set(exported)) == len(exported)
    assert exported == sorted(exported, key=_as_ruff_sorts)
    for member in exported:
        assert hasattr(_room(name), member), member


def _as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions."""
    if name.isupper():
        return 0, name
    return (1 if name[:1].isupper() else 2), name


def test_the_package_exports_what_its_table_of_homes_names() -> None:
    homes = {name: home for home, names in vars(prowess)["_HOMES"].items() for name in names}
    assert set(prowess.__all__) == {"__version__", *homes}
    for name, home in homes.items():
        module = importlib.import_module(f"prowess.{home}")
        assert name in getattr(module, "__all__", dir(module)), name


def test_the_stub_for_type_checkers_imports_each_name_from_its_home() -> None:
    stub = ast.parse(Path(prowess.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imported = {
        f"{node.module}.{name.name}" for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names
    }
    assert imported == {f"prowess.{home}.{name}" for home, names in vars(prowess)["_HOMES"].items() for name in names}
    listed = next(ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    assert listed == prowess.__all__


def test_the_package_lists_what_it_exports_in_dir() -> None:
    assert set(prowess.__all__) <= set(dir(prowess))


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_lists_what_it_exports_in_dir(name: str) -> None:
    room = _room(name)
    assert set(getattr(room, "__all__", ())) <= set(dir(room))


def test_a_module_of_a_room_is_an_attribute_of_it() -> None:
    code = "import prowess.agent; print(prowess.agent.model.Usage.__name__, 'Agent' in dir(prowess.agent))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("Usage True\n", "")


def test_an_unknown_name_of_the_package_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Skil'"):
        _ = prowess.Skil  # type: ignore[attr-defined]  # that it is missing is the point


@pytest.mark.parametrize("name", ROOMS)
def test_everything_public_says_what_it_is(name: str) -> None:
    room = _room(name)
    assert room.__doc__, name
    silent = []
    for label, value in _public(room):
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        if not value.__doc__ or value.__doc__.startswith(f"{label}("):
            silent.append(label)
        if inspect.isclass(value):
            silent += [
                f"{label}.{inner}"
                for inner, member in _own_members(value)
                if inspect.isfunction(getattr(member, "fget", member)) and not inspect.getdoc(getattr(value, inner))
            ]
    assert silent == []


@pytest.mark.parametrize("name", ROOMS)
def test_public_values_are_frozen_slotted_and_built_by_keyword(name: str) -> None:
    loose = []
    for label, value in _public(_room(name)):
        if not (inspect.isclass(value) and issubclass(value, Struct)):
            continue
        # A struct lists the fields that may be given by position in `__match_args__`.
        if not (value.__struct_config__.frozen and (not value.__match_args__ or label in _POSITIONAL)):
            loose.append(label)
    assert loose == []


def _modules_loaded_by(*arguments: str) -> set[str]:
    probe = (
        "import sys, atexit; atexit.register(lambda: sys.stderr.write('\\n' + ' '.join(sys.modules)));"
        " code = 'import sys\\n' + {0!r}; exec(code)"
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "COV_", "PYTHON"))}
    code = (
        "import prowess"
        if not arguments
        else f"sys.argv = ['prowess', *{arguments!r}]; from prowess.cli.main import main; main()"
    )
    # -S leaves out what the site's own start-up files import; the paths of the packages are given instead.
    paths = [str(Path(prowess.__file__).parents[1]), str(Path(click.__file__).parents[1])]
    ran = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {paths!r}; " + probe.format(code)],
        env=clean,
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=30,
    )
    return {module.partition(".")[0] for module in ran.stderr.splitlines()[-1].split()}


@pytest.mark.parametrize("arguments", [(), ("--version",)], ids=["import prowess", "prowess --version"])
def test_the_smallest_use_loads_almost_nothing(arguments: tuple[str, ...]) -> None:
    assert _modules_loaded_by(*arguments) & _EXPENSIVE == set()


def test_a_listing_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    skill = tmp_path / "pdf"
    skill.mkdir()
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Reads PDF files.\n---\nBody\n", encoding="utf-8")
    loaded = _modules_loaded_by("list", "--root", str(tmp_path))
    assert "click" in loaded
    assert loaded & _NOT_FOR_A_LISTING == set()
