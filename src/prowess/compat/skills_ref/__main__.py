"""The reference library's command, run as `python -m prowess.compat.skills_ref`."""

from __future__ import annotations

from prowess.compat.skills_ref.cli import main

if __name__ == "__main__":
    main()
