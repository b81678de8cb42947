"""Hide the password in a database's URL.

A URL that cannot be parsed may contain a password anywhere, so nothing of it is shown. An "@" after the hosts makes a
URL unparsable: it is left behind by an unescaped "/", "?" or "#" in a password.
"""

import re

HIDDEN = "***"

_HOST = r"(?:[\w.%-]*|\[[0-9A-Fa-f:.]+\])(?::\d*)?"
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)"
    r"(?:(?P<user>[^:/?#]*)(?P<password>:[^/?#]*)?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?P<path>(?:/[^?#@]*)?)(?:\?(?P<query>[^#@]*))?"
)
_PARAMETER = re.compile(r"(?P<name>[^&=]*)=(?P<value>[^&]*)")
_PLAIN_NAME = re.compile(r"(?!.*(?:pass|pwd|secret|token))[a-z_]+")


def hide_password(url: str) -> str:
    """The URL without its password."""
    parts = _URL.fullmatch(url)
    if parts is None:
        return HIDDEN
    password = f":{HIDDEN}" if parts["password"] else ""
    user = "" if parts["user"] is None else f"{parts['user']}{password}@"
    query = "" if parts["query"] is None else f"?{_PARAMETER.sub(_hide_parameter, parts['query'])}"
    return f"{parts['scheme']}{user}{parts['hosts']}{parts['path']}{query}"


def _hide_parameter(parameter: re.Match[str]) -> str:
    """Show a parameter's value only if its name is plain and does not suggest a secret."""
    value = parameter["value"] if _PLAIN_NAME.fullmatch(parameter["name"]) else HIDDEN
    return f"{parameter['name']}={value}"
