"""What the policy refuses to the agents of each installed program, for `ramet doctor`."""

from collections.abc import Iterator
from typing import NamedTuple

from ramet.cli.commands.queue.drivers import list_drivers
from ramet.cli.invocation import Invocation
from ramet.cli.repository import find_checkout
from ramet.config.files import user_file, user_home
from ramet.config.settings import ProfileSettings
from ramet.model.work.permission_rule import Policy
from ramet.vendors import policies, registry

_CONSEQUENCES = {
    "allow": "refuses {rule} although you allow it",
    "ask": "does not refuse {rule} although you want to be asked",
    "deny": "does not refuse {rule} although you deny it",
}


class PolicyFinding(NamedTuple):
    """What one program refuses, or which rule it cannot express."""

    text: str
    is_warning: bool = False
    fix: str | None = None


def find(invocation: Invocation) -> Iterator[PolicyFinding]:
    """For each installed program with permissions: what it refuses, and the rules that it cannot express."""
    settings = invocation.configuration.settings
    checkout = find_checkout(invocation.environ, invocation.cwd)
    project = str(checkout.project if checkout else invocation.cwd)
    policy = policies.find_policy(settings, project, str(user_home(invocation.environ)))
    rows = [row for row in list_drivers(invocation, versions=False).items if row.program is not None]
    for row in rows:
        if row.abilities.tools:
            profile = settings.drivers.profiles.get(row.name, ProfileSettings())
            yield from _of_program(row.name, row.driver, policy, profile)
    if not settings.checks.commands and any(row.abilities.tools for row in rows):
        file = user_file(invocation.environ)
        yield PolicyFinding(
            "no check is trusted, so agents may not be able to run the project's tests",
            fix=f"add `checks: {{test: make test}}`, with your own command, to {file}",
        )


def _of_program(name: str, driver_name: str, policy: Policy, profile: ProfileSettings) -> Iterator[PolicyFinding]:
    driver = registry.find_driver(driver_name)
    denied = [f"{rule} (denied)" for rule in policy.deny] + [f"{rule} (asks)" for rule in policy.ask]
    unexpressed = driver.find_unexpressed(policy, profile)
    lost = {each.rule for each in unexpressed}
    refused = [*driver.refuses(policy, profile), *(each for each in denied if each.rpartition(" ")[0] not in lost)]
    yield PolicyFinding(f"{name} refuses {'; '.join(refused)}" if refused else f"{name} refuses nothing")
    for each in unexpressed:
        text = f"{name} {_CONSEQUENCES[each.verdict].format(rule=each.rule)}: {each.reason}"
        yield PolicyFinding(text, is_warning=True)
