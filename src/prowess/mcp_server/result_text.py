"""Text content of a tool result for models, if plain JSON is not the best form.

The structured content of the result always has the exact values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from prowess.tools.prompt_escaping import encodable, escaped, json_for_model

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CHARACTERS = 30_000  # of the text of a script's run
_STREAMS = ("stdout", "stderr")
_LESS = "stdout or stderr is shortened in this text; structuredContent has it whole up to its own limit."
_ARTIFACTS = "Let the script write long output to a file in $OUT and read that artifact in slices."


def reading(result: Mapping[str, object]) -> str | None:
    """Return the text to show, or None if the result's JSON is the best text.

    The text for a load has the wrapped bodies and the notices. The text for a run is JSON with head and tail of long
    output.
    """
    if "active_skills" in result:
        return _of_receipt(result)
    if "exit_code" in result and all(isinstance(result.get(name), str) for name in _STREAMS):
        return _of_run(result)
    return None


def _of_receipt(result: Mapping[str, object]) -> str:
    active = cast("list[Mapping[str, object]]", result["active_skills"])
    notices = cast("list[Mapping[str, object]]", result["notices"])
    bodies = [cast("str", skill["content"]) for skill in active if skill.get("content")]
    names = ", ".join(escaped(cast("str", skill["name"])) for skill in active) or "none"
    remarks = [f"Notice: {notice['message']}" for notice in notices]
    return str(encodable("\n".join([*bodies, f"Loaded skills: {names}", *remarks])))


def _of_run(result: Mapping[str, object]) -> str:
    streams = {name: cast("str", result[name]) for name in _STREAMS}
    rest = {name: value for name, value in result.items() if name not in _STREAMS}
    if sum(map(len, streams.values())) <= MAX_CHARACTERS:
        text = json_for_model(result)
        if len(text) <= MAX_CHARACTERS:
            return text
    # Escapes lengthen a text up to six times, so the limit is halved until the JSON fits.
    limit = MAX_CHARACTERS
    while limit:
        limit //= 2
        shortened = {name: _head_and_tail(text, limit) for name, text in streams.items()}
        flags = {"text_shortened": shortened != streams, "text_notice": f"{_LESS} {_ARTIFACTS}"}
        text = json_for_model({**rest, **shortened, **flags})
        if len(text) <= MAX_CHARACTERS:
            break
    return text


def _head_and_tail(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, tail = text[: limit // 2], text[len(text) - (limit - limit // 2) :]
    return f"{head}\n… {len(text) - limit} characters are left out here …\n{tail}"
