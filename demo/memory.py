"""The part of the demo that remembers: sessions from before Ramet are imported and searched, and a line of code says
why it is there.
"""

import json
import os
import sys
from pathlib import Path

from demo import stored_sessions
from demo.stage import capture, make_project, run, say, wait_until


def show(project: Path) -> None:
    """From an empty database to answers."""
    make_project(project, {"tester": "cover"})
    os.chdir(project)
    stored_sessions.write_all(project.parent, project)

    say("Claude Code, Codex and Gemini CLI have worked here before. Import what they left.")
    run("ramet import --yes")
    run("ramet import --yes")

    wait_until(lambda: "capped" in capture("ramet search --json 'voucher capped'"), "the search index")
    say("Where was that decided? Search every agent's words, without a model.")
    run("ramet search 'voucher worth more than the basket'")

    say("What fixed this error the last time?")
    run("ramet fix 'sqlite3.OperationalError: database is locked'")

    say("What did it all cost?")
    run("ramet usage --since 2026-01-01 --by agent,model")

    say("An agent writes a test. Its branch is squashed into main, and one of its lines is asked why it is there.")
    run("ramet add 'Cover `is_free` with a test' --driver tester")
    run("ramet work --once")
    run("git merge --squash ramet/e4")
    run("git -c user.name=Demo -c user.email=demo@localhost commit -q -m 'Test what is free'")
    run("ramet why test_is_free.py:9")
    found = json.loads(capture("ramet why --json test_is_free.py:9"))
    if '"effort_id": 4' not in json.dumps(found):
        sys.exit("`ramet why` did not name the effort that wrote the line")
