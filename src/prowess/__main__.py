"""Entry point of `python -m prowess`, which runs the command `prowess`."""

from prowess.cli.main import main

if __name__ == "__main__":
    main()
