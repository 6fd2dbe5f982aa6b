"""A compiler that counts its calls."""

import os

import batchtest

from support.processes import run_python


class CountingCompiler:
    """A compiler with an empty cache. It counts its calls and delays each one by $SLOW seconds."""

    def __init__(self, folder):
        self.log = folder / "calls"
        self.log.touch()
        self.cache = folder / "cache" / "batch"
        self.script = folder / "batch-compile"
        self.write_script()
        self.environment = {"BATCH_COMPILE": str(self.script),
                            "XDG_CACHE_HOME": str(folder / "cache")}

    def write_script(self, version=None, comment=""):
        """Writes the program. `version` is the text of --version, by default the compiler's."""
        tool = batchtest.tool("batch-compile")
        answer = f"printf '{version}\\n'" if version else f'exec "{tool}" --version'
        self.script.write_text(f"""#!/bin/sh
# {comment}
if [ "$1" = --version ]; then {answer}; exit; fi
echo $$ >> "{self.log}"
# An interrupted compiler leaves a file next to its output.
if [ "$WRITING" ]; then touch "$3.123456.partial"; sleep 100; fi
sleep ${{SLOW:-0}}
exec "{tool}" "$@"
""")
        self.script.chmod(0o755)

    def calls(self):
        return len(self.log.read_text().splitlines())

    def files(self, suffix):
        return list(self.cache.glob("*" + suffix))

    def environment_of_process(self, slow=0):
        return {**os.environ, **self.environment, "SLOW": str(slow)}

    def run_python(self, program, *arguments, slow=0):
        return run_python(program, *arguments, env=self.environment_of_process(slow))


COMPILE_ENCODER = """
    import sys, batch
    batch.compile(sys.argv[1], sizes={"H": int(sys.argv[2])})
"""
