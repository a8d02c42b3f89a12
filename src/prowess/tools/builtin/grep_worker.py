"""Worker process that runs regular expressions for Grep.

Python's `re` can run practically forever, and a process can be killed. The module is started by its path, imports only
the standard library, opens no files, uses no network, and has no more rights than its parent.

The parent first writes one line of JSON to standard input (`pattern`, `ignore_case`, `multiline`, `cpu_seconds`,
`memory_bytes`). The worker answers with one line: `{}` or `{"error": ...}`. Then the parent sends texts: the length in
four bytes, big-endian, followed by UTF-8. The worker answers each text with one line, `[[first line, last line], ...]`
of the matches, counted from 0.
"""

from __future__ import annotations

import json
import re
import sys
import warnings

MAX_MATCHES = 20_000  # in one text


def spans(pattern: re.Pattern[str], text: str, *, multiline: bool) -> list[tuple[int, int]]:
    """Return the first and the last line of each match. Without `multiline`, each line is matched separately."""
    found: list[tuple[int, int]] = []
    if not multiline:
        for number, each in enumerate(text.split("\n")):
            if pattern.search(each.removesuffix("\r")):
                found.append((number, number))
                if len(found) >= MAX_MATCHES:
                    break
        # An empty text after the last line end is not a line.
        return found[:-1] if found and text.endswith("\n") and found[-1][0] == text.count("\n") else found
    line, seen = 0, 0
    for match in pattern.finditer(text):
        line += text.count("\n", seen, match.start())
        seen = match.start()
        found.append((line, line + match.group().rstrip("\n").count("\n")))
        if len(found) >= MAX_MATCHES:
            break
    return found


def compiled(pattern: str, *, ignore_case: bool, multiline: bool) -> re.Pattern[str]:
    """Compile the pattern with Grep's flags. `re.error` if it is not a regular expression."""
    flags = (re.IGNORECASE if ignore_case else 0) | (re.MULTILINE | re.DOTALL if multiline else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about changes in later Python versions
        return re.compile(pattern, flags)


def limit(cpu_seconds: int, memory_bytes: int) -> None:
    """Limit CPU time and memory of this process, in case its parent can no longer kill it."""
    # Imported here, because Windows has no such module.
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def serve() -> None:
    """Answer requests until standard input ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer

    def answer(value: object) -> None:
        target.write(json.dumps(value).encode() + b"\n")
        target.flush()

    asked = json.loads(source.readline())
    multiline = asked["multiline"]
    try:
        limit(asked["cpu_seconds"], asked["memory_bytes"])
        pattern = compiled(asked["pattern"], ignore_case=asked["ignore_case"], multiline=multiline)
    except (re.error, OverflowError, RecursionError, MemoryError) as fault:
        answer({"error": str(fault) or "it is too large"})
        return
    answer({})
    while len(head := source.read(4)) == 4:  # noqa: PLR2004 -- the four bytes of the length
        text = source.read(int.from_bytes(head, "big")).decode("utf-8", "replace")
        answer(spans(pattern, text, multiline=multiline))


if __name__ == "__main__":
    serve()
