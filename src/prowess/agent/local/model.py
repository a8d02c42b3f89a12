"""The model `local:smollm2-135m`: an offline model whose language model only picks one of a few options.

A turn asks at most three questions: which skill to load, which call to make, and which part of the results is the
answer. A grammar constrains each reply to the options, so every reply can be parsed. The answer quotes the output of a
tool, because a model of this size invents figures. The model writes its own text only if no tool gave a result.

The options are found by the words that the task shares with skills and tools: a language model of this size can pick
one of a few options but cannot find them. Every option is a call that was not made yet, and calls are counted. After
`MOST_CALLS` calls the only option is to answer, so every run ends. The state of the run is read from the request
(`situation`). No state is kept between requests, so the same request always gives the same situation.
"""

from __future__ import annotations

import html
import itertools
import re
from typing import TYPE_CHECKING, cast

from anyio import to_thread
from msgspec import Struct
from msgspec.structs import replace

from prowess.agent.model import ModelError, ModelSettings, Part, TextDelta, ToolMessage, ToolUse, Usage, UserMessage
from prowess.catalog.matching.texts import evidence_in, stems_of
from prowess.errors import InvalidArgumentsError
from prowess.runtime.disclosure.model_texts import AVAILABLE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from prowess.agent.local.engine import Engine, Reply
    from prowess.agent.model import ModelRequest
    from prowess.tools import ToolSpec

MOST_CALLS = 6  # limit of one run
MOST_SKILLS, MOST_ACTIONS, MOST_BLOCKS = 3, 4, 4  # options of one question, beside "none" and "answer"
_MOST_RUNS, _MOST_READS = 3, 2
_MOST_FILES, _PAIR = 3, 2
_MOST_PATHS = 20  # of scripts, and of references, that are examined
_LONGEST_LABEL = 80  # characters

_FILE = re.compile(r"(?<![\w/.-])[\w][\w./-]*\.[A-Za-z]\w{0,9}(?![\w/])")
_SCRIPT = re.compile(r"\bscripts/[\w./-]*\w")
_RESOURCE = re.compile(r"\b(?:references|assets)/[\w./-]*\w")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*)(?:[ =]([\w./:-]+))?")
_QUOTED = re.compile(r"[\"'\u201c]([^\"'\u201c\u201d\n]{1,200})[\"'\u201d]")
_OUTPUTS = ("stdout", "text", "content", "output", "result")  # keys of a tool's result that may hold its output
_ACTIVE = "<active_skills>\n"
_LISTED = re.compile(r"<skill>\n<name>([^<]*)</name>\n(?:<description>([^<]*)</description>\n)?")
_IN_TOOL = re.compile(r'^"([^"\n]+)": (.*)$', re.MULTILINE)
_BODY = re.compile(r'<skill name="([^"]*)"[^>]*>\n(.*?)\n</skill>\n', re.DOTALL)


class Known(Struct, frozen=True, kw_only=True):
    """A skill that the model can start."""

    name: str
    description: str


class Done(Struct, frozen=True, kw_only=True):
    """A finished call. `worked` is False if the call failed or its script ended with a nonzero status.

    `output` is standard output, the text of a file, or the error. It is empty if the call started a skill.
    """

    tool: str
    arguments: Mapping[str, object]
    worked: bool
    output: str


class Situation(Struct, frozen=True, kw_only=True):
    """The state of a run. `body` are the instructions of the skill in use; None if there is none."""

    task: str
    skills: tuple[Known, ...]
    body: str | None
    done: tuple[Done, ...]
    tools: Mapping[str, ToolSpec]


def situation(request: ModelRequest) -> Situation:
    """Read the state of the run from a request: the task is the first message, the skills are in the instructions."""
    tools = {spec.name: spec for spec in request.tools}
    named = {spec.wire_name: spec.name for spec in request.tools}
    task = next((message.text for message in request.messages if isinstance(message, UserMessage)), "")
    done = tuple(_done(message, named) for message in request.messages if isinstance(message, ToolMessage))
    skills = _skills(request.instructions, tools)
    body = _body(request.instructions) or _body_of_results(request)
    if body is None and not skills and "skills.read" in tools:
        body = request.instructions  # in a sub-agent, the instructions are the skill
    return Situation(task=task, skills=skills, body=body, done=done, tools=tools)


