"""`python -m ramet.mcp`, as the drivers start it."""

import os

from ramet.mcp.server import run

if __name__ == "__main__":
    run(os.environ)
