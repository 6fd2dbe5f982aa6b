#!/usr/bin/env python3
"""wheel.py licenses WHEEL FOLDER: writes the wheel to FOLDER, with the licenses of the code that is
linked into it. wheel.py check WHEEL: reports errors in a finished wheel.

scripts/package runs this with the Python that built the wheel.
"""

import email
import glob
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# License expression of the wheel: the licenses below and the license of Batch.
EXPRESSION = "Apache-2.0 WITH LLVM-exception AND BSD-3-Clause AND MIT"
LARGEST = 100 << 20  # PyPI's limit for the size of a wheel, in bytes


def sources():
    """Returns {name: file} for the licenses of code that is linked into the wheel."""
    def debian(package):
        return "/usr/share/doc/%s/copyright" % package

    nanobind = importlib.metadata.distribution("nanobind")
    license, = [f for f in nanobind.files if f.name.startswith("LICENSE")]
    maps, = [f for f in nanobind.files if f.name == "robin_map.h"]
    return {"LLVM.txt": debian("llvm-22-dev"),  # also the license of MLIR and LLD
            "zstd.txt": debian("libzstd-dev"),
            "nlohmann-json.txt": debian("nlohmann-json3-dev"),
            "nanobind.txt": str(license.locate()),
            "robin-map.txt": str(maps.locate())}


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        return re.search(r"project\(Batch VERSION ([0-9.]+)", file.read()).group(1)


def text_of(path):
    """Returns the text of a license file, or the first comment of a header."""
    with open(path) as file:
        text = file.read()
    if path.endswith(".h"):
        text = text[text.index("/*"):text.index("*/")]
        text = re.sub(r"^[/ ]\*+ ?", "", text, flags=re.M)
    return text


def add_licenses(wheel, folder):
    run = [sys.executable, "-m", "wheel"]
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(run + ["unpack", "-d", work, wheel], check=True,
                       stdout=subprocess.DEVNULL)
        info, = glob.glob(os.path.join(work, "*", "*.dist-info"))
        for name, path in sources().items():
            with open(os.path.join(info, "licenses", name), "w") as file:
                file.write(text_of(path))
        with open(os.path.join(info, "METADATA")) as file:
            head, _, body = file.read().partition("\n\n")
        head = re.sub("^License-Expression: .*", "License-Expression: " + EXPRESSION,
                      head, flags=re.M)
        head = re.sub("^License-File: .*\n", "", head, flags=re.M)
        for name in ["LICENSE", *sources()]:
            head += "\nLicense-File: " + name
        with open(os.path.join(info, "METADATA"), "w") as file:
            file.write(head + "\n\n" + body)
        os.makedirs(folder, exist_ok=True)
        subprocess.run(run + ["pack", "-d", folder, os.path.dirname(info)], check=True,
                       stdout=subprocess.DEVNULL)


def needed(path):
    """Returns the shared libraries that a program or a library requires."""
    lines = subprocess.run(["readelf", "-d", path], stdout=subprocess.PIPE, check=True)
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", lines.stdout.decode()))


def wrong(wheel):
    """Yields the errors in a finished wheel, one line each."""
    name = os.path.basename(wheel)
    python = "cp%d%d" % sys.version_info[:2]
    tag = re.fullmatch(r"batch_compiler-%s-%s-%s-(manylinux_2_(\d+)_\w+)\.whl" %
                       (re.escape(version()), python, python), name)
    if not tag:
        yield "it is named %s" % name
    elif int(tag.group(2)) > 36:
        yield "its tag is %s, and Debian 12 has glibc 2.36" % tag.group(1)
    if os.path.getsize(wheel) > LARGEST:
        yield "it has %d MB" % (os.path.getsize(wheel) >> 20)
    with tempfile.TemporaryDirectory() as work, zipfile.ZipFile(wheel) as file:
        file.extractall(work)
        names = {n for n in file.namelist() if not n.endswith("/")}
        folder = os.path.join(ROOT, "python")
        modules = glob.glob(os.path.join(folder, "batch", "**", "*.py"), recursive=True)
        wanted = {os.path.relpath(path, folder) for path in modules}
        compiler = "batch/bin/batch-compile"
        wanted |= {compiler, "batch/py.typed", "batch/_native.pyi"}
        extension = {n for n in names if re.fullmatch(r"batch/_native[^/]*\.so", n)}
        for missing in sorted(wanted - names):
            yield missing + " is missing"
        if len(extension) != 1:
            yield "there are %d extensions" % len(extension)
        info = "batch_compiler-%s.dist-info/" % version()
        licenses = {info + "licenses/" + n for n in [*sources(), "LICENSE"]}
        for missing in sorted(licenses - names):
            yield missing + " is missing"
        for other in sorted(names - wanted - extension - licenses):
            if not other.startswith(info):
                yield "there is %s, too" % other
        if names >= {info + "METADATA"}:
            metadata = email.message_from_string(file.read(info + "METADATA").decode())
            if metadata["Version"] != version():
                yield "its metadata has version %s" % metadata["Version"]
            if metadata["License-Expression"] != EXPRESSION:
                yield "its licence is %s" % metadata["License-Expression"]
            listed = {info + "licenses/" + n for n in metadata.get_all("License-File")}
            if listed != licenses:
                yield "its metadata lists other licences than it has"
        for program in sorted(({compiler} | extension) & names):
            path = os.path.join(work, program)
            for library in sorted(needed(path)):
                if not re.match(r"(libstdc\+\+|libgcc_s|libc|libm|libz|ld-linux.*|libdl|"
                                r"librt|libpthread)\.so", library):
                    yield "%s needs %s" % (program, library)
            sections = subprocess.run(["readelf", "-S", path], stdout=subprocess.PIPE)
            if b".symtab" in sections.stdout:
                yield program + " is not stripped"
        compiler = os.path.join(work, compiler)
        if os.path.exists(compiler):
            os.chmod(compiler, 0o755)
            said = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE)
            if version() not in said.stdout.decode().split():
                yield "its compiler has another version: " + said.stdout.decode()


def main(what, wheel, *folder):
    if what == "licenses":
        add_licenses(wheel, *folder)
        return
    problems = list(wrong(wheel))
    for problem in problems:
        print("error: %s: %s" % (wheel, problem), file=sys.stderr)
    if problems:
        sys.exit(1)
    with zipfile.ZipFile(wheel) as file:
        sizes = ", ".join("%s %.1f MB" % (i.filename, i.file_size / 1e6)
                          for i in file.infolist() if i.file_size > 1e6)
    print("%s: %.1f MB; inside: %s" % (os.path.basename(wheel),
                                       os.path.getsize(wheel) / 1e6, sizes))


main(*sys.argv[1:])
