"""Which hosts a strict sandbox may reach."""

import pytest

from ramet.sandbox.host_rules import admits, find_rule, parse

RULES = tuple(map(parse, ("api.example.org", "*.npm.example", "build.example:8080", "127.0.0.1:3000", "[::1]:3000")))


@pytest.mark.parametrize(
    ("host", "port", "is_allowed"),
    [
        ("api.example.org", 443, True),
        ("API.Example.ORG.", 443, True),
        ("api.example.org", 80, True),
        ("api.example.org", 22, False),
        ("evil-api.example.org", 443, False),
        ("api.example.org.evil.net", 443, False),
        ("example.org", 443, False),
        ("registry.npm.example", 443, True),
        ("a.b.npm.example", 443, True),
        ("npm.example", 443, False),
        ("evilnpm.example", 443, False),
        ("build.example", 8080, True),
        ("build.example", 443, False),
        ("127.0.0.1", 3000, True),
        ("127.1", 3000, False),
        ("2130706433", 3000, False),
        ("::1", 3000, True),
        ("", 443, False),
    ],
)
def test_a_host_is_reached_only_if_a_rule_names_it(host: str, port: int, is_allowed: bool) -> None:
    assert (find_rule(RULES, host, port) is not None) == is_allowed


@pytest.mark.parametrize(
    ("rule", "address", "is_admitted"),
    [
        ("api.example.org", "93.184.215.14", True),
        ("api.example.org", "10.0.0.7", True),  # a host in the company's network
        ("api.example.org", "127.0.0.1", False),
        ("api.example.org", "169.254.169.254", False),  # where clouds serve credentials
        ("api.example.org", "::1", False),
        ("api.example.org", "::ffff:127.0.0.1", False),
        ("api.example.org", "fe80::1%eth0", False),
        ("api.example.org", "0.0.0.0", False),
        ("*.npm.example", "93.184.215.14", True),
        ("*.npm.example", "10.0.0.7", False),
        ("*.npm.example", "192.168.1.1", False),
        ("127.0.0.1:3000", "127.0.0.1", True),
        ("localhost:3000", "127.0.0.1", True),
        ("api.example.org", "not an address", False),
    ],
)
def test_a_name_does_not_lead_back_to_this_machine(rule: str, address: str, is_admitted: bool) -> None:
    assert admits(parse(rule), address) == is_admitted


@pytest.mark.parametrize(
    "text",
    ["", "*", "*.", "https://example.org", "example.org/path", "a b", "example.org:0", "example.org:99999", "a..b"],
)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse(text)
