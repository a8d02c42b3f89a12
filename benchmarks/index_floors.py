"""What a listing must at least do, as small programs: read every skill, or load results and examine every file.

    python -m benchmarks.index_floors cold ROOT FILE       read 4 KiB of each SKILL.md and parse the front matter
    python -m benchmarks.index_floors save ROOT FILE       the same, and keep the results in FILE
    python -m benchmarks.index_floors warm ROOT FILE       load the results, and call `stat` once for each SKILL.md

They check nothing, report nothing and trust the file, so no safe program is as fast.
"""

from __future__ import annotations

import marshal
import os
import sys

_HEAD_BYTES = 4096

Row = tuple[int, str, str | None, str | None, str | None, str | None]


def main(mode: str, root: str, file: str) -> int:
    """Run one floor; return the number of skills."""
    if mode == "warm":
        return _warm(root, file)
    rows = _cold(root)
    if mode == "save":
        with open(file, "wb") as stream:
            stream.write(marshal.dumps(rows))
    return len(rows)


def _cold(root: str) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    with os.scandir(root) as entries:
        names = [entry.name for entry in entries if entry.is_dir()]
    for name in names:
        try:
            descriptor = os.open(f"{root}/{name}/SKILL.md", os.O_RDONLY)
        except OSError:
            continue
        head = os.read(descriptor, _HEAD_BYTES)
        time = os.fstat(descriptor).st_mtime_ns
        os.close(descriptor)
        end = head.find(b"\n---", 3)
        fields = _fields(head[4:end].decode()) if head.startswith(b"---\n") and end > 0 else {}
        if "name" in fields:
            wanted = (fields.get(key) for key in ("description", "license", "allowed-tools", "metadata"))
            rows[name] = (time, fields["name"], *wanted)
    return rows


def _fields(text: str) -> dict[str, str]:
    """Read one-line, quoted and block texts; other values stay as they are written."""
    found: dict[str, str] = {}
    key = ""
    for line in text.split("\n"):
        if line[:1] in {" ", ""}:
            found[key] = f"{found.get(key, '')} {line.strip()}"
        elif line[0] != "#":
            key, _, value = line.partition(":")
            value = value.strip()
            if value[:1] in {'"', "'"}:
                value = value[1:-1]
            found[key] = "" if value in {"|", ">", "|-", ">-"} else value
    return found


def _warm(root: str, file: str) -> int:
    with open(file, "rb") as stream:
        rows = marshal.loads(stream.read())  # noqa: S302 -- a floor, of a file that this benchmark wrote
    with os.scandir(root) as entries:
        for entry in entries:
            if os.stat(f"{root}/{entry.name}/SKILL.md").st_mtime_ns != rows[entry.name][0]:
                raise SystemExit("stale")
    return len(rows)


if __name__ == "__main__":
    print(main(*sys.argv[1:4]))
