"""Report known vulnerabilities in the locked dependencies: `python tools/audit.py PROGRAM LOCK...`.

PROGRAM is pip-audit. It asks a database on the network. If none answers, nothing is known, which is neither good nor
bad: a line says so loudly, and the exit status is 0. It is 1 if there is a vulnerability.
"""

import json
import subprocess
import sys
from typing import Any, NamedTuple

_SERVICES = ("pypi", "osv")
_SECONDS = 600
_COMPLAINT_CHARACTERS = 120


class Report(NamedTuple):
    """What a database says of the dependencies in one lock file."""

    dependencies: list[dict[str, Any]]
    complaint: str
    """Why there is no answer."""

    @property
    def audited(self) -> list[dict[str, Any]]:
        return [each for each in self.dependencies if "skip_reason" not in each]

    @property
    def vulnerabilities(self) -> list[str]:
        return [
            f"{each['name']} {each['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or 'none'}"
            for each in self.audited
            for found in each["vulns"]
        ]


def ask(program: str, lock: str) -> Report:
    """The answer of the first database that knows something."""
    report = Report([], "")
    for service in _SERVICES:
        report = _ask(program, lock, service)
        if report.audited:
            break
    return report


def _ask(program: str, lock: str, service: str) -> Report:
    options = ["--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json", "--timeout", "15"]
    done = subprocess.run(
        [program, *options, "--vulnerability-service", service, "--requirement", lock],
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    try:
        return Report(json.loads(done.stdout)["dependencies"], "the database knows none of them")
    except (ValueError, KeyError):
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return Report([], said[-1][:_COMPLAINT_CHARACTERS])


def main(program: str, locks: list[str]) -> int:
    found = 0
    for lock in locks:
        report = ask(program, lock)
        if not report.audited:
            print(f"{lock}: NOT AUDITED, because no database of vulnerabilities answered: {report.complaint}")
            continue
        unknown = len(report.dependencies) - len(report.audited)
        left_out = f", NOT AUDITED: {unknown} that the database does not know" if unknown else ""
        print(f"{lock}: {len(report.audited)} audited, {len(report.vulnerabilities)} vulnerabilities{left_out}")
        for vulnerability in report.vulnerabilities:
            print(f"  {vulnerability}")
        found += len(report.vulnerabilities)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
