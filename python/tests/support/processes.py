"""Python programs in new processes."""

import subprocess
import sys
import textwrap

_INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def run_python(program, *arguments, **options):
    """Runs a Python program; returns its exit status and its output, stdout and stderr together.

    SIGINT raises KeyboardInterrupt in the program, even if this process ignores the signal.
    """
    # Without -P, Python would also import from the current folder.
    command = [sys.executable, "-P", "-c", _INTERRUPTIBLE + textwrap.dedent(program), *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, **options)
