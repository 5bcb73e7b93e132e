"""`python -m ragcli` and the `ragcli` script: the command line, and silence for whoever interrupts its imports."""

import _signal  # type: ignore[import-not-found]  # the C module: `signal` costs a search a millisecond
import os


def main() -> int:
    """Run the command line; return its exit code. Ctrl-C before it can answer for itself ends with 130."""
    before = _signal.signal(_signal.SIGINT, lambda *_: os._exit(130))
    from ragcli.cli.app import main as run

    _signal.signal(_signal.SIGINT, before)
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
