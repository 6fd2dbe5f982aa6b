"""Installation directory of the package."""

import os

# Directory of the package `batch`.
FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
