#!/usr/bin/env python3
"""check_site.py ROOT PYTHON: checks that the pages of scripts/site, in ROOT/build/site,
are complete and correct. Reports links and anchors without a target.

PYTHON has Sphinx. scripts/check --long calls this script.
"""

import ast
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

root, python = sys.argv[1:]
site = os.path.join(root, "build", "site")
failures = []


def expect(what, holds, details=""):
    if not holds:
        failures.append(what)
        print("FAILED: %s%s" % (what, details and ": " + str(details)[:2000]))


def page(name):
    with open(os.path.join(site, name + ".html")) as file:
        return file.read()


def text(markup):
    return html.unescape(re.sub(r"<[^>]+>", "", markup))


files = subprocess.run(["git", "ls-files", "*.md"], cwd=root, stdout=subprocess.PIPE,
                       check=True).stdout.decode().split()
for file in files:
    name = "index" if file == "README.md" else file[:-3]
    expect("there is a page of " + file,
           os.path.exists(os.path.join(site, name + ".html")))

index = page("index")
with open(os.path.join(root, "README.md")) as file:
    readme = file.read()
for name in "think.py", "trees.py":
    example = re.search(r"save as %s -->\n```\w+\n(.*?)```" % name, readme,
                        re.S).group(1)
    expect("the first page has " + name, example in text(index))
tutorial = page("docs/tutorials/mlir")
expect("MLIR is highlighted", '<div class="highlight-mlir' in tutorial and
       re.search(r'<span class="k">rec.match</span>', tutorial))
expect("names of options in headings begin with two hyphens",
       "<h2>--autobatch<" in page("docs/reference/pipelines"))
expect("attributes of ops have a table with a style",
       re.search(r'<h4>Attributes:.*?</h4>\s*<div class="table-wrapper',
                 page("docs/reference/generated/batch-ops")))
expect("the first page says the version",
       re.search(r"<title>.*Batch \d+\.\d+\.\d+", index))
captions = re.findall(r'<p class="caption"[^>]*><span class="caption-text">(.*?)<', index)
expect("the navigation has the four kinds of pages",
       captions[:5] == ["Tutorials", "How-to guides", "Reference", "Generated reference",
                        "Explanation"], captions)
links = re.findall(r'<li class="toctree-l1"><a [^>]*href="([^"]*)"', index)
expect("the tutorials come first",
       links[:2] == ["docs/tutorials/python.html", "docs/tutorials/mlir.html"], links)

api = page("docs/reference/python-api")
with open(os.path.join(root, "python", "batch", "__init__.py")) as file:
    names = [ast.literal_eval(node.value) for node in ast.parse(file.read()).body
             if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"][0]
for name in names:
    expect("batch.%s is described" % name, 'id="batch.%s"' % name in api)

# Broken links and missing anchors are reported.
with tempfile.TemporaryDirectory() as folder:
    pages = os.path.join(folder, "pages")
    shutil.copytree(os.path.join(root, "build", "site-pages"), pages,
                    ignore=shutil.ignore_patterns("doctrees"))
    with open(os.path.join(pages, "docs", "reference", "tools.md"), "a") as file:
        file.write("\n[a](nowhere.md) [b](formats.md#no-such-heading)\n")
    done = subprocess.run(
        [python, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-b", "dummy",
         "-c", os.path.join(root, "docs", "site"), pages, os.path.join(folder, "site")],
        env=dict(os.environ, BATCH_ROOT=root), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    said = done.stdout.decode()
    expect("a page that is not there is an error",
           done.returncode != 0 and "nowhere.md" in said, said)
    expect("a heading that is not there is an error", "no-such-heading" in said, said)
with tempfile.TemporaryDirectory() as folder:
    tree = os.path.join(folder, "tree")
    subprocess.run(["git", "init", "-q", tree], check=True)
    for part in (("docs", "site"), ("python", "batch")):
        shutil.copytree(os.path.join(root, *part), os.path.join(tree, *part))
    for name, written in (("README.md", "[gone](examples/gone) `[code](nowhere)`\n"),
                          ("docs/README.md", ""), ("docs/unlisted.md", "")):
        with open(os.path.join(tree, name), "w") as file:
            file.write(written)
    done = subprocess.run([python, os.path.join(tree, "docs", "site", "stage.py"),
                           os.path.join(folder, "pages")], stderr=subprocess.PIPE)
    said = done.stderr.decode()
    expect("a file that is not there is an error",
           done.returncode != 0 and "README.md: missing link target 'examples/gone'" in said and
           "nowhere" not in said, said)
    expect("a page that docs/README.md does not link is an error",
           "docs/README.md does not link docs/unlisted.md" in said, said)
print("%d pages, %d names of the package; %d failed" % (len(files), len(names),
                                                        len(failures)))
sys.exit(1 if failures else 0)
