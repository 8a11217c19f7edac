"""How the documents are built: `sphinx-build -W --keep-going -b html docs build/docs`.

Nothing is fetched, neither when they are built nor when they are read: formulas become MathML, which browsers draw
themselves, and names of other projects are not looked up.
"""

import sys
from pathlib import Path

import lipverify

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "lipverify"
author = "The lipverify authors"
copyright = author  # no year: the same sources give the same pages
version = release = lipverify.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "plain_docstrings",
    "mathml",
    "findings",
    "commands",
    "theorems",
    "web_page",
]
exclude_patterns = ["_ext"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "lipverify"
html_show_sourcelink = False
html_last_updated_fmt = None
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["lipverify.css"]

autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_use_rtype = False
napoleon_use_ivar = False
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries = False

suppress_warnings = ["ref.python"]  # a short name such as Proof with several targets: the public one is the first
nitpicky = True
nitpick_ignore_regex = [
    # other projects: their documents are not looked up
    ("py:.*", r"(numpy|np|sympy|concurrent|collections|pathlib|contextlib|os|typing|fractions)\..*"),
    ("py:.*", r"(hypothesis|strategies|st)\..*"),
    # type variables
    ("py:class", r"(lipverify\.(claims\.plan\.profile\.T|foundation\.noted\.Result)|~Arguments)"),
    # records that functions return, whose fields the text of the function says
    ("py:class", r"lipverify\.(loss\.(block\.BlockTerms|linear\.LinearAttention)|foundation\.harmonics\.Spectrum)"),
    ("py:class", r"lipverify\.(loss\.montecarlo\.contexts\.Contexts|proofs\.words\.Words)"),
    ("py:class", r"lipverify\.(optimum\.block\.SampledBlock|optimum\.matrix\.sampled\.SampledLoss)"),
    ("py:class", r"lipverify\.linear_transformer\.regression\.thinned\.Thinned"),
    ("py:class", r"(Fraction|ProvedNumber|Path|SphereNoise|Progress)"),
    # names of types whose values the text beside them lists
    ("py:class", r"(Matrix|Measured|Reals|AttentionName|BackendName|IntervalName|Route|Sampling)"),
    ("py:class", r"(ByReading|ClaimKind|Expected|Over)"),
]
