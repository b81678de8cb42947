"""How long a hook waits: less than its program does, which ends it without a word."""

import msgspec
import pytest

from ramet.config.settings import HookSettings
from ramet.hooks import shim
from ramet.vendors import registry


@pytest.mark.parametrize("name", registry.settings())
def test_no_deadline_can_be_set_at_which_the_program_would_end_the_hook(name: str) -> None:
    for event, seconds in registry.settings()[name].timeouts_seconds.items():
        key = "start_deadline_ms" if event.encode() in shim._SLOW else "deadline_ms"
        with pytest.raises(msgspec.ValidationError, match=key):
            msgspec.convert({key: seconds * 1000 - 400}, HookSettings)
