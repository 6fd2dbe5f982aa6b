#!/usr/bin/env python3
"""stage.py FOLDER: copies the Markdown files of this tree to FOLDER and adapts them for Sphinx.

README.md becomes index.md. Links to pages of the site remain links. Links to files of
examples, benchmarks or docs become downloads. Links to other sources become plain text.
A link whose target is missing is an error, and so is a page of docs that docs/README.md
does not link. The navigation has the sections of docs/README.md, then the other pages.
"""

import os
import re
import shutil
import subprocess
import sys

import api

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

DOWNLOADS = ("benchmarks/", "docs/", "examples/")

# Matches code, which remains unchanged, and the tokens of links.
TOKENS = re.compile(r"(?P<fence>^ *```.*?^ *```)|"
                    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))|"
                    r"(?P<link>\]\((?P<target>[^()\s]+)\))|(?P<open>!?\[)|(?P<close>\])",
                    re.M | re.S)


def navigation(pages):
    """Returns {caption: pages}, in the order of the navigation."""
    with open(os.path.join(ROOT, "docs", "README.md")) as file:
        sections = re.split(r"^## (.*)\n", file.read(), flags=re.M)
    found = {}
    for caption, text in zip(sections[1::2], sections[2::2]):
        for link in re.findall(r"\]\(([\w/-]+\.md)\)", text):
            generated = link.startswith("reference/generated/")
            found.setdefault("Generated reference" if generated else caption,
                             []).append("docs/" + link)
    listed = {page for section in found.values() for page in section}
    found.update({"Examples": [], "Benchmarks": [], "Project": []})
    for page in sorted(set(pages) - listed - {"README.md"}):
        caption = page.split("/")[0].capitalize()
        found[caption if caption in ("Examples", "Benchmarks") else "Project"].append(page)
    return found


def markdown_table(found):
    """Returns a table of Markdown for an HTML table of a generated page."""
    rows = ["| %s |" % " | ".join(re.findall(r"<t[dh]>(.*?)</t[dh]>", row))
            for row in found.group().splitlines() if row.startswith("<tr>")]
    rows.insert(1, "|---" * (rows[0].count("|") - 1) + "|")
    return re.sub("</?code>", "`", "\n".join(rows))


class Stage:
    def __init__(self, folder):
        self.folder = folder
        self.problems = []
        files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"],
                               cwd=ROOT, stdout=subprocess.PIPE, check=True)
        self.pages = [p for p in files.stdout.decode().split()
                      if os.path.exists(os.path.join(ROOT, p))]

    def staged(self, path):
        return "index.md" if path == "README.md" else path

    def copy(self, path):
        to = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, path), to)

    def resolve(self, page, target):
        """Returns the new target of a link on a page, or None if the link becomes text."""
        if re.match(r"[a-z]+:|#", target):
            return target
        path, _, anchor = target.partition("#")
        base = os.path.dirname(page)
        path = os.path.normpath(os.path.join(base, path))
        if os.path.isdir(os.path.join(ROOT, path)):
            if path + "/README.md" not in self.pages:
                return None
            path += "/README.md"
        if not os.path.exists(os.path.join(ROOT, path)):
            self.problems.append("%s: missing link target '%s'" % (page, target))
            return None
        if path not in self.pages:
            if not path.startswith(DOWNLOADS):
                return None
            self.copy(path)
        path = os.path.relpath(self.staged(path), os.path.dirname(self.staged(page)) or ".")
        return path + ("#" + anchor if anchor else "")

    def rewrite(self, page, text):
        """Returns the text of a page with its links converted for the site."""
        pieces, opened, end = [], [], 0
        for token in TOKENS.finditer(text):
            pieces.append(text[end:token.start()])
            end = token.end()
            if token.group("open"):
                opened.append(len(pieces))  # index of this token in `pieces`
            elif token.group("link") and opened:
                start = opened.pop()
                target = self.resolve(page, token.group("target"))
                if target is None:
                    pieces[start] = ""
                else:
                    pieces.append("](%s)" % target)
                continue
            elif token.group("close") and opened:
                opened.pop()
            pieces.append(token.group())
        return "".join(pieces) + text[end:]

    def run(self):
        sections = navigation(self.pages)
        for page in sections["Project"]:
            if page.startswith("docs/") and page != "docs/README.md":
                self.problems.append("docs/README.md does not link %s; add it" % page)
        for page in self.pages:
            with open(os.path.join(ROOT, page)) as file:
                text = self.rewrite(page, file.read())
            text = re.sub(r"^<table>\n.*?^</table>$", markdown_table, text, flags=re.M | re.S)
            if page == "README.md":
                for caption, names in sections.items():
                    text += "\n```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (
                        caption, "\n".join(name.removesuffix(".md") for name in names))
            elif page == "docs/reference/python-api.md":
                text += "\n" + api.describe(os.path.join(ROOT, "python", "batch"))
            to = os.path.join(self.folder, self.staged(page))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            with open(to, "w") as file:
                file.write(text)


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    stage = Stage(folder)
    stage.run()
    for problem in stage.problems:
        print("error: " + problem, file=sys.stderr)
    sys.exit(1 if stage.problems else 0)


main(*sys.argv[1:])