def _skills(instructions: str, tools: Mapping[str, ToolSpec]) -> tuple[Known, ...]:
    # The session's own list is the last section; instruction files of the project come before it.
    section = instructions.rpartition(AVAILABLE)[2].partition("</available_skills>")[0]
    found = _LISTED.findall(section) if AVAILABLE in instructions else []
    if not found and "skill" in tools:
        found = _IN_TOOL.findall(tools["skill"].description.partition(AVAILABLE)[2].partition("</available_skills>")[0])
    return tuple(Known(name=html.unescape(name), description=html.unescape(text)) for name, text in found)


def _body(instructions: str) -> str | None:
    """Return the body of the skill loaded last, whose instructions take precedence; None without an active skill."""
    bodies = _BODY.findall(instructions.rpartition(_ACTIVE)[2]) if _ACTIVE in instructions else []
    return bodies[-1][1] if bodies else None


def _body_of_results(request: ModelRequest) -> str | None:
    for message in reversed(request.messages):
        if isinstance(message, ToolMessage) and message.result.success:
            value = message.result.result or {}
            loaded = value.get("active_skills", [value] if "base_path" in value else [])
            contents = [entry["content"] for entry in cast("list[dict[str, object]]", loaded) if entry.get("content")]
            if contents:
                return str(contents[-1])
    return None


def _done(message: ToolMessage, named: Mapping[str, str]) -> Done:
    value = message.result.result or {}
    keys = () if "base_path" in value else _OUTPUTS  # loaded instructions are not an answer
    output = next((str(value[key]) for key in keys if value.get(key)), "")
    worked = message.result.success and value.get("exit_code", 0) == 0
    if not worked:
        output = message.result.error or str(value.get("stderr") or output)
    return Done(
        tool=named.get(message.call.name, message.call.name),
        arguments=message.call.arguments,
        worked=worked,
        output=output.strip(),
    )


class Option(Struct, frozen=True, kw_only=True):
    """A possible next action. The language model chooses by `label`. Without a `tool`, the option is no call."""

    label: str
    tool: str | None = None
    arguments: Mapping[str, object] | None = None
    text: str = ""


def skill_options(now: Situation) -> list[Option]:
    """Return skills that share words with the task, best first. Empty after the first call."""
    if now.done or now.body is not None or not {"skills.load", "skill"} & set(now.tools):
        return []
    rated = evidence_in(now.task, [(("name", skill.name), ("description", skill.description)) for skill in now.skills])
    best = sorted((-score, place) for place, score in enumerate(rated) if score > 0)[:MOST_SKILLS]
    found = []
    for _, place in best:
        skill = now.skills[place]
        tool, arguments = _start(now, skill.name)
        found.append(Option(label=skill.name, tool=tool, arguments=arguments, text=skill.description))
    return found


def actions(now: Situation) -> list[Option]:
    """Return new calls, best first: those that the active skill suggests or, without a skill, calls of tools."""
    if len(now.done) >= MOST_CALLS:
        return []
    made = [(done.tool, done.arguments) for done in now.done]
    wanted = list(_of_the_skill(now, now.body) if now.body is not None else _of_the_tools(now))
    fresh = [option for option in wanted if (option.tool, option.arguments) not in made]
    # Scripts keep the order of the instructions. All other options are sorted by the words they share with the task.
    rated = evidence_in(now.task, [[("name", option.label)] for option in fresh])
    order = sorted(range(len(fresh)), key=lambda place: (fresh[place].tool != "skills.run_script", -rated[place]))
    return [fresh[place] for place in order[:MOST_ACTIONS]]


def blocks(now: Situation) -> list[Option]:
    """Return the parts of the results that best match the task, in their order. The answer quotes one of them."""
    parts = (part for done in now.done if done.worked for part in re.split(r"\n\s*\n", done.output) if part.strip())
    texts = list(dict.fromkeys(parts))
    rated = evidence_in(now.task, [[("description", text)] for text in texts])
    best = sorted(sorted(range(len(texts)), key=lambda place: (-rated[place], place))[:MOST_BLOCKS])
    return distinct(Option(label=texts[place], text=texts[place]) for place in best)


