"""The text form of a request, which is kept, and by which two requests are compared.

JSON is written with sorted keys, one member a line, so that a difference is a few lines. Secrets are redacted, and
parts that differ in every run are replaced (`prowess.evals.recordings.volatile_parts`).
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING

from prowess._internal.text.secret_patterns import redacted
from prowess.evals.recordings.places import with_names
from prowess.evals.recordings.volatile_parts import stable_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def request_form(host: str, request: bytes, places: Mapping[str, str]) -> str:
    """Return the text form of a request of `host`. `places` are absolute paths with a short name for each."""
    text = request.decode("utf-8", "backslashreplace")
    with suppress(ValueError, RecursionError):  # a text that is no JSON is compared as it is
        text = json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True, indent=1)
    return stable_text(host, with_names(redacted(text), places))


def form_digest(form: str) -> str:
    """Return the name of a form: 64 hexadecimal digits."""
    return hashlib.sha256(form.encode("utf-8", "surrogatepass")).hexdigest()
