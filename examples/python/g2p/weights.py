#!/usr/bin/env python3
"""weights.py: downloads the weights of g2p_en if they are not in the cache.

g2p_en (https://github.com/Kyubyong/g2p, Apache License 2.0) has them in its wheel of 3 MB. The
package is not installed, because importing it would download more files.
"""

import hashlib
import io
import os
import subprocess
import sys
import zipfile

import numpy

WHEEL = "g2p_en-2.1.0-py3-none-any.whl"
SHA256 = "2a7aabf1fc7f270fcc3349881407988c9245173c2413debbe5432f4a4f31319f"


def fetch():
    """Returns the path of the wheel. Downloads it from PyPI if it is not in the cache."""
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or
                          os.path.expanduser("~/.cache"), "batch-examples")
    path = os.path.join(folder, WHEEL)
    if not os.path.exists(path):
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                        "--dest", folder, "g2p_en==2.1.0"], check=True)
    with open(path, "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != SHA256:
            raise ValueError("%s differs from the file on PyPI; remove it and try again" % path)
    return path


def load(wheel):
    """Returns the weights: {name: array}."""
    with zipfile.ZipFile(wheel) as files:
        arrays = numpy.load(io.BytesIO(files.read("g2p_en/checkpoint20.npz")))
        return {name: arrays[name] for name in arrays.files}


if __name__ == "__main__":
    print(fetch())
