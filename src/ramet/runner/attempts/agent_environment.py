"""The environment variables that an agent sees: the part of its caller's that `work.environment` allows.

By default that is a neutral list, and the variables that its own program's vendor names: an agent does not see the
other providers' keys. A program of the user's own may be a client of any provider, so it sees them all. If the owner
sets `work.environment`, only that list counts.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from ramet.config.keys import KEYS, find_defaults
from ramet.config.settings import ProfileSettings, WorkSettings
from ramet.vendors import registry

_KEY = "work.environment"


def find_visible(
    source: Mapping[str, str], settings: WorkSettings, driver: str, profile: ProfileSettings
) -> dict[str, str]:
    """The variables that a driver's agent sees, with those of its profile."""
    allowed = _list_allowed(source, settings.environment, driver)
    seen = {name: value for name, value in source.items() if any(fnmatchcase(name, pattern) for pattern in allowed)}
    return {**seen, **profile.environment}


def _list_allowed(source: Mapping[str, str], configured: list[str], driver: str) -> list[str]:
    own = registry.facts()[driver].passed_variables
    if configured != find_defaults(registry.passed_variables())[_KEY] or not own:
        return configured
    neutral = KEYS[_KEY].default
    assert isinstance(neutral, list)  # noqa: S101
    state = registry.find_state(driver)
    named = state.find_variables(state.place(source)) if state else []
    return [*neutral, *own, *named]
