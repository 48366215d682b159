"""How the documentation site is built, ``make docs``: from the pages of this folder, and README.md."""

import os
import sys
import tomllib
from importlib.metadata import version as installed
from pathlib import Path

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS)]
os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])

project = "schedsweep"
author = "the authors of schedsweep"
project_copyright = author
version = release = installed("schedsweep")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "myst_nb",
    "sitetools",
]
exclude_patterns = ["_build", "sitetools"]
templates_path = ["sitetools/templates"]
nitpicky = False

# Reference: a name in single backticks is a Python object where there is one, and else just code.
default_role = "py:obj"
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings give the types, with shapes and units
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_preprocess_types = False

# Pages: those that GitHub shows as well, so nothing in them is Sphinx's own.
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Notebooks are stored without output and executed here, each in an empty folder; what is unchanged is cached.
nb_execution_mode = "cache"
nb_execution_cache_path = str(DOCS / "_build" / "notebooks")
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

html_theme = "pydata_sphinx_theme"
html_title = f"schedsweep {version}"
html_static_path = ["sitetools/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
SOURCE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
html_context = {
    "default_mode": "auto",
    "edit_page_url_template": f"{SOURCE}edit/main/docs/{{{{ file_name }}}}",
    "edit_page_provider_name": "the repository",
}
html_sidebars = {"**": ["parts.html"]}
html_theme_options = {
    "logo": {"text": f"schedsweep {version}"},
    "icon_links": [{"name": "Source", "url": SOURCE, "icon": "fa-solid fa-code-branch"}],
    "use_edit_page_button": True,
    "navbar_center": [],
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": {
        "*": ["page-toc", "edit-this-page"],
        "tutorials/*": ["page-toc", "edit-this-page"],
        "reference/**": ["page-toc"],  # generated, as the gallery is
        "gallery/**": ["page-toc"],
    },
    "show_toc_level": 2,
    "article_header_start": [],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
suppress_warnings = [
    # A type in a docstring (Jobs, Study) is looked for by its last part; of several the first one is taken.
    "ref.python",
]
