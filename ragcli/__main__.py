"""Runs the command line as `python -m ragcli`; may hold no logic of its own."""

import sys

from ragcli.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
