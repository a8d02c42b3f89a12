"""The parameters of a Python function as the schema of a tool: from its signature and its docstring.

A parameter without an annotation, or with one that has no schema, is refused when the function is registered, because
whatever stood there instead would be a guess.
"""

from __future__ import annotations

import inspect
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.tools.annotations import Form, UnsupportedFunctionError, form_of, object_schema, set_default
from prowess.tools.docstrings import parse_docstring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSchema:
    """What a function takes: `description` and `input_schema` for a model, `arguments` for the function."""

    description: str
    input_schema: Mapping[str, object]
    forms: Mapping[str, Form]

    def arguments(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return keyword arguments for the function from values that fit `input_schema`.

        Raises:
            InvalidArgumentsError: a tuple has an item of the wrong type at one of its places.
        """
        return {name: form.take(given[name]) for name, form in self.forms.items() if name in given}


def function_schema(function: Callable[..., object]) -> FunctionSchema:
    """Read the signature and the docstring of a function or method.

    Raises:
        UnsupportedFunctionError: naming the parameter and what is wrong with it.
    """
    named = getattr(function, "__name__", repr(function))
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = typing.get_type_hints(inspect.unwrap(function), include_extras=True)
    except NameError as fault:
        message = f"{named}: the annotation {fault.name!r} is not known; define it at the top level of its module"
        raise UnsupportedFunctionError(message) from None
    except (TypeError, ValueError) as fault:
        raise UnsupportedFunctionError(f"{named}: its signature cannot be read: {fault}") from None
    documented = parse_docstring(inspect.getdoc(function))
    forms: dict[str, Form] = {}
    required: list[str] = []
    for parameter in parameters:
        where = f"{named}: parameter {parameter.name!r}"
        form = _parameter_form(parameter, hints, where)
        schema = dict(form.schema)
        if "description" not in schema and (text := documented.parameters.get(parameter.name)):
            schema["description"] = text
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
        else:
            set_default(schema, parameter.default, where)
        forms[parameter.name] = Form(schema=schema, take=form.take)
    return FunctionSchema(
        description=documented.text,
        input_schema=object_schema({name: form.schema for name, form in forms.items()}, required),
        forms=forms,
    )


def _parameter_form(parameter: inspect.Parameter, hints: Mapping[str, object], where: str) -> Form:
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
            raise UnsupportedFunctionError(f"{where} takes any number of values; name each parameter")
        case inspect.Parameter.POSITIONAL_ONLY:
            raise UnsupportedFunctionError(f"{where} is positional only, and models name their arguments")
    if parameter.name not in hints:
        raise UnsupportedFunctionError(f"{where} has no annotation; without one its type is a guess")
    return form_of(hints[parameter.name], where, ())
