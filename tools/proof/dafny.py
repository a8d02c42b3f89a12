"""Run Dafny: verify the text, and compile it to a program that answers questions about the model.

Debian's Dafny 2.3 is enough. It prints notes about a prover option that its prover does not know; they are dropped.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

PROGRAMS = ("dafny", "mono", "mcs")
SECONDS_A_LEMMA = 60
SECONDS = 900
_NOTE = re.compile(r"Prover error: .*model_compress|Legal parameters are:|  \w+ \((?:bool|string|unsigned int)\)")
_VERDICT = re.compile(r"verifier finished with (\d+) verified, (\d+) errors?(?:, (\d+) time outs?)?")
_NUMBERED = re.compile(r"\b_\d+_([A-Za-z0-9]+_Compile)\b")  # a module's number depends on what includes it


class ProofError(Exception):
    """Dafny or what compiles its output failed; the text says what it said."""


class Verdict(NamedTuple):
    """What the verifier found: numbers of proof tasks, and its sentences about those that failed."""

    verified: int
    errors: int
    sentences: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether all was proved, and something was."""
        return self.errors == 0 and self.verified > 0


def missing() -> tuple[str, ...]:
    """Return the programs that are needed and not there."""
    return tuple(name for name in PROGRAMS if shutil.which(name) is None)


def verify(files: Sequence[Path], *, only: str | None = None) -> Verdict:
    """Prove every lemma of the files, or those of one name alone: what a fault breaks is found without all the rest.

    Raises:
        ProofError: the verifier gave no verdict: the text does not parse, or it took too long.
    """
    options = ["/compile:0", "/noCheating:1", "/vcsCores:2", f"/timeLimit:{SECONDS_A_LEMMA}"]
    if only is not None:
        options.append(f"/proc:*.{only}")
    said = _run("dafny", *options, *map(str, files))
    lines = tuple(line for line in said.splitlines() if line.strip() and not _NOTE.match(line))
    verdict = _VERDICT.search(said)
    if verdict is None:
        raise ProofError("Dafny gave no verdict:\n" + "\n".join(lines))
    verified, errors, late = (int(number or 0) for number in verdict.groups())
    return Verdict(verified, errors + late, lines[1:-1])


class Model:
    """The compiled model, in a directory of its own; a context manager.

    Raises:
        ProofError: it does not compile.
    """

    def __init__(self, formal: Path) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="prowess-model-")
        place = Path(self._place.name)
        try:
            self._program = _compiled(formal, place)
        except BaseException:
            self._place.cleanup()
            raise

    def answers(self, questions: Sequence[str]) -> list[str]:
        """Return the answer to each question, all asked in one run.

        Raises:
            ProofError: the program stopped before the last.
        """
        done = subprocess.run(  # the program was compiled here
            ["mono", str(self._program)],
            input="".join(f"{question}\n" for question in questions),
            capture_output=True, encoding="utf-8", check=False, timeout=SECONDS,
        )  # fmt: skip
        found = done.stdout.splitlines()
        if done.returncode or len(found) != len(questions):
            raise ProofError(f"the model answered {len(found)} of {len(questions)} questions:\n{done.stderr[-2000:]}")
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._place.cleanup()


def _compiled(formal: Path, place: Path) -> Path:
    for path in formal.glob("*.dfy"):
        shutil.copy(path, place)
    said = _run("dafny", "/noVerify", "/compile:2", "/spillTargetCode:2", "All.dfy", cwd=place)
    source = place / "All.cs"
    if not source.exists() or "Error:" in said:  # it also refuses what has no body
        raise ProofError(f"Dafny did not compile the model:\n{said}")
    source.write_text(_NUMBERED.sub(r"\1", source.read_text(encoding="utf-8")), encoding="utf-8")
    program = place / "oracle.exe"
    libraries = ("-r:System.Numerics.dll", "-r:System.Core.dll")
    said = _run("mcs", "-warn:0", *libraries, f"-out:{program}", str(source), str(formal / "Oracle.cs"), cwd=place)
    if not program.exists():
        raise ProofError(f"the compiled model could not be built:\n{said}")
    return program


def _run(*command: str, cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=SECONDS)
    except FileNotFoundError:
        raise ProofError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise ProofError(f"{command[0]} was not finished after {SECONDS} seconds") from None
    return done.stdout + done.stderr
