"""`feedback.json`: the wishes of a person, by the directory of an eval. An empty text means accepted.

The viewer of skill-creator writes another shape, with one entry for each run; it is read too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from prowess._internal.files.bounded_read import read_regular_file
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Iterator

FEEDBACK_FILE = "feedback.json"
_MOST_BYTES = 16 * 1024 * 1024


def read_feedback(iteration: str) -> dict[str, str]:
    """Return the feedback of an iteration by eval directory; empty if there is none.

    Raises:
        InvalidArgumentsError: the file is neither shape.
    """
    path = os.path.join(iteration, FEEDBACK_FILE)
    try:
        data = msgspec.json.decode(read_regular_file(path, _MOST_BYTES))
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as fault:
        raise InvalidArgumentsError((f"{path} cannot be read: {fault}",)) from None
    if isinstance(data, dict) and isinstance(data.get("reviews"), list):
        return _of_reviews(data["reviews"], iteration)
    if isinstance(data, dict) and all(isinstance(text, str) for text in data.values()):
        return data
    raise InvalidArgumentsError((f"{path} must be an object with one text for the directory of each eval",))


def _of_reviews(reviews: list[Any], iteration: str) -> dict[str, str]:
    """Join the texts of all runs of an eval. A run's id begins with the eval's directory."""
    evals = sorted((name for name in os.listdir(iteration) if name.startswith("eval-")), key=len, reverse=True)
    found: dict[str, list[str]] = {}
    for run, text in _texts(reviews):
        name = next((one for one in evals if run == one or run.startswith(f"{one}-")), None)
        if name is not None:
            found.setdefault(name, []).extend([text] if text.strip() else [])
    return {name: "\n".join(texts) for name, texts in sorted(found.items())}


def _texts(reviews: list[Any]) -> Iterator[tuple[str, str]]:
    for review in reviews:
        if isinstance(review, dict):
            run, text = review.get("run_id"), review.get("feedback")
            if isinstance(run, str) and isinstance(text, str):
                yield run, text
