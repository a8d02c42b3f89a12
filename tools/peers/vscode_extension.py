"""Take the extension for VS Code out of docs/author/editor.md; have the compiler check its types, and `vsce` pack it.

python tools/peers/vscode_extension.py FOLDER     writes into FOLDER, with npm and what it fetches
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

_DOCS = Path(__file__).parents[2] / "docs" / "author" / "editor.md"
_TOOLS = ("typescript@5", "@types/node@20", "@types/vscode@1.90.0", "@vscode/vsce@3")  # 1.90: what `engines` names
_CHECK = ("--noEmit", "--allowJs", "--checkJs", "--skipLibCheck", "--module", "node16", "--target", "es2022")


def main(folder: Path) -> int:
    """Return 0 where both agree with what the page says."""
    extension, tools = folder / "extension", folder / "tools"
    shutil.rmtree(extension, ignore_errors=True)
    for place in (extension, tools):
        place.mkdir(parents=True, exist_ok=True)
    page = _DOCS.read_text()
    for name in ("package.json", "extension.js"):
        found = re.search(rf"`{re.escape(name)}`:\n\n```\w+\n(.*?)```", page, re.DOTALL)
        if found is None:
            print(f"docs/author/editor.md has no {name}")
            return 1
        (extension / name).write_text(found[1])
    npm = ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent")
    subprocess.run([*npm, "--prefix", tools, *_TOOLS], check=True)
    subprocess.run(npm, cwd=extension, check=True)
    types = tools / "node_modules" / "@types"
    bin_ = tools / "node_modules" / ".bin"
    # The types of `vscode` come from no package that the extension has at run time.
    compiler: tuple[str | Path, ...] = (
        bin_ / "tsc",
        *_CHECK,
        "--typeRoots",
        types,
        "--types",
        "vscode,node",
        "extension.js",
    )
    packer = (bin_ / "vsce", "package", "--allow-missing-repository", "--skip-license", "-o", folder / "prowess.vsix")
    return max(subprocess.run(command, cwd=extension, check=False).returncode for command in (compiler, packer))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
