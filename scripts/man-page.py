#!/usr/bin/env python3
"""man-page.py TOOL: writes the manual page of a tool, generated from its --help, to standard
output. scripts/package adds one page per tool to the Debian package."""

import os
import re
import subprocess
import sys


def text_of(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def page(tool):
    name = os.path.basename(tool)
    version = text_of([tool, "--version"]).splitlines()[0].partition(" (")[0]
    text = re.sub("^OVERVIEW: ", "", text_of([tool, "--help"])).strip()
    summary = text.splitlines()[0].rstrip(".")

    def escaped(line):
        line = line.replace("\\", "\\e").replace("-", "\\-")
        return "\\&" + line if line[:1] in (".", "'") else line

    return "\n".join([
        '.TH %s 1 "" "%s"' % (name.upper(), version), ".SH NAME",
        escaped("%s - %s" % (name, summary)),
        ".SH DESCRIPTION", ".nf", *map(escaped, text.splitlines()), ".fi", ""])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(page(sys.argv[1]))
