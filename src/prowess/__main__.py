"""Entry point of `python -m prowess`, the same as the command `prowess`."""

from prowess.cli.main import main

if __name__ == "__main__":
    main()
