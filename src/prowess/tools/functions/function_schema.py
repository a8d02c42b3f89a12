"""The parameters of a Python function as the schema of a tool: from its signature and its docstring.

A parameter without an annotation, or with one that has no schema, is refused when the function is registered, because
whatever stood there instead would be a guess.
"""

from __future__ import annotations

import inspect
import typing
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prowess.tools.functions.annotations import JsonField, JsonForm, UnsupportedFunctionError, object_form
from prowess.tools.functions.docstrings import parse_docstring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class FunctionSchema(Struct, frozen=True, kw_only=True):
    """What a function takes: a description for a model, and the form of the arguments."""

    description: str
    form: JsonForm

    @property
    def input_schema(self) -> Mapping[str, object]:
        """The JSON Schema of the arguments."""
        return self.form.schema

    def arguments(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return keyword arguments for the function from values that fit `input_schema`.

        Raises:
            InvalidArgumentsError: a tuple has an item of the wrong type at one of its places.
        """
        return cast("dict[str, object]", self.form.take(given))


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
    fields = (_field(parameter, hints, f"{named}: parameter {parameter.name!r}") for parameter in parameters)
    return FunctionSchema(description=documented.text, form=object_form(fields, documented.parameters, dict))


def _field(parameter: inspect.Parameter, hints: Mapping[str, object], where: str) -> JsonField:
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
            raise UnsupportedFunctionError(f"{where} takes any number of values; name each parameter")
        case inspect.Parameter.POSITIONAL_ONLY:
            raise UnsupportedFunctionError(f"{where} is positional only, and models name their arguments")
    if parameter.name not in hints:
        raise UnsupportedFunctionError(f"{where} has no annotation; without one its type is a guess")
    required = parameter.default is inspect.Parameter.empty
    annotation = hints[parameter.name]
    return JsonField(
        name=parameter.name, annotation=annotation, where=where, required=required, default=parameter.default
    )
