"""What may be shown of a database's url: everything but its password.

A url that cannot be read may hold a password anywhere, so of such a one nothing is shown. An "@" behind the hosts
makes a url unreadable: it is what an unescaped "/", "?" or "#" in a password leaves behind.
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
    """The url as people may see it."""
    parts = _URL.fullmatch(url)
    if parts is None:
        return HIDDEN
    password = f":{HIDDEN}" if parts["password"] else ""
    user = "" if parts["user"] is None else f"{parts['user']}{password}@"
    query = "" if parts["query"] is None else f"?{_PARAMETER.sub(_hide_parameter, parts['query'])}"
    return f"{parts['scheme']}{user}{parts['hosts']}{parts['path']}{query}"


def _hide_parameter(parameter: re.Match[str]) -> str:
    """Only a parameter with a plain name that speaks of no secret shows its value."""
    value = parameter["value"] if _PLAIN_NAME.fullmatch(parameter["name"]) else HIDDEN
    return f"{parameter['name']}={value}"
