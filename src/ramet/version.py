"""The version, alone in a file so that `import ramet` and `ramet --version` import nothing else.

Whoever builds a package writes both values (`hatch_build.py`), so each package has its own; `git archive` writes the
second. In a checkout neither is written, and `ramet.build` asks git.
"""

__version__ = "0.1.0"

BUILT_FROM = "$Format:%ct %H$"
"""When the code was committed, as a Unix time, and the commit."""
