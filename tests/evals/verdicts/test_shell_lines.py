"""Which command lines use a skill, with what they printed, and which only look like it."""

from __future__ import annotations

import json
import re
from time import process_time
from typing import TYPE_CHECKING

import pytest

from prowess._internal.shell.syntax_tree import GrammarMissingError
from prowess.evals.transcripts.reading import read_transcript_text
from prowess.evals.verdicts.judging import verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable

BODY = "---\nname: csv-report\ndescription: Charts.\n---\n\n# Charts\n"
OTHER = "---\nname: release-notes\n---\n"
D = ".agents/skills/csv-report"
MISSING = f"cat: {D}/SKILL.md: No such file or directory\n"

# line, output, exit code
READS: list[tuple[str, str, int]] = [
    (f"cat {D}/SKILL.md", BODY, 0),
    (f"cat ./{D}/SKILL.md", BODY, 0),
    (f"cat /home/u/p/{D}/SKILL.md", BODY, 0),
    (f"cat ~/{D}/SKILL.md", BODY, 0),
    (f'cat "$HOME/{D}/SKILL.md"', BODY, 0),
    ("cat ${CODEX_HOME}/skills/csv-report/SKILL.md", BODY, 0),
    (f"cat '{D}/SKILL.md'", BODY, 0),
    (f"cat {D}/../csv-report/SKILL.md", BODY, 0),
    ("cat .agents/skills/CSV-Report/skill.md", BODY, 0),
    (f"cat .agents/skills/release-notes/SKILL.md {D}/SKILL.md", OTHER + BODY, 0),
    (f"cat gone/SKILL.md {D}/SKILL.md", f"cat: gone/SKILL.md: No such file or directory\n{BODY}", 1),
    (f"cat -n {D}/SKILL.md", "     1\t---\n     2\tname: csv-report\n", 0),
    (f"head -n 40 {D}/SKILL.md", BODY, 0),
    (f"head -40 {D}/SKILL.md && ls", BODY, 0),
    (f"tail -n +5 {D}/SKILL.md", "# Charts\n", 0),
    (f"sed -n '1,200p' {D}/SKILL.md", BODY, 0),
    (f"sed -n 5,9p {D}/SKILL.md", "# Charts\n", 0),
    (f"awk 'NR<=40' {D}/SKILL.md", BODY, 0),
    (f"nl -ba {D}/SKILL.md | sed -n '1,40p'", "     1\t---\n", 0),
    (f"less {D}/SKILL.md", BODY, 0),
    (f"bat --plain {D}/SKILL.md", BODY, 0),
    (f"cat < {D}/SKILL.md", BODY, 0),
    (f"cat {D}/SKILL.md | head -n 20", BODY, 0),
    (f"cat {D}/SKILL.md 2>/dev/null | head -n 20", BODY, 0),
    (f"cat {D}/SKILL.md 2>&1", BODY, 0),
    (f"cat {D}/SKILL.md 2> errors.txt", BODY, 0),
    (f"cat {D}/SKILL.md | tee copy.md", BODY, 0),
    (f"cat {D}/SKILL.md || true", BODY, 0),
    (f"cat {D}/SKILL.md 2>/dev/null || echo missing", BODY, 0),
    (f"cat {D}/SKILL.md; cat nowhere", BODY + "cat: nowhere: No such file or directory\n", 1),
    (f"ls; cat {D}/SKILL.md", f"a\n{BODY}", 0),
    (f"ls\ncat {D}/SKILL.md\n", f"a\n{BODY}", 0),
    (f"pwd && ls -la && cat {D}/SKILL.md", f"/w\na\n{BODY}", 0),
    (f"# look\ncat {D}/SKILL.md", BODY, 0),
    (f"cd {D} && cat SKILL.md", BODY, 0),
    ("cd .agents && cd skills/csv-report && cat ./SKILL.md", BODY, 0),
    (f"cd {D}/scripts && cat ../SKILL.md", BODY, 0),
    (f"(cd {D}; cat SKILL.md)", BODY, 0),
    (f"pushd {D} >/dev/null && cat SKILL.md", BODY, 0),
    (f'D={D}; cat "$D/SKILL.md"', BODY, 0),
    (f"for f in SKILL.md README.md; do cat {D}/$f; done", BODY, 0),
    ('for s in csv-report release-notes; do echo "== $s"; cat ".agents/skills/$s/SKILL.md"; done', BODY, 0),
    (f"if [ -f {D}/SKILL.md ]; then cat {D}/SKILL.md; fi", BODY, 0),
    (f"test -f {D}/SKILL.md && cat {D}/SKILL.md", BODY, 0),
    (f"bash -lc 'cat {D}/SKILL.md'", BODY, 0),
    (f'bash -lc "cat {D}/SKILL.md"', BODY, 0),
    (f"/bin/bash -lc 'cd {D} && sed -n 1,20p SKILL.md'", BODY, 0),
    (f"sh -c 'cat {D}/SKILL.md | head -5'", BODY, 0),
    (f"bash -c \"bash -c 'cat {D}/SKILL.md'\"", BODY, 0),
    (f"zsh -lc 'cat {D}/SKILL.md'", BODY, 0),
    (f"env LANG=C cat {D}/SKILL.md", BODY, 0),
    (f"LANG=C cat {D}/SKILL.md", BODY, 0),
    (f"timeout 5 cat {D}/SKILL.md", BODY, 0),
    (f"sudo cat {D}/SKILL.md", BODY, 0),
    (f"time cat {D}/SKILL.md", BODY, 0),
    (f"command cat {D}/SKILL.md", BODY, 0),
    (f"/bin/cat {D}/SKILL.md", BODY, 0),
    (f'echo "$(cat {D}/SKILL.md)"', BODY, 0),
    (f'body=$(cat {D}/SKILL.md); echo "$body"', BODY, 0),
    ("cat .agents/skills/*/SKILL.md", OTHER + BODY, 0),
    ("head -5 .agents/skills/*/SKILL.md", f"==> {D}/SKILL.md <==\n{BODY}", 0),
    ('for f in .agents/skills/*/SKILL.md; do head -4 "$f"; done', OTHER + BODY, 0),
    ("find .agents -name SKILL.md -exec cat {} +", OTHER + BODY, 0),
    ("find .agents -name SKILL.md | xargs cat", OTHER + BODY, 0),
    (f"echo first > log.txt; cat {D}/SKILL.md", BODY, 0),
    (f"cat > x.md <<'EOF'\nhello\nEOF\ncat {D}/SKILL.md", BODY, 0),
    (f"cat {D}/SKILL.md &", BODY, 0),
    (f"git status && cat {D}/SKILL.md", f"clean\n{BODY}", 0),
    (f'cat "{D}/SKILL.md" "{D}/references/a.md"', BODY + "a\n", 0),
    (f"while read l; do echo $l; done < {D}/SKILL.md", BODY, 0),
    (f"while IFS= read -r l; do printf '%s\\n' \"$l\"; done < {D}/SKILL.md", BODY, 0),
    (f"printf '%s' \"$(<{D}/SKILL.md)\"", BODY, 0),
    (f'x=$(<{D}/SKILL.md); echo "$x"', BODY, 0),
    (f"cat <<EOF\n$(cat {D}/SKILL.md)\nEOF", BODY, 0),
    (f"dd if={D}/SKILL.md", BODY, 0),
    (f'show() {{ cat "$1" {D}/SKILL.md; }}; show', BODY, 0),
    (f"if true; then cat {D}/SKILL.md; fi", BODY, 0),
    (f"false || cat {D}/SKILL.md", BODY, 0),
    (f"true && cat {D}/SKILL.md", BODY, 0),
    (f"cd {D} || exit 1; cat SKILL.md", BODY, 0),
    (f"test -f x && exit 1; cat {D}/SKILL.md", BODY, 0),
    (f"if [ -f x ]; then exit 1; fi; cat {D}/SKILL.md", BODY, 0),
    (f"(exit 1); cat {D}/SKILL.md", BODY, 0),
    (f"if false; then ls; else cat {D}/SKILL.md; fi", BODY, 0),
    (f"while true; do cat {D}/SKILL.md; break; done", BODY, 0),
]
RUNS: list[tuple[str, str, int]] = [
    (f"python3 {D}/scripts/chart.py sales.csv", "done\n", 0),
    (f"python3 -u ./{D}/scripts/chart.py", "done\n", 0),
    (f"{D}/scripts/chart.sh sales.csv", "done\n", 0),
    (f"./{D}/scripts/chart.sh", "done\n", 0),
    (f"bash {D}/scripts/chart.sh", "", 0),
    (f"bash -lc 'python3 {D}/scripts/chart.py'", "done\n", 0),
    (f"cd {D} && python scripts/chart.py ../../../sales.csv", "done\n", 0),
    (f"cd {D}/scripts && ./chart.sh", "done\n", 0),
    (f"node {D}/scripts/chart.mjs", "done\n", 0),
    (f"uv run {D}/scripts/chart.py", "done\n", 0),
    (f"uv run python {D}/scripts/chart.py", "done\n", 0),
    (f"npx tsx {D}/scripts/chart.ts", "done\n", 0),
    (f"source {D}/scripts/env.sh", "", 0),
    (
        f"python3 {D}/scripts/chart.py missing.csv",
        "Traceback\nFileNotFoundError: [Errno 2] No such file: 'missing.csv'\n",
        1,
    ),
    (f"python3 {D}/scripts/chart.py > out.txt", "", 0),
    (f"python3 {D}/scripts/chart.py | head -3", "done\n", 0),
    (f"echo a | python3 {D}/scripts/chart.py", "done\n", 0),
    (f"OUT=$(python3 {D}/scripts/chart.py) && echo $OUT", "done\n", 0),
]
NEITHER: list[tuple[str, str, int]] = [
    ("ls", "a\n", 0),
    (f"ls {D}", "SKILL.md\n", 0),
    (f"ls -l {D}/SKILL.md", "-rw-r--r-- SKILL.md\n", 0),
    ("find .agents -name SKILL.md", f"{D}/SKILL.md\n", 0),
    (f"grep -n name {D}/SKILL.md", "2:name: csv-report\n", 0),
    (f"rg chart {D}", f"{D}/SKILL.md:6:# Charts\n", 0),
    ("grep -h '^name:' .agents/skills/*/SKILL.md", "name: csv-report\n", 0),
    (f"cat {D}/SKILL.md | grep name", "name: csv-report\n", 0),
    (f"cat {D}/SKILL.md | wc -l", "7\n", 0),
    (f"wc -l {D}/SKILL.md", f"7 {D}/SKILL.md\n", 0),
    (f"stat {D}/SKILL.md", "File\n", 0),
    (f"sha256sum {D}/SKILL.md", "00\n", 0),
    (f"test -f {D}/SKILL.md && echo yes", "yes\n", 0),
    (f"git diff -- {D}/SKILL.md", "+name: csv-report\n", 0),
    (f"git log -p {D}/SKILL.md", "+name: csv-report\n", 0),
    (f"git add {D}/SKILL.md", "", 0),
    (f"diff {D}/SKILL.md other.md", "< name: csv-report\n", 1),
    (f"echo 'cat {D}/SKILL.md'", f"cat {D}/SKILL.md\n", 0),
    (f"echo cat {D}/SKILL.md", f"cat {D}/SKILL.md\n", 0),
    (f"printf '%s\\n' \"cat {D}/SKILL.md\"", f"cat {D}/SKILL.md\n", 0),
    (f"git commit -m 'Say: cat {D}/SKILL.md'", "1 file changed\n", 0),
    (f"cat > notes.md <<'EOF'\ncat {D}/SKILL.md\nEOF", "", 0),
    (f"cat > notes.md <<EOF\npython3 {D}/scripts/chart.py\nEOF", "", 0),
    (f"tee notes.md <<'EOF'\ncat {D}/SKILL.md\nEOF", f"cat {D}/SKILL.md\n", 0),
    (f"python3 - <<'EOF'\nprint('cat {D}/SKILL.md')\nEOF", f"cat {D}/SKILL.md\n", 0),
    (f"# cat {D}/SKILL.md\nls", "a\n", 0),
    (f"cat {D}/SKILL.md > copy.md", "", 0),
    (f"cat {D}/SKILL.md >> copy.md", "", 0),
    (f"cat {D}/SKILL.md > /dev/null", "", 0),
    (f"cat {D}/SKILL.md &> copy.md", "", 0),
    (f"cat {D}/SKILL.md | sed s/a/b/ > copy.md", "", 0),
    (f"bash -lc 'cat {D}/SKILL.md > copy.md'", "", 0),
    (f"cp {D}/SKILL.md copy.md", "", 0),
    (f"sed -i s/a/b/ {D}/SKILL.md", "", 0),
    (f"sed -i s/a/b/ {D}/SKILL.md && git diff", "-description: Charta.\n+description: Chartb.\n", 0),
    (f"sed --in-place=.old s/a/b/ {D}/SKILL.md && git diff", "-description: Charta.\n", 0),
    (f"rm {D}/SKILL.md", "", 0),
    (f"touch {D}/SKILL.md", "", 0),
    (f"cat {D}/SKILL.md", MISSING, 1),
    (f"cat {D}/SKILL.md", MISSING, 0),
    (f"cat {D}/SKILL.md || true", MISSING, 0),
    (f"cat {D}/SKILL.md 2>/dev/null || echo missing", "missing\n", 0),
    (f"cat {D}/SKILL.md 2>/dev/null", "", 1),
    (f"cat {D}/SKILL.md; ls", f"{MISSING}a\nb\n", 0),
    (f"ls; cat {D}/SKILL.md", f"a\n{MISSING}", 1),
    (f"head -40 {D}/SKILL.md", f"head: cannot open '{D}/SKILL.md' for reading: No such file or directory\n", 1),
    (f"sed -n 1,9p {D}/SKILL.md", f"sed: can't read {D}/SKILL.md: No such file or directory\n", 2),
    (f"cat {D}/SKILL.md", f"cat: {D}/SKILL.md: Permission denied\n", 1),
    (f"cd {D} && cat SKILL.md", f"bash: line 1: cd: {D}: No such file or directory\n", 1),
    (f"cat {D}/README.md", "# Read me\n", 0),
    (f"cat {D}/references/a.md", "a\n", 0),
    (f"cat {D}/scripts/chart.py", "print()\n", 0),
    ("cat .agents/skills/release-notes/SKILL.md", OTHER, 0),
    ("cat .agents/skills/my-csv-report/SKILL.md", OTHER, 0),
    ("cat .agents/skills/csv-report-2/SKILL.md", OTHER, 0),
    ("cat .agents/skills/csv-report.md", "x\n", 0),
    ("cat SKILL.md", OTHER, 0),
    ("cat .agents/skills/*/SKILL.md", OTHER, 0),
    ("cd .agents/skills/release-notes && cat SKILL.md", OTHER, 0),
    (f"(cd {D} && ls) && cat SKILL.md", f"SKILL.md\n{OTHER}", 0),
    (f"cd {D} && cd .. && cat release-notes/SKILL.md", OTHER, 0),
    (f"chmod +x {D}/scripts/chart.sh", "", 0),
    (f"ls {D}/scripts/chart.py", f"{D}/scripts/chart.py\n", 0),
    (
        f"python3 {D}/scripts/chart.py",
        f"python3: can't open file '/w/{D}/scripts/chart.py': [Errno 2] No such file or directory\n",
        2,
    ),
    (f"./{D}/scripts/chart.sh", f"bash: line 1: ./{D}/scripts/chart.sh: No such file or directory\n", 127),
    (f"python3 -m pytest tests --ignore {D}/scripts/chart.py", "ok\n", 0),
    (f"python3 check.py {D}/scripts/chart.py", "ok\n", 0),
    ("python3 scripts/chart.py", "ok\n", 0),
    (f"python3 -c \"print('{D}/scripts/chart.py')\"", "x\n", 0),
    (f"if false; then echo {D}/SKILL.md; fi", "", 0),
    (f"show() {{ cat {D}/SKILL.md; }}; cat README.md", "# Read me\n", 0),
    (f"function show {{ cat {D}/SKILL.md; }}; cat README.md", "# Read me\n", 0),
    (f"if false; then cat {D}/SKILL.md; fi; ls", "a\n", 0),
    (f"if true; then ls; else cat {D}/SKILL.md; fi", "a\n", 0),
    (f"if ! true; then cat {D}/SKILL.md; fi; ls", "a\n", 0),
    (f"while false; do cat {D}/SKILL.md; done; ls", "a\n", 0),
    (f"true || cat {D}/SKILL.md", "ok\n", 0),
    (f"echo ok || cat {D}/SKILL.md", "ok\n", 0),
    (f": || cat {D}/SKILL.md; ls > out.txt; cat README.md", "# Read me\n", 0),
    (f"false && cat {D}/SKILL.md", "", 1),
    (f"ls && false && cat {D}/SKILL.md", "a\n", 1),
    (f"exit 0; cat {D}/SKILL.md", "bye\n", 0),
    (f"ls > out.txt; exit; cat {D}/SKILL.md", "bye\n", 0),
    (f"x=$(cat {D}/SKILL.md); ls", "a\n", 0),
    (f"ssh host cat {D}/SKILL.md", BODY, 0),
    (f"ssh host 'cat {D}/SKILL.md'", BODY, 0),
    (f"cat '{D}/SKILL.md '", "# Read me\n", 0),
    (f"cat {D}/SKILL.md | head -0; cat README.md", "# Read me\n", 0),
    (f"cat {D}/SKILL.md | tail -n 0 > out.txt; cat README.md", "# Read me\n", 0),
    (f"head -c 0 {D}/SKILL.md; ls", "a\n", 0),
    (f"head -c 0 {D}/SKILL.md", "", 0),
    (f"tail --lines=0 {D}/SKILL.md; ls", "a\n", 0),
    (f"bash -n {D}/scripts/chart.sh", "", 0),
    (f"bash -o noexec {D}/scripts/chart.sh", "", 0),
    (f"node --check {D}/scripts/chart.mjs", "", 0),
    (f"dd if={D}/SKILL.md of=copy.md", "1+0 records in\n", 0),
    (f"cat {D}/SKILL.md; cat README.md", f"cat: {D}/SKILL.md: Datei oder Verzeichnis nicht gefunden\n# Read me\n", 0),
    (f"alias c='cat {D}/SKILL.md'", "", 0),
    (f"cat 'unclosed {D}/SKILL.md", "bash: unexpected EOF while looking for matching `''\n", 2),
]
DECIDED = [
    *((line, output, code, "triggered", "read") for line, output, code in READS),
    *((line, output, code, "triggered", "script") for line, output, code in RUNS),
    *((line, output, code, "not_triggered", None) for line, output, code in NEITHER),
]


