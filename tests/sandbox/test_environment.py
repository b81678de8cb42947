"""The environment of a sandboxed agent."""

from typing import Any

from ramet.sandbox.environment import adapt

COMMITTER = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org"}
OUTSIDE = {
    "PATH": "/usr/bin",
    "HOME": "/home/ann",
    "TMPDIR": "/home/ann/tmp",
    "AGENT_TMPDIR": "/home/ann/tmp",
    "SSH_AUTH_SOCK": "/run/agent",
    "XDG_RUNTIME_DIR": "/run/user/1000",
    "HTTPS_PROXY": "http://proxy.example",
    "NO_PROXY": "*",
}


def adapted(preset: Any = "workspace", hosts: tuple[str, ...] = (), **more: str) -> dict[str, str]:
    return adapt({**OUTSIDE, **more}, preset, COMMITTER, hosts)


def test_sockets_of_the_desktop_are_left_out_and_tmp_is_the_private_one() -> None:
    inside = adapted()
    assert not {"SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"} & inside.keys()
    assert (inside["TMPDIR"], inside["AGENT_TMPDIR"]) == ("/tmp", "/tmp")
    assert (inside["HOME"], inside["HTTPS_PROXY"]) == ("/home/ann", "http://proxy.example")


def test_git_knows_who_commits_and_packs_nothing() -> None:
    inside = adapted(GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="a.b", GIT_CONFIG_VALUE_0="c", GIT_AUTHOR_NAME="Bea")
    assert (inside["GIT_AUTHOR_NAME"], inside["GIT_AUTHOR_EMAIL"]) == ("Bea", "ann@example.org")
    count = int(inside["GIT_CONFIG_COUNT"])
    settings = {inside[f"GIT_CONFIG_KEY_{n}"]: inside[f"GIT_CONFIG_VALUE_{n}"] for n in range(count)}
    assert settings == {"a.b": "c", "gc.auto": "0", "maintenance.auto": "false", "commit.gpgSign": "false"}


def test_strict_reaches_only_its_own_proxy_and_its_own_servers_directly() -> None:
    inside = adapted("strict", hosts=("api.example.org",))
    assert "HTTPS_PROXY" not in inside  # the entry sets it, because it knows the port
    assert inside["NO_PROXY"] == inside["no_proxy"] == "localhost,127.0.0.1,::1"


def test_a_model_on_this_machine_is_reached_through_the_proxy() -> None:
    assert adapted("strict", hosts=("127.0.0.1:11434",))["NO_PROXY"] == "localhost,::1"
