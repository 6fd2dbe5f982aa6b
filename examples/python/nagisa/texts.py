#!/usr/bin/env python3
"""texts.py: downloads Debian's manual pages in Japanese if they are not in the cache.

The package manpages-ja (4 MB) is unpacked in the cache, not installed.
"""

import glob
import gzip
import os
import random
import re
import subprocess
import tempfile

import weights


def fetch():
    """Returns the directory of the unpacked package. Downloads it with apt-get if it is missing."""
    folder = weights.cache("manpages-ja")
    if not os.path.exists(folder):
        os.makedirs(weights.cache(), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=weights.cache()) as fresh:
            subprocess.run(["apt-get", "download", "-qq", "manpages-ja"], cwd=fresh,
                           check=True, stderr=subprocess.DEVNULL)
            (package,) = glob.glob(os.path.join(fresh, "*.deb"))
            subprocess.run(["dpkg-deb", "-x", package, os.path.join(fresh, "files")],
                           check=True)
            os.rename(os.path.join(fresh, "files"), folder)
    return folder


def manual_pages():
    """Returns the text of the manual pages."""
    text = []
    for file in sorted(glob.glob(os.path.join(fetch(), "usr/share/man/ja/*/*.gz"))):
        with gzip.open(file, "rt", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                # A roff request ends a sentence. Escapes are removed from other lines.
                text.append("。" if line[0] in ".'" else re.sub(
                    r"\\(f.|[-&e|]|\(..|\*.)", "", line.strip()))
    return "".join(text)


def draw(count, file=None):
    """Draws `count` sentences, or all if there are fewer. They are the lines of a file, or the
    sentences of the manual pages that contain hiragana and have 5 to 120 characters."""
    if file:
        with open(file, encoding="utf-8") as lines:
            found = [line.strip() for line in lines if line.strip()]
    else:
        found = sorted({sentence for sentence in re.findall("[^。]+。", manual_pages())
                        if re.search("[ぁ-ん]", sentence) and 5 <= len(sentence) <= 120})
    return random.Random(0).sample(found, min(count, len(found)))


if __name__ == "__main__":
    print(fetch())
