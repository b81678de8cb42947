"""The name of this machine for other machines that share its database."""

import os
import re

from ramet.config.settings import Settings


def find_host(settings: Settings) -> str | None:
    """The name that identifies this machine's paths of projects; None if no other machine shares the database."""
    if settings.database.type == "sqlite":
        return None
    return settings.work.host or machine_name()


def machine_name() -> str:
    """The machine's own short name, of `a-z`, `0-9` and `-`."""
    return re.sub(r"[^a-z0-9-]+", "-", os.uname().nodename.partition(".")[0].lower()).strip("-") or "host"
