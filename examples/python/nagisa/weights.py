#!/usr/bin/env python3
"""weights.py: downloads nagisa's wheel if it is not in the cache, and reads its weights.

The weights are in nagisa's wheel of 22 MB (https://github.com/taishi-i/nagisa, MIT License).
The wheel is unpacked in the cache, not installed, because installation would also install DyNet
for training.
"""

import glob
import gzip
import hashlib
import os
import pickle
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy

VERSION = "0.3.0"
FILES = {
    "nagisa/data/nagisa_v001.model":
        "9db9abc06a927c56e18af8d485e20a14908138752be459a83f0dc7ac85368c1b",
    "nagisa/data/nagisa_v001.dict":
        "968ac9e6c7a53051ef24d8561673dd31de81b2feb9b5bff01b1d3b6b2473113c",
}

# Names of the weights of networks, and of the tables of vectors, in the order of the file. The
# weights of an LSTM have rows for its gates in this order: input, forget, output and new value.
NETWORKS = [*("%s_%s_%s" % (net, way, part)
              for net in ("letters", "words", "spelling") for way in ("forth", "back")
              for part in "xhb"), "tag_w", "tag_b", "kind_w", "kind_b"]
TABLES = ["letter", "pair", "word", "script", "kind", "follows"]


def cache(*names):
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or
                        os.path.expanduser("~/.cache"), "batch-examples", *names)


def fetch():
    """Returns the directory of the unpacked wheel. Downloads the wheel from PyPI if it is missing,
    and checks its files."""
    folder = cache("nagisa-" + VERSION)
    if not os.path.exists(folder):
        os.makedirs(cache(), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache()) as fresh:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps",
                            "--only-binary=:all:", "--dest", fresh,
                            "nagisa==" + VERSION], check=True)
            (wheel,) = glob.glob(os.path.join(fresh, "*.whl"))
            with zipfile.ZipFile(wheel) as files:
                files.extractall(os.path.join(fresh, "nagisa"))
            os.rename(os.path.join(fresh, "nagisa"), folder)
    for name, wanted in FILES.items():
        with open(os.path.join(folder, name), "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != wanted:
                raise ValueError("%s in %s differs from the file on PyPI; remove the folder"
                                 % (name, folder))
    return folder


def load(folder):
    """Reads the weights from the text that DyNet wrote. Returns {name: array}."""
    found, names = {}, {"Parameter": iter(NETWORKS), "LookupParameter": iter(TABLES)}
    with open(os.path.join(folder, "nagisa/data/nagisa_v001.model"), "rb") as file:
        for line in file:
            kind, shape, size = re.match(
                rb"#(\w+)# \S+ \{([\d,]+)\} (\d+) ZERO_GRAD", line).groups()
            array = numpy.array(file.read(int(size)).split(), numpy.float32)
            # The file stores matrices column by column. A table has a column for each entry.
            array = array.reshape([int(n) for n in reversed(shape.split(b","))])
            kind = kind.decode()
            found[next(names[kind])] = array.T.copy() if kind == "Parameter" else array
    return found


def dictionaries(folder):
    """Returns the dictionaries: identifiers of letters, of pairs of letters, of words and of
    kinds of words, and the possible kinds of each word."""
    with gzip.open(os.path.join(folder, "nagisa/data/nagisa_v001.dict")) as file:
        return pickle.load(file)


if __name__ == "__main__":
    print(fetch())
