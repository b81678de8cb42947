"""The keeper's entry point: `python -m ramet.keeper INSTANCE`, started by the daemon.

Its instructions come as one JSON line on standard input, so that neither prompts nor keys show in `ps`; the instance in
its arguments is for people. Errors go to standard error, which is a file in its folder.
"""

import sys

import msgspec

from ramet.keeper.keeper import Keeper
from ramet.protocol.work.keepers import KeeperSpec


def main() -> int:
    """Hold one agent to its end."""
    try:
        spec = msgspec.json.decode(sys.stdin.buffer.readline(), type=KeeperSpec)
    except msgspec.DecodeError as error:
        sys.stderr.write(f"the keeper's instructions are not valid: {error}\n")
        return 2
    return Keeper(spec).run()


if __name__ == "__main__":
    sys.exit(main())
