"""Codex's files. Sessions are in `sessions/`, by date and for all projects together.

So each directory gets a folder of its own below `sessions/`, which the program inside sees as the whole of it. Outside,
the program finds these sessions too: it searches the folder for their ids.
"""

import hashlib
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from ramet.config.settings import ProfileSettings
from ramet.vendors.codex.driver import UNCONFINED
from ramet.vendors.contract.vendor_state import Sessions, State, StateFile

_SESSIONS = "sessions"
_LONGEST_CONFIG = 1024 * 1024
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A name, never a pattern that would let others through."""


def _find_sessions(folder: Path, directory: str, native_id: str | None) -> Sessions:
    own = f"{_SESSIONS}/ramet/{hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]}"
    started_outside: tuple[str, ...] = ()
    if native_id is not None and native_id.replace("-", "").isalnum() and not _has(folder / own, native_id):
        sessions = folder / _SESSIONS
        found = sessions.glob(f"[0-9]*/*/*/rollout-*-{native_id}.jsonl")
        started_outside = tuple(str(path.relative_to(sessions)) for path in found)
    return Sessions(_SESSIONS, own, started_outside)


def _has(folder: Path, native_id: str) -> bool:
    return any(folder.glob(f"[0-9]*/*/*/rollout-*-{native_id}.jsonl"))


def _read_config(folder: Path) -> dict[str, Any]:
    """The user's own configuration, as far as it can be read."""
    try:
        with (folder / "config.toml").open("rb") as file:
            return tomllib.loads(file.read(_LONGEST_CONFIG).decode())
    except (OSError, ValueError):
        return {}


def _list_providers(config: dict[str, Any]) -> list[dict[str, Any]]:
    providers = config.get("model_providers")
    return [entry for entry in providers.values() if isinstance(entry, dict)] if isinstance(providers, dict) else []


def _find_variables(folder: Path) -> list[str]:
    """The variables that hold the providers' keys and headers."""
    providers = _list_providers(_read_config(folder))
    headers = [entry.get("env_http_headers") for entry in providers]
    named = [entry.get("env_key") for entry in providers]
    named += [name for each in headers if isinstance(each, dict) for name in each.values()]
    return [name for name in named if isinstance(name, str) and _VARIABLE.fullmatch(name)]


def _find_addresses(folder: Path) -> list[str]:
    """The addresses of the model providers in the user's own configuration."""
    config = _read_config(folder)
    named = [entry.get("base_url") for entry in _list_providers(config)]
    return [address for address in [*named, config.get("openai_base_url")] if isinstance(address, str)]


def _find_conflict(profile: ProfileSettings) -> str | None:
    """Its own sandbox needs user namespaces, which a sandbox of ours does not give to anybody."""
    if profile.permission_mode in (None, UNCONFINED):
        return None
    return f"Codex cannot make its own sandbox inside another; set permission_mode to {UNCONFINED}, or leave it out"


STATE = State(
    name="codex",
    folder=".codex",
    folder_variable="CODEX_HOME",
    files=(
        StateFile("auth.json", is_writable=True, holds_credentials=True),
        StateFile("config.toml"),
        StateFile("AGENTS.md"),
        StateFile("rules"),
    ),
    find_sessions=_find_sessions,
    hosts=("api.openai.com", "chatgpt.com", "auth.openai.com"),
    address_variables=("OPENAI_BASE_URL",),
    find_addresses=_find_addresses,
    find_variables=_find_variables,
    find_conflict=_find_conflict,
)
