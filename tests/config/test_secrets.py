"""A password in a database's url is never shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ramet.config.secrets import hide_password


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgres://me@db/ramet", "postgres://me@db/ramet"),
        ("postgres://me:pw@db:5432/ramet", "postgres://me:***@db:5432/ramet"),
        ("postgresql://me:p@w@db/ramet", "postgresql://me:***@db/ramet"),
        ("postgresql://:pw@db/ramet", "postgresql://:***@db/ramet"),
        ("postgres://me:pw@[::1]:5432/ramet", "postgres://me:***@[::1]:5432/ramet"),
        ("postgres://me:pw@a:1,b:2/ramet", "postgres://me:***@a:1,b:2/ramet"),
        ("postgres:///ramet?host=/run&password=pw", "postgres:///ramet?host=/run&password=***"),
        ("postgres://db/r?sslpassword=pw&user=me", "postgres://db/r?sslpassword=***&user=me"),
        ("postgres://db/r?p%61ssword=pw;w", "postgres://db/r?p%61ssword=***"),
    ],
)
@pytest.mark.requirement("R176", "R296")
def test_everything_but_the_password_is_shown(url: str, shown: str) -> None:
    assert hide_password(url) == shown


@pytest.mark.parametrize(
    "url", ["postgres://me:p/w@db/ramet", "postgres://me:p?w@db", "host=db password=pw", "postgres://[me]pw", "pw"]
)
@pytest.mark.requirement("R296")
def test_of_a_url_that_cannot_be_read_nothing_is_shown(url: str) -> None:
    assert hide_password(url) == "***"


@given(st.text(min_size=1, max_size=20))
def test_no_password_ever_shows(noise: str) -> None:
    secret = f"SECRET{noise}"
    assert "SECRET" not in hide_password(f"postgres://me:{secret}@db/ramet")
    assert "SECRET" not in hide_password(f"postgres://db/ramet?user=me&password=SECRET{noise.replace('&', '')}")
