"""The table of keys is what the settings are."""

import pytest

from ramet.config.keys import KEYS, close_names
from ramet.config.settings import Settings


@pytest.mark.requirement("R298")
def test_every_setting_is_a_key_with_its_default_purpose_and_variable() -> None:
    settings = Settings()
    names = {f"{s}.{f}" for s in settings.__struct_fields__ for f in getattr(settings, s).__struct_fields__}
    assert set(KEYS) == names
    for key in KEYS.values():
        assert key.default == getattr(getattr(settings, key.section), key.field)
        assert key.purpose.endswith(".")
        assert key.variable == f"RAMET_{key.name.replace('.', '_').upper()}"


@pytest.mark.requirement("R298")
def test_every_number_has_its_bounds() -> None:
    numbers = [key for key in KEYS.values() if isinstance(key.default, int) and not isinstance(key.default, bool)]
    assert numbers
    assert all(" from " in key.allowed for key in numbers)


@pytest.mark.parametrize("written", ["max_rows", "query.maxrows", "daemon.max_rows"])
def test_what_somebody_meant_is_found(written: str) -> None:
    assert "query.max_rows" in close_names(written)
