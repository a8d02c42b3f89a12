"""Whether a baseline saw the skill that it should do without: by activation, by path, or by a phrase of its text."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from prowess._internal.text.terminal_text import printable_line
from prowess.evals.graders.material import arguments_json
from prowess.evals.transcripts.transcript import SkillUse
from prowess.evals.verdicts.judging import verdict_of
from prowess.evals.verdicts.skill_names import same_skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prowess.evals.transcripts.transcript import RunTranscript

MIN_PHRASE = 40  # characters of a line that is not there by chance
_BLANKS = re.compile(r"\s+")


class SkillTraces(Struct, frozen=True, kw_only=True):
    """The traces of a skill in a run that saw it.

    `name` is None if an older version of the same name is installed, whose use is no contamination. `paths` are
    directories of the skill. `phrases` are lines of its texts, without the lines that a run may have from elsewhere.
    """

    name: str | None
    paths: tuple[str, ...]
    phrases: tuple[str, ...]

    @classmethod
    def of(cls, name: str | None, directories: Iterable[str], *, without: Iterable[str] = ()) -> SkillTraces:
        """Return the traces of the skill in the first directory. `without` are texts that the run may contain."""
        listed = tuple(directories)
        known = _plain("\n".join(without))
        phrases = dict.fromkeys(phrase for phrase in _phrases(listed[0]) if phrase not in known)
        return cls(name=name, paths=tuple(dict.fromkeys(map(os.path.realpath, listed))), phrases=tuple(phrases))

    def seen_in(self, run: RunTranscript, given: Iterable[str] = ()) -> str | None:
        """Return the evidence that the run saw the skill, one line, or None. `given` are texts that the run got."""
        known = _plain("\n".join(given))
        phrases = [phrase for phrase in self.phrases if phrase not in known]
        for at, agent_text, is_of_model in _texts(run):
            for path in self.paths:
                if f"{path}/" in agent_text:
                    return f"record {at} has the path {printable_line(path)}"
            if self.name is not None and f"{self.name}/SKILL.md" in agent_text and not is_of_model:
                return f"record {at} has the path {printable_line(self.name)}/SKILL.md"
            plain = "" if is_of_model else _plain(agent_text)
            found = next((phrase for phrase in phrases if phrase in plain), None)
            if found is not None:
                return f"record {at} has a line of the skill: {printable_line(found[:80])}"
        return self._activation(run)

    def _activation(self, run: RunTranscript) -> str | None:
        if self.name is None:
            return None
        for call in run.calls:
            if call.failed or call.unknown_skill or call.refused:
                continue
            if any(isinstance(action, SkillUse) and same_skill(action.skill, self.name) for action in call.actions):
                return f"record {call.at} activates the skill {printable_line(self.name)}"
        for activation in run.activations:
            if activation.by != "model" and same_skill(activation.skill, self.name):
                return f"record {activation.at} activates the skill {printable_line(self.name)}"
        judged = verdict_of(run, skill=self.name, query="")  # a path may be written in any way, such as "$HOME/.."
        if judged.verdict == "triggered" and judged.evidence:
            return f"record {judged.evidence[0].at} reads or runs the skill {printable_line(self.name)}"
        return None


def _texts(run: RunTranscript) -> Iterator[tuple[int, str, bool]]:
    """Yield place, text, and whether the model wrote it: its own words are no proof that it read them."""
    for message in run.messages:
        yield message.at, message.text, message.role == "assistant"
    for call in run.calls:
        yield call.at, arguments_json(call), True
        if call.result is not None:
            yield call.at, call.result, False


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text.replace("\\n", "\n").replace('\\"', '"')).casefold()


def texts_below(directory: str, suffix: str = "") -> Iterator[str]:
    """Yield the texts of the files below a directory whose names end with `suffix`."""
    for folder, _, names in os.walk(directory):
        for name in sorted(names):
            if name.endswith(suffix):
                yield readable_text(os.path.join(folder, name))


def readable_text(path: str) -> str:
    """Return the first million characters of a file, of one that cannot be read none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1_000_000)
    except OSError:
        return ""


def _phrases(directory: str) -> Iterator[str]:
    for text in texts_below(directory, ".md"):
        for line in text.splitlines():
            plain = _plain(line).strip()
            if len(plain) >= MIN_PHRASE:
                yield plain