def _claude(line: str, output: str, code: int) -> bytes:
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": line, "description": "x"}}
    failed = {"is_error": True} if code else {}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": f"Exit code {code}\n{output}" if code else output,
        **failed,
    }
    common = {"session_id": "s", "parent_tool_use_id": None}
    records = [
        {"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s", "tools": [], "skills": ["csv-report"]},
        {"type": "assistant", "message": {"id": "m1", "content": [use]}, **common},
        {"type": "user", "message": {"role": "user", "content": [result]}, **common},
        {"type": "assistant", "message": {"id": "m2", "content": [{"type": "text", "text": "Done."}]}, **common},
        {"type": "result", "subtype": "success", "is_error": False, "num_turns": 2, "session_id": "s"},
    ]
    return b"\n".join(json.dumps(record).encode() for record in records)


def _codex(line: str, output: str, code: int) -> bytes:
    told = f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{output}"
    listed = f"<skills_instructions>\n## Skills\n### Available skills\n- csv-report: Charts. (file: /w/{D}/SKILL.md)\n"
    call = {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": json.dumps({"cmd": line})}
    payloads: list[tuple[str, object]] = [
        ("session_meta", {"id": "s", "cwd": "/w", "source": "exec"}),
        (
            "response_item",
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": listed}]},
        ),
        ("event_msg", {"type": "task_started"}),
        ("response_item", call),
        ("response_item", {"type": "function_call_output", "call_id": "c1", "output": told}),
        ("event_msg", {"type": "task_complete", "last_agent_message": "Done."}),
    ]
    return b"\n".join(
        json.dumps({"timestamp": "t", "type": kind, "payload": payload}).encode() for kind, payload in payloads
    )


@pytest.mark.parametrize("form", [_claude, _codex], ids=["claude", "codex"])
@pytest.mark.parametrize("row", DECIDED, ids=[f"{row[0]} -> {row[2]}" for row in DECIDED])
def test_a_command_line_uses_the_skill_or_not(
    form: Callable[[str, str, int], bytes], row: tuple[str, str, int, str, str | None]
) -> None:
    line, output, code, verdict, kind = row
    judged = verdict_of(read_transcript_text(form(line, output, code)), skill="csv-report", query="Chart it")
    assert judged.verdict == verdict, judged
    assert [one.kind for one in judged.evidence][:1] == ([kind] if kind else [])


@pytest.mark.parametrize("line", [row[0] for row in DECIDED])
def test_without_the_grammar_no_line_becomes_a_use(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simple lines are read without it. The others count as no use, and are counted."""

    def missing(_: bytes) -> None:
        raise GrammarMissingError

    monkeypatch.setattr("prowess._internal.shell.line_steps.parsed", missing)
    output, code, verdict = next(row[1:4] for row in DECIDED if row[0] == line)
    run = read_transcript_text(_claude(line, output, code))
    judged = verdict_of(run, skill="csv-report", query="Chart it")
    assert judged.verdict in {verdict, "not_triggered"}
    if judged.verdict != verdict:
        assert judged.unread_lines == 1
    if re.fullmatch(
        r"(?:cat|head|cd|python3|bash) [\w./-]+(?: && cat SKILL.md)?(?: 2>(?:&1|/dev/null))?(?: \| head -n 20)?", line
    ):
        assert judged.unread_lines == 0


@pytest.mark.parametrize("name", ["PowerShell", "powershell"])
def test_power_shell_writes_paths_with_backslashes(name: str) -> None:
    line = "Get-Content -Path .agents\\skills\\csv-report\\SKILL.md -Raw"
    stream = _claude(line, BODY, 0).replace(b'"Bash"', f'"{name}"'.encode())
    assert verdict_of(read_transcript_text(stream), skill="csv-report", query="Chart it").verdict == "triggered"


def test_the_directory_of_a_shell_that_lives_on_is_followed() -> None:
    """Claude Code's shell keeps its directory for the next call; Codex starts a new one for each."""
    first, second = (_claude(line, out, 0).splitlines() for line, out in ((f"cd {D}", ""), ("cat SKILL.md", BODY)))
    again = [line.replace(b'"t1"', b'"t2"') for line in second[1:3]]
    stream = b"\n".join([*first[:3], *again, *first[3:]])
    assert verdict_of(read_transcript_text(stream), skill="csv-report", query="Chart it").verdict == "triggered"


@pytest.mark.parametrize(
    ("line", "output"),
    [
        (f"cat {D}/SKILL.md " + "| cat " * 8000, BODY),
        (f"cat {D}/SKILL.md; " * 3000, BODY),
        (f"cat {D}/SKILL.md; " * 5, " " * 1_000_000 + "x"),
        (f"cat {D}/SKILL.md; " * 5, "a/" * 500_000),
        (f"cat {D}/SKILL.md; " * 400, f"cat: {D}/other: No such file or directory\n" * 2000 + BODY),
    ],
    ids=["pipes", "commands", "blanks", "slashes", "complaints"],
)
def test_a_long_line_or_output_is_judged_in_bounded_time(line: str, output: str) -> None:
    run = read_transcript_text(_codex(line, output, 0))
    start = process_time()
    verdict_of(run, skill="csv-report", query="Chart it")
    assert process_time() - start < 4


@pytest.mark.parametrize(
    "line", [f"false && cat {D}/SKILL.md", f"head -c 0 {D}/SKILL.md", f"cat {D}/SKILL.md 2>/dev/null || echo missing"]
)
def test_only_the_words_of_a_program_tell_that_a_skill_is_not_offered(line: str) -> None:
    stream = _codex(line, "missing\n", 0).replace(b"skills_instructions", b"other_instructions")
    assert verdict_of(read_transcript_text(stream), skill="csv-report", query="Chart it").verdict == "not_triggered"


@pytest.mark.parametrize(
    ("shown", "verdict"), [(BODY, "triggered"), (BODY.replace("csv-report", "other"), "not_triggered")]
)
def test_a_copy_of_what_a_pattern_names_is_of_the_skill_that_the_output_shows(shown: str, verdict: str) -> None:
    stream = _claude("cat .agents/skills/*/SKILL.md > c.md; cat c.md", shown, 0)
    assert verdict_of(read_transcript_text(stream), skill="csv-report", query="Chart it").verdict == verdict


@pytest.mark.parametrize(
    ("line", "output", "verdict"),
    [
        ("echo a && cat {} > c.md", "a", "not_triggered"),
        ("cat {} && echo a > c.md", BODY, "triggered"),
        ("{{ cat {} | wc -l; }} > n.md; cat n.md", "# 12", "not_triggered"),
        ("(cat {} | head -3) > n.md; cat n.md", BODY, "triggered"),
        ("(cd {}/.. && cat SKILL.md) | sort | tee n.md > /dev/null; cat n.md", BODY, "triggered"),
        ("cat {} | grep -c x | cat > n.md; cat n.md", "12", "not_triggered"),
        ("cat {} | head -3 > n.md; cat other.md", "# Other", "not_triggered"),
    ],
)
def test_an_output_that_goes_to_a_file_is_not_shown_and_only_what_is_written_is_a_copy(
    line: str, output: str, verdict: str
) -> None:
    stream = _claude(line.format(".agents/skills/csv-report/SKILL.md"), output, 0)
    assert verdict_of(read_transcript_text(stream), skill="csv-report", query="Chart it").verdict == verdict
