"""A host in miniature: it asks its provider until it gets no more calls, and writes a stream as Claude Code does.

What it does besides is told by its prompt: `crash`, `wait`, `session`, or nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def line(**record: object) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def ask(messages: list[dict[str, object]]) -> dict[str, object]:
    body = {"model": "m", "max_tokens": 900, "messages": messages, "tools": [{"name": "Skill"}]}
    request = urllib.request.Request(  # noqa: S310 -- the address of the gateway
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "x-api-key": os.environ["ANTHROPIC_API_KEY"]},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 -- as above
        return dict(json.load(answer))


def main() -> int:
    prompt = sys.stdin.read()
    skills = sorted(path.name for path in Path.home().glob(".claude/skills/*"))
    seen = {"environment": dict(os.environ), "home": os.listdir(Path.home()), "mode": Path.home().stat().st_mode}
    Path("seen.json").write_text(json.dumps(seen))
    if "session" in prompt:
        folder = Path.home() / ".claude/projects/here"
        (folder / "one/subagents").mkdir(parents=True)
        (folder / "one.jsonl").write_text(
            '{"type":"user","message":{"role":"user","content":"hi"},"sessionId":"one"}\n'
        )
        (folder / "one/subagents/agent-1.jsonl").write_text('{"type":"user","isSidechain":true,"sessionId":"one"}\n')
    if "linked" in prompt:
        Path("private").mkdir()
        Path("private/one.jsonl").write_text('{"type":"user","message":{"role":"user","content":"private"}}\n')
        (Path.home() / ".claude/projects").mkdir(parents=True)
        (Path.home() / ".claude/projects/other").symlink_to(Path("private").resolve())
        (Path.home() / ".claude/projects/here").mkdir()
        (Path.home() / ".claude/projects/here/two.jsonl").symlink_to(Path("private/one.jsonl").resolve())
    if "wait" in prompt:
        time.sleep(60)
    if "crash" in prompt:
        sys.stderr.write("the host has crashed\n")
        return 3
    line(type="system", subtype="init", session_id="one", skills=skills, tools=["Skill"], cwd=os.getcwd())
    messages: list[dict[str, object]] = [{"role": "user", "content": prompt}]
    while True:
        try:
            answer = ask(messages)
        except urllib.error.HTTPError as fault:
            line(type="result", subtype="success", is_error=True, session_id="one", result=f"API Error: {fault.code}")
            return 1
        content = answer["content"]
        assert isinstance(content, list)
        line(type="assistant", session_id="one", message={"id": answer["id"], "role": "assistant", "content": content})
        results = [
            {"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}
            for block in content
            if block["type"] == "tool_use"
        ]
        if not results:
            line(type="result", subtype="success", is_error=False, session_id="one", result=content[0]["text"])
            return 0
        line(type="user", session_id="one", message={"role": "user", "content": results})
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": results}]


if __name__ == "__main__":
    sys.exit(main())
