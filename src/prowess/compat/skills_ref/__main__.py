"""`python -m prowess.compat.skills_ref` is the reference library's command."""

from __future__ import annotations

from prowess.compat.skills_ref.cli import main

if __name__ == "__main__":
    main()
