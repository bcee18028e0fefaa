"""How Sphinx makes the site: ``sphinx-build -W docs FOLDER``."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib

import autodiff_hook

project = "autodiff_hook"
author = "the authors of autodiff_hook"
version = release = autodiff_hook.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["sg_execution_times.rst", "generated/gallery/sg_execution_times.rst"]
nitpicky = True
default_role = "code"
highlight_language = "text"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_default_options = {"members": True}

matplotlib.use("agg")
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
}
warnings.filterwarnings("error", module=r"autodiff_hook|__main__")

html_theme = "furo"
html_title = "autodiff_hook"
html_show_sphinx = html_show_copyright = False
html_copy_source = False
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
pygments_style = "friendly"
pygments_dark_style = "monokai"
