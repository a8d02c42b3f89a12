"""The names of the reference library, where it has them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module

import pytest

import prowess.errors
from prowess.compat import skills_ref
from prowess.compat.skills_ref import ParseError, SkillError, SkillProperties, ValidationError


@pytest.mark.proves("tooling.api.exports")
def test_the_package_exports_the_reference_names() -> None:
    names = {"SkillError", "ParseError", "ValidationError", "SkillProperties", "find_skill_md", "validate"}
    assert set(skills_ref.__all__) == names | {"read_properties", "to_prompt", "__version__"}
    assert all(hasattr(skills_ref, name) for name in skills_ref.__all__)
    assert skills_ref.__version__ == "0.1.1"
    modules = ("errors", "models", "parser", "prompt", "validator")
    homes = [import_module(f"prowess.compat.skills_ref.{module}") for module in modules]
    for name in names | {"read_properties", "to_prompt"}:
        assert getattr(skills_ref, name) in [getattr(home, name) for home in homes if hasattr(home, name)], name


@pytest.mark.proves("tooling.api.modules")
@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("errors", ["SkillError", "ParseError", "ValidationError"]),
        ("models", ["SkillProperties"]),
        ("parser", ["find_skill_md", "parse_frontmatter", "read_properties", "ParseError", "ValidationError"]),
        ("prompt", ["to_prompt"]),
        ("validator", ["validate", "validate_metadata", "ALLOWED_FIELDS", "MAX_SKILL_NAME_LENGTH"]),
        ("validator", ["MAX_DESCRIPTION_LENGTH", "MAX_COMPATIBILITY_LENGTH"]),
        ("cli", ["main"]),
    ],
)
def test_each_submodule_has_its_names(module: str, names: list[str]) -> None:
    found = import_module(f"prowess.compat.skills_ref.{module}")
    assert [name for name in names if not hasattr(found, name)] == []


@pytest.mark.proves("tooling.api.constants")
def test_the_limits_are_those_of_the_format() -> None:
    validator = import_module("prowess.compat.skills_ref.validator")
    assert validator.MAX_SKILL_NAME_LENGTH == 64
    assert validator.MAX_DESCRIPTION_LENGTH == 1024
    assert validator.MAX_COMPATIBILITY_LENGTH == 500
    assert {
        "name",
        "description",
        "license",
        "compatibility",
        "allowed-tools",
        "metadata",
    } == validator.ALLOWED_FIELDS


@pytest.mark.proves("tooling.api.errors")
def test_both_errors_derive_from_skill_error_and_validation_error_lists_its_message() -> None:
    assert issubclass(ParseError, SkillError)
    assert issubclass(ValidationError, SkillError)
    assert ValidationError("one").errors == ["one"]
    assert ValidationError("one", ["one", "two"]).errors == ["one", "two"]
    assert str(ValidationError("one", ["two"])) == "one"


def test_catching_our_root_catches_the_shim_too() -> None:
    assert SkillError is prowess.errors.SkillError


def test_the_errors_survive_pickling() -> None:
    copy = pickle.loads(pickle.dumps(ValidationError("one", ["one", "two"])))  # noqa: S301 -- bytes of our own
    assert (str(copy), copy.errors) == ("one", ["one", "two"])


@pytest.mark.proves("tooling.api.properties-dict")
def test_a_dictionary_of_properties_leaves_out_what_is_absent() -> None:
    assert SkillProperties("a", "d").to_dict() == {"name": "a", "description": "d"}
    assert SkillProperties("a", "d", metadata=None).to_dict() == {"name": "a", "description": "d"}
    full = SkillProperties("a", "d", "MIT", "Linux", "Read", {"k": "v"})
    assert list(full.to_dict()) == ["name", "description", "license", "compatibility", "allowed-tools", "metadata"]
    assert SkillProperties("a", "d", license="").to_dict()["license"] == ""


def test_properties_have_the_reference_defaults() -> None:
    assert SkillProperties("a", "d").metadata == {}
    assert SkillProperties("a", "d").license is None


def test_importing_the_shim_imports_no_command_line() -> None:
    program = "import sys, prowess.compat.skills_ref; sys.exit('click' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
