"""Installation folder of the package."""

import os

# Folder of the package `batch`.
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
