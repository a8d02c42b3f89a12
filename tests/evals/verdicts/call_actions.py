"""Calls of the skill tool and of reading tools, and queries, in the words of each host, each with its verdict."""

from __future__ import annotations

from tests.evals.transcripts.written import SKILL, N, P, T

# The name that the model gives, the skill that is judged, the verdict.
NAMES: list[tuple[str, str, str]] = [
    *(
        (name, SKILL, T)
        for name in (SKILL, "CSV-REPORT", "\uff43sv-report", f"office:{SKILL}", f" {SKILL} ", f"/{SKILL}")
    ),
    *((name, SKILL, N) for name in ("csv-report-2", "csvreport", "my-csv-report", "csv_report", "notes", "csv")),
    *((name, f"office:{SKILL}", T) for name in (SKILL, f"office:{SKILL}", f"OFFICE:{SKILL}")),
    (f"other:{SKILL}", f"office:{SKILL}", N),
    ("STRASSE", "straße", T),
    ("cafe\u0301", "café", T),
    ("finance", "\ufb01nance", T),
    ("Überblick", "überblick", T),
    *((f"{SKILL}-{end}", SKILL, P) for end in ("4f2a91", "4F2A91", "skill-4f2a91b2", "123456")),
    (f"office:{SKILL}-4f2a91", SKILL, P),
    *((f"{SKILL}{end}", SKILL, N) for end in ("-4f2a9", "-skill-4f2a9", "-skill", "-monthly", "-4f2a9g", "4f2a91")),
]
REFUSALS: dict[str, list[str]] = {
    "claude": [
        "Claude requested permissions to use Skill, but you haven't granted it yet.",
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
        "PreToolUse:Skill hook error: [check.sh]: Skills are not found here",
        "Skill csv-report cannot be used with Skill tool due to disable-model-invocation",
        "Permission to use Skill with command csv-report has been denied because of don't ask mode.",
    ],
    "gemini": [
        "User did not allow tool call",
        'Tool execution for "Activate Skill" requires user confirmation, which is not supported here.',
        "[Operation Cancelled] Reason: User cancelled",
        "Tool execution denied by policy. You are in Plan Mode.",
    ],
    "copilot": [
        "Permission denied and could not request permission from user",
        "The user rejected this tool call.",
        "Denied by preToolUse hook: no",
    ],
    "opencode": [
        "The user rejected permission to use this specific tool call.",
        'The user has specified a rule which prevents you from using this call. [{"permission":"skill","pattern":"*"}]',
        "Tool execution aborted",
    ],
}
UNKNOWN: dict[str, list[str]] = {
    "claude": [
        f"<tool_use_error>Unknown skill: {SKILL}</tool_use_error>",
        f"<tool_use_error>Unknown skill: {SKILL}. Did you mean notes?</tool_use_error>",
        f"Error: Unknown skill: {SKILL}",
    ],
    "gemini": [
        f'Error: Skill "{SKILL}" not found. Available skills are: notes',
        'params/name must be equal to one of the allowed values: "notes"',
    ],
    "copilot": [f"Skill not found: {SKILL}", f'Skill "{SKILL}" not found', f"Unknown skill: {SKILL}"],
    "opencode": [f'Skill "{SKILL}" not found. Available skills: none'],
}
PATHS: list[tuple[str, str]] = [
    (f"/w/.claude/skills/{SKILL}/SKILL.md", T),
    (f".agents/skills/{SKILL}/SKILL.md", T),
    (f"~/.claude/skills/{SKILL}/SKILL.md", T),
    (f"C:\\Users\\me\\.claude\\skills\\{SKILL}\\SKILL.md", T),
    (f"C:\\w/.claude\\skills\\{SKILL}/SKILL.md", T),
    (f"/w/.claude/skills/{SKILL}/skill.md", T),
    (f"/h/.claude/plugins/cache/m/office/1.0.0/skills/{SKILL}/SKILL.md", T),
    (f"file:///w/.agents/skills/{SKILL}/SKILL.md", T),
    (f"/w/.agents/skills/notes/../{SKILL}/SKILL.md", T),
    (f"/w/.claude/skills/{SKILL}/references/a.md", N),
    (f"/w/.claude/skills/{SKILL}/scripts/run.py", N),
    (f"/w/.claude/skills/{SKILL}", N),
    ("/w/.claude/skills/notes/SKILL.md", N),
    (f"/w/.claude/skills/{SKILL}-2/SKILL.md", N),
    (f"/w/.claude/skills/my-{SKILL}/SKILL.md", N),
    (f"/w/.claude/skills/{SKILL}/SKILL.md.bak", N),
    ("/w/.claude/skills/SKILL.md", N),
    ("/w/SKILL.md", N),
]
FAILURES: dict[str, list[str]] = {
    "claude": [
        "<tool_use_error>File does not exist.</tool_use_error>",
        "EISDIR: illegal operation on a directory, read",
        "Permission to read /w/x has been denied.",
        "File content (30000 tokens) exceeds maximum allowed tokens (25000).",
    ],
    "gemini": ["File not found: /w/x", "File path '/w/x' is ignored by configured ignore patterns."],
    "copilot": ["Path does not exist", "The path /w/x does not exist. Please provide a valid path."],
    "cursor": ["File not found"],
    "opencode": ["File not found: /w/x\n\nDid you mean one of these?\n/w/y"],
}
QUERIES: list[tuple[str, str, str]] = [
    *((text.replace("N", SKILL), SKILL, P) for text in ("/N a.csv", "Use $N", "@N now", "the N skill", "skill N")),
    *((text.replace("N", SKILL), SKILL, P) for text in ("do N", "'N'", "(N)", "N's output", "**N**", "N, please")),
    *((text, SKILL, P) for text in ("CSV-REPORT!", "/office:csv-report", "\uff43sv-report")),
    *((text.replace("N", "invoices"), "invoices", P) for text in ("/N", "$N do", "@N, go", "the N skill", "skill N")),
    *((text.replace("N", "invoices"), "invoices", P) for text in ("run /N for May", "'N' SKILL", "Skill: N")),
    *((text.replace("N", SKILL), SKILL, N) for text in ("N2", "Ns", "a-N", "N-v2")),
    *((text, SKILL, N) for text in ("Chart the csv report", "csvreport")),
    *((text.replace("N", "invoices"), "invoices", N) for text in ("Sum the N of May", "open N/2024", "ls /home/u/N")),
    *((text.replace("N", "invoices"), "invoices", N) for text in ("see /N/2024/a.pdf", "a@N.com", "$N_dir", "$5 N")),
    *((text.replace("N", "invoices"), "invoices", N) for text in ("my N skills", "https://x.y/N", "the upskill of N")),
]
