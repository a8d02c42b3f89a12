"""The protocol of a form of eval files. Each form is one module, with one object that implements it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from prowess.format.suites.suite import SuiteError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from prowess.format.suites.suite import SuiteCase

SuiteLayout = Literal["object", "list", "folder"]


class Parts(Struct, kw_only=True):
    """The data of a suite, taken apart: everything but the evals (`head`), and the data of each eval.

    `names` are the names of the evals' files or folders; of a JSON form they are empty.
    """

    head: dict[str, Any]
    cases: list[Any]
    names: list[str]


class SuiteForm(Protocol):
    """One form. Data is JSON data; a folder's is an object of its files (see the form's own module).

    `layout` tells whether the data is an object, a list of evals, or a folder. `members` names the members of an eval
    that have a meaning here; everything else in an eval is kept, and lost to other tools.
    """

    @property
    def name(self) -> str:
        """The name, as `--to` takes it."""
        ...

    @property
    def layout(self) -> SuiteLayout:
        """See above."""
        ...

    @property
    def members(self) -> Collection[str]:
        """See above."""
        ...

    def split(self, data: Any) -> Parts:  # noqa: ANN401 -- JSON
        """Take data apart.

        Raises:
            SuiteError: the data is not of this form, or an eval is not an object.
        """
        ...

    def join(self, parts: Parts) -> Any:  # noqa: ANN401 -- JSON
        """Put data together; `split` of it gives the same parts."""
        ...

    def read_head(self, head: Mapping[str, Any]) -> str | None:
        """Return the name of the skill, or None."""
        ...

    def write_head(self, skill: str | None) -> dict[str, Any]:
        """Return the head of a new file."""
        ...

    def read_case(self, data: Mapping[str, Any]) -> SuiteCase:
        """Return one eval. A value of the wrong type reads as absent."""
        ...

    def write_case(self, case: SuiteCase, number: int) -> dict[str, Any]:
        """Return a new eval, with every member that this form requires. `number` counts from 1."""
        ...


def objects(listed: Sequence[object], where: str) -> list[Any]:
    """Return the evals, of which each must be an object."""
    for number, item in enumerate(listed):
        if not isinstance(item, dict):
            raise SuiteError(f"{where}[{number}] is not an object")
    return list(listed)
