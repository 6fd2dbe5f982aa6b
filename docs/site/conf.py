"""Sphinx configuration of the documentation pages, for scripts/site."""

import os
import re

from pygments.lexer import RegexLexer
from pygments.token import (Comment, Keyword, Name, Number, Operator, Punctuation,
                            String, Text)

ROOT = os.environ["BATCH_ROOT"]
with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
    release = re.search(r"project\(Batch VERSION ([0-9.]+)", file.read()).group(1)

project = "Batch"
html_title = "Batch " + release
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_static_path = [os.path.join(ROOT, "docs", "site", "static")]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Check links, including links to headings. With -W, a broken link is an error.
nitpicky = True
myst_heading_anchors = 5

highlight_language = "none"

# Convert quotes and dots, but not the "--" of options.
smartquotes_action = "qe"


class MlirLexer(RegexLexer):
    name = "MLIR"
    aliases = ["mlir"]
    tokens = {"root": [
        (r"\s+", Text),
        (r"//.*", Comment.Single),
        (r'"(\\.|[^"\\])*"', String),
        (r"%[\w.$-]+(:\d+)?(#\d+)?", Name.Variable),
        (r"@[\w.$-]+", Name.Function),
        (r"\^\w+", Name.Label),
        (r"![\w.]+", Keyword.Type),
        (r"#[\w.]+", Name.Decorator),
        (r"\b(tensor|memref|vector|tuple|complex)(?=<)", Keyword.Type),
        (r"\b(index|none|[su]?i\d+|b?f\d+\w*|tf32)\b", Keyword.Type),
        (r"(\d+|\?)x(?=[\dx?a-z!])", Number),
        (r"(?<=x)(index|[su]?i\d+|b?f\d+\w*)\b", Keyword.Type),
        (r"-?\b\d+(\.\d*)?([eE][-+]?\d+)?\b|\b0x[0-9a-fA-F]+\b", Number),
        (r"[a-z_]\w*(\.\w+)+", Keyword),
        (r"\b(call|return|module|func|case|do|else|step|to|ins|outs|init|in|attributes)\b",
         Keyword),
        (r"[a-zA-Z_]\w*", Name),
        (r"->|[=:+*/<>-]", Operator),
        (r".", Punctuation),
    ]}


def setup(app):
    app.add_lexer("mlir", MlirLexer)
