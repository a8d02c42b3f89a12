"""`python -m prowess` is `prowess`."""

from prowess.cli.main import main

if __name__ == "__main__":
    main()
