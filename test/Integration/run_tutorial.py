#!/usr/bin/env python3
"""run_tutorial.py FILE.md FOLDER: runs a document's commands in an empty folder.

Saves each block after a comment `<!-- save as NAME -->` under that name. Runs each ```sh
block with bash -e, in order. Skips those after a comment `<!-- not run -->`, or after
`<!-- with MODULE -->` if Python lacks that module.
"""

import importlib.util
import os
import re
import subprocess
import sys


def main(document, folder):
    with open(document) as file:
        text = file.read()
    # `python` is the interpreter that runs this script.
    folders = [os.environ.get("BATCH_TOOLS", ""), os.path.dirname(sys.executable),
               os.environ.get("PATH", "")]
    environment = dict(os.environ, PATH=os.pathsep.join(folders))
    blocks = re.findall(r"(?:<!-- (?:save as (\S+)|(not run)|with (\w+)) -->\n)?"
                        r"```(\w+)\n(.*?)```\n", text, re.S)
    commands = 0
    for name, left_out, module, language, body in blocks:
        left_out = left_out or module and not importlib.util.find_spec(module)
        if name:
            with open(os.path.join(folder, name), "w") as file:
                file.write(body)
        elif language == "sh" and not left_out:
            print("\n$ " + body.rstrip().replace("\n", "\n  "))
            sys.stdout.flush()
            # A command that is meant to fail begins with "! ".
            wanted = 0
            if body.startswith("! "):
                wanted, body = 1, body[2:]
            done = subprocess.run(["bash", "-ec", body], cwd=folder,
                                  env=environment)
            if done.returncode != wanted:
                sys.exit("the command exited with status %d; expected %d" % (
                    done.returncode, wanted))
            commands += 1
    if not commands:
        sys.exit("no commands in " + document)


main(*sys.argv[1:])
