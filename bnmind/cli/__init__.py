"""The command line. A face: what it says is computed in the layers below.

Nothing heavy is imported before a command needs it, so that ``bnmind --help`` answers
at once.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line on the arguments of the process, and exit.

    Wrong input becomes one line on the standard error stream, and exit code 2. Ctrl-C ends
    the process with exit code 130, whenever it comes.
    """
    import os

    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            # During imports an exception may be lost or garbled, and there is no work to save.
            signal.signal(signal.SIGINT, lambda *_: os._exit(130))
        from bnmind.cli.app import run
    except KeyboardInterrupt:
        os._exit(130)
    run()
