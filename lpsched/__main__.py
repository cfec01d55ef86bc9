"""Lets `python -m lpsched` do what `lpsched` does."""

from lpsched.cli.main import main

if __name__ == "__main__":
    main()