def distinct(options: Iterable[Option]) -> list[Option]:
    """Return the options with unique labels of one short line each."""
    found: dict[str, Option] = {}
    for option in options:
        line = " ".join(option.label.split())
        short = label = line if len(line) <= _LONGEST_LABEL else f"{line[: _LONGEST_LABEL - 1]}…"
        for number in itertools.count(2):
            if label not in found:
                break
            label = f"{short} ({number})"
        found[label] = Option(label=label, tool=option.tool, arguments=option.arguments, text=option.text)
    return list(found.values())


def _start(now: Situation, name: str) -> tuple[str, dict[str, object]]:
    """Return the call that starts a skill. Forks cannot be loaded: the `skill` tool starts them, with the task."""
    if "skills.load" in now.tools:
        schema = now.tools["skill"].input_schema["properties"] if "skill" in now.tools else {}
        forks = schema.get("skill", {}).get("enum", ()) if isinstance(schema, dict) else ()
        if name not in forks:
            return "skills.load", {"names": [name]}
    return "skill", {"skill": name, "args": now.task}


def _of_the_skill(now: Situation, body: str) -> Iterator[Option]:
    runs = [done for done in now.done if done.tool == "skills.run_script"]
    if "skills.run_script" in now.tools and len(runs) < _MOST_RUNS and not any(done.worked for done in runs):
        lists = list(_argument_lists(now.task, body))
        for path in list(dict.fromkeys(_SCRIPT.findall(body)))[:_MOST_PATHS]:
            for args in lists:
                arguments: dict[str, object] = {"path": path, "args": args}
                yield Option(label=" ".join(["run", path, *args]), tool="skills.run_script", arguments=arguments)
    if "skills.read" in now.tools and len([done for done in now.done if done.tool == "skills.read"]) < _MOST_READS:
        for path in list(dict.fromkeys(_RESOURCE.findall(body)))[:_MOST_PATHS]:
            yield Option(label=f"read {path}", tool="skills.read", arguments={"path": path})


def _of_the_tools(now: Situation) -> Iterator[Option]:
    """Yield calls of tools that require a single text and share words with the task."""
    quoted = _QUOTED.findall(now.task)
    for spec in now.tools.values():
        parameter = _one_text(spec)
        if parameter is None or not set(stems_of(f"{spec.name} {spec.description}")) & set(stems_of(now.task)):
            continue
        for value in dict.fromkeys([*quoted, *_files(now.task)]):
            yield Option(label=f"{spec.name} {value}", tool=spec.name, arguments={parameter: value})


def _one_text(spec: ToolSpec) -> str | None:
    required, properties = spec.input_schema.get("required"), spec.input_schema.get("properties")
    if spec.name.startswith("skill") or not isinstance(required, list) or not isinstance(properties, dict):
        return None
    if len(required) != 1 or properties[required[0]].get("type") != "string":
        return None
    return str(required[0])


def _argument_lists(task: str, body: str) -> Iterator[list[str]]:
    """Yield possible arguments of a script: the files of the task, with options of the body that the task mentions."""
    files = _files(task)
    # With two files, offer both orders: tasks often leave the order open.
    orders = [list(order) for order in itertools.permutations(files)] if len(files) == _PAIR else [files]
    asked = set(stems_of(task))
    pairs: dict[str, list[str]] = {}
    for option, value in _OPTION.findall(body):
        if value and value not in files and set(stems_of(value)) & asked:
            pairs.setdefault(option, [option, value])
        elif not value and set(stems_of(option)) & asked:
            pairs.setdefault(option, [option])
    chosen = [part for pair in list(pairs.values())[:2] for part in pair]
    if chosen:
        yield [*files, *chosen]
    yield from orders


def _files(task: str) -> list[str]:
    return list(dict.fromkeys(_FILE.findall(task)))[:_MOST_FILES]


PREFIX = "local:"
NAMES = ("smollm2-135m",)
WEAKNESS = (
    "local:smollm2-135m is a very small model: it picks one of a few actions that share words with the task, and "
    "often the wrong one; docs/build/offline-model.md has counts"
)
_NONE = Option(label="none")
_ANSWER = Option(label="answer")
_MOST_WRITTEN = 96  # tokens of a text written by the model
_TASK, _INSTRUCTIONS, _DESCRIBED = 600, 1200, 160  # limits in bytes within a question


class LocalModel:
    """A `Model` over an `Engine`. It is weak (`WEAKNESS`), costs nothing, and ends every run after a few calls."""

    def __init__(self, engine: Engine, *, name: str = f"{PREFIX}{NAMES[0]}") -> None:
        self._engine, self._name = engine, name

    @classmethod
    def named(cls, name: str) -> Self:
        """Return `local:smollm2-135m`. Raise InvalidArgumentsError for other names, or without the extra `local`."""
        if name.removeprefix(PREFIX) not in NAMES:
            known = ", ".join(f"{PREFIX}{known}" for known in NAMES)
            raise InvalidArgumentsError((f"there is no local model {name!r}; available: {known}",))
        from prowess.agent.local.engine import SmolLM2  # only this engine needs it

        return cls(SmolLM2(), name=name)

    @property
    def name(self) -> str:
        """The name that the model was created with."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Yield one call or the answer. After a cancellation, the model finishes its short reply in its thread."""
        now = situation(request)
        turn = _Turn(self._engine, request.settings)
        option = await to_thread.run_sync(turn.take, now, abandon_on_cancel=True)
        if option.tool is None:
            yield TextDelta(text=option.text)
        else:
            name = now.tools[option.tool].wire_name
            yield ToolUse(id=f"local-{len(now.done) + 1}", name=name, arguments=dict(option.arguments or {}))
        yield Usage(input_tokens=turn.input_tokens, output_tokens=turn.output_tokens, cost_usd=0.0)


class _Turn:
    """One turn, and the tokens that its questions used."""

    def __init__(self, engine: Engine, settings: ModelSettings) -> None:
        self._engine, self._settings = engine, settings
        self.input_tokens = self.output_tokens = 0

    def take(self, now: Situation) -> Option:
        """Return the next call, or an option without a tool whose `text` is the answer."""
        task = f"Task: {shortened(now.task, _TASK)}"
        if skills := skill_options(now):
            listed = "\n".join(f"- {skill.label}: {shortened(skill.text, _DESCRIBED)}" for skill in skills)
            question = f"Skills:\n{listed}\n- none: no skill fits\n\n{task}\nWhich skill fits the task?"
            if (skill := self._choose(question, [*skills, _NONE])).tool is not None:
                return skill
        if possible := actions(now):
            # The model picks the first option too often, so the likeliest is first: a skill's script, then the answer.
            enough = any(done.worked and done.output for done in now.done)
            to_run = possible[0].tool == "skills.run_script"
            offered = possible if to_run else [_ANSWER, *possible] if enough else [*possible, _ANSWER]
            if (chosen := self._choose(f"{task}\nWhat is done next?", offered)).tool is not None:
                return chosen
        return Option(label="", text=self._answer(now, task))

    def _answer(self, now: Situation, task: str) -> str:
        if found := blocks(now):
            return self._choose(f"{task}\nWhich of these answers it?", found).text
        if now.done and not now.done[-1].worked:
            return f"I could not do it. {now.done[-1].tool} reported: {now.done[-1].output}"
        said = "" if now.body is None else f"Instructions:\n{shortened(now.body, _INSTRUCTIONS)}\n\n"
        question = f"{said}{task}\nAnswer in one or two sentences."
        return self._counted(self._engine.write(question, _MOST_WRITTEN, self._left()))

    def _choose(self, question: str, options: Sequence[Option]) -> Option:
        offered = distinct(options)
        if len(offered) == 1:
            return offered[0]
        said = self._counted(self._engine.choose(question, [option.label for option in offered], self._left()))
        return next((option for option in offered if option.label == said), offered[0])

    def _left(self) -> ModelSettings:
        """Return the settings of the next question. The questions of one turn share `max_output_tokens`."""
        bound = self._settings.max_output_tokens
        if bound is None:
            return self._settings
        if bound <= self.output_tokens:
            raise ModelError(PREFIX + NAMES[0], f"its turn needs more than {bound} output tokens")
        return replace(self._settings, max_output_tokens=bound - self.output_tokens)

    def _counted(self, reply: Reply) -> str:
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        return reply.text


def shortened(text: str, most_bytes: int) -> str:
    """Return the beginning of a text on one line. A token has at least one byte, so tokens are limited too."""
    return " ".join(text.split()).encode("utf-8", "replace")[:most_bytes].decode("utf-8", "ignore")
