"""What a review says, as data; and that a review that cannot be read approves nothing."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.properties.hypothesis_settings import bounded

from ramet.model.runs.review import (
    Finding,
    Review,
    open_after,
    parse_review,
)

LISTED = """\
Verdict: changes requested

1. **BLOCKER** `src/cart.py:12` The cart loses its items.
   Evidence: test_cart fails.
2. NIT: rename `foo` (src/shop/names.py#L3)
- [FOLLOWUP] docs/cart.md: say what is kept
- Blocker - ./src/pay.py:7-9 money is rounded twice
"""

SECTIONS = """\
# Review

## Blockers (2)
### B1 The cart loses its items in src/cart.py:40
Evidence: test_cart fails.

Impact: people go elsewhere.
### B2 Nothing is tested

## Follow-ups
None.

## Nits
- one name
  is too long
- another at `src/shop.py:3`

| where | what |
| --- | --- |
| src/a.py:1 | a space |

## Verdict

**CHANGES_REQUESTED**
"""


def found(review: Review) -> list[tuple[str, str | None, int | None]]:
    return [(finding.severity, finding.file, finding.line) for finding in review.findings]


def test_findings_of_a_list_have_severity_place_and_text() -> None:
    review = parse_review(LISTED)
    assert (review.verdict, review.reason) == ("CHANGES_REQUESTED", None)
    assert found(review) == [
        *(("BLOCKER", "src/cart.py", 12), ("NIT", "src/shop/names.py", 3)),
        *(("FOLLOWUP", "docs/cart.md", None), ("BLOCKER", "src/pay.py", 7)),
    ]
    assert review.findings[0].text == "`src/cart.py:12` The cart loses its items.\nEvidence: test_cart fails."


def test_findings_of_sections_have_their_sections_severity() -> None:
    review = parse_review(SECTIONS)
    assert review.verdict == "CHANGES_REQUESTED"
    assert found(review) == [
        *(("BLOCKER", "src/cart.py", 40), ("BLOCKER", None, None)),
        *(("NIT", None, None), ("NIT", "src/shop.py", 3), ("NIT", "src/a.py", 1)),
    ]
    assert review.findings[0].text.endswith("Impact: people go elsewhere.")
    assert review.findings[2].text == "one name\nis too long"


@pytest.mark.parametrize(
    "text",
    [
        "Verdict: APPROVED",
        "**Verdict: APPROVED**",
        "**Verdict**: `APPROVED`",
        "- Verdict: ✅ Approved.",
        "## Verdict\n\nAPPROVED\n\nGood work.",
        "## Final verdict: approved",
        "Verdict:\nAPPROVED",
        "```markdown\nVerdict: APPROVED\n```",
        'Fine.\n\n```json\n{"verdict": "APPROVED", "findings": []}\n```\n',
        '{"verdict": "approved"}',
        "> Verdict: CHANGES_REQUESTED\n\nThat was settled.\n\nVerdict: APPROVED",
        "## Blockers\nNo blocking issues found.\n\n## Nits\n- none\n\nVerdict: APPROVED",
        'Verdict: APPROVED\n\n```json\n{"name": "an example"}\n```',
        "Blockers: none\n\nVerdict: APPROVED\n\n```sh\necho 'BLOCKER: this is code'\n```",
    ],
)
def test_an_approval_is_known_in_the_ways_that_people_write_it(text: str) -> None:
    review = parse_review(text)
    assert (review.verdict, review.findings, review.reason) == ("APPROVED", (), None)
    assert review.is_approval


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("approved with follow-ups", "APPROVED_WITH_FOLLOWUPS"),
        ("APPROVED_WITH_FOLLOWUPS", "APPROVED_WITH_FOLLOWUPS"),
        ("Changes-Requested", "CHANGES_REQUESTED"),
        ("needs discussion", "NEEDS_DISCUSSION"),
    ],
)
def test_the_four_verdicts_are_known_however_they_are_spelled(said: str, verdict: str) -> None:
    assert parse_review(f"Verdict: {said}").verdict == verdict


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no verdict"),
        ("Everything is approved, I think.", "no verdict"),
        ("Verdict: APPROVED once the tests pass", "cannot be read"),
        ("Verdict: APPROVED | CHANGES_REQUESTED", "cannot be read"),
        ("Verdict: LGTM", "cannot be read"),
        ("Verdict: APPROVED\n\nVerdict: CHANGES_REQUESTED", "several verdicts"),
        ('Verdict: APPROVED\n```json\n{"verdict": "CHANGES_REQUESTED"}\n```', "several verdicts"),
        ("Verdict: APPROVED\n\n- BLOCKER: it loses data", "lists blockers"),
        ("Verdict: APPROVED\n\n## Blockers\n\nIt loses data.", "lists blockers"),
        ('Verdict: APPROVED\n\n```json\n{"findings": [{"severity": "BLOCKER", "text": "x"}]}\n```', "lists blockers"),
        (
            'Verdict: APPROVED\n\n```json\n{"findings": [{"severity": "high", "text": "x"}]}\n```',
            "finding in its JSON block",
        ),
        ('Verdict: APPROVED\n\n```json\n{"findings": [\n```', "cannot be read"),
        ("Verdict: APPROVED\n\n```\n- BLOCKER: hidden", "never ends"),
        ("```\nVerdict: APPROVED\n```", "no verdict"),
    ],
)
def test_what_cannot_be_read_for_certain_approves_nothing_and_says_why(text: str, reason: str) -> None:
    review = parse_review(text)
    assert review.verdict is None
    assert reason in (review.reason or "")
    assert not review.is_approval


def test_json_goes_before_what_is_read_from_the_prose() -> None:
    finding = '{"severity": "nit", "path": "./a.py", "line": 3, "title": "a name"}'
    block = f'{{"verdict": "NEEDS_DISCUSSION", "findings": [{finding}]}}'
    review = parse_review(f"NIT: a.py:3 a name\n\n```json\n{block}\n```")
    assert review.verdict == "NEEDS_DISCUSSION"
    assert [(finding.text, finding.file, finding.line) for finding in review.findings] == [("a name", "a.py", 3)]


def test_a_blocker_that_only_the_prose_names_is_kept() -> None:
    block = '{"findings": [{"severity": "NIT", "text": "a name"}]}'
    review = parse_review(
        f"Verdict: CHANGES_REQUESTED\n\n- BLOCKER: it loses data\n- NIT: names\n\n```json\n{block}\n```"
    )
    assert [finding.text for finding in review.findings] == ["a name", "it loses data"]


def test_words_that_lead_to_a_list_are_no_finding() -> None:
    review = parse_review("## Blockers\n\nThese have to go:\n\n- one\n- two\n")
    assert [finding.text for finding in review.findings] == ["one", "two"]


def one(text: str) -> Finding:
    (finding,) = parse_review(text).findings
    return finding


@pytest.mark.parametrize(
    "later",
    [
        "- BLOCKER: src/cart.py:99 the cart **loses** its items",
        "## Blockers\n### B7 `src/cart.py:4` The cart loses its items\n\nEvidence: another.",
        "### [BLOCKER] src/cart.py:8 The cart loses its items\nBecause of this.",
        "NIT: The cart loses its items. (./src/cart.py:1)\nFix: keep them.",
        "- BLOCKER: src/cart.py, line 30: the cart loses its items",
        '{"findings": [{"severity": "BLOCKER", "text": "The cart loses its items", "file": "src/cart.py"}]}',
    ],
)
def test_a_finding_is_known_again_in_another_line_and_another_form(later: str) -> None:
    assert one(later).fingerprint == one("- BLOCKER src/cart.py:12 The cart loses its items.").fingerprint


@pytest.mark.parametrize(
    "other", ["- BLOCKER src/pay.py:12 The cart loses its items.", "- BLOCKER src/cart.py:12 It is slow."]
)
def test_another_file_or_another_text_is_another_finding(other: str) -> None:
    assert one(other).fingerprint != one("- BLOCKER src/cart.py:12 The cart loses its items.").fingerprint


def test_the_same_twice_in_one_file_is_two_findings() -> None:
    review = parse_review("- BLOCKER a/x.py:3 no test\n- BLOCKER a/x.py:90 no test\n")
    assert len({finding.fingerprint for finding in review.findings}) == 2
    again = parse_review("- BLOCKER a/x.py:5 no test\n- BLOCKER a/x.py:99 no test\n")
    assert not open_after(review.findings, again.findings).new


def test_a_review_may_name_a_finding_that_it_repeats() -> None:
    first = one("- BLOCKER src/cart.py:12 The cart loses its items.")
    assert one(f"- BLOCKER [f:{first.fingerprint}] still there, worded anew").fingerprint == first.fingerprint


def test_what_is_new_what_is_open_and_what_is_gone() -> None:
    before = parse_review("- BLOCKER a/x.py:1 one\n- BLOCKER a/x.py:2 two\n").findings
    after = parse_review("- NIT a/x.py:8 two\n- NIT a/x.py:9 three\n").findings
    progress = open_after(before, after)
    assert [finding.text for finding in progress.new] == ["a/x.py:9 three"]
    assert [(finding.text, finding.severity) for finding in progress.still_open] == [("a/x.py:8 two", "NIT")]
    assert [finding.text for finding in progress.gone] == ["a/x.py:1 one"]


pieces = st.sampled_from(
    [
        *(
            "Verdict: APPROVED",
            "Verdict:",
            "## Verdict",
            "APPROVED",
            "- BLOCKER: a/b.py:1 x",
            "## Blockers",
            "### B1 x",
            "- x",
        ),
        *(
            "```json",
            "```",
            "~~~",
            '{"verdict": 1, "findings": 2}',
            '{"findings": [[]]}',
            '{"verdict"',
            "| a | b |",
            "|---|",
        ),
        *(
            "NIT",
            "**Nit**",
            "[FOLLOWUP]",
            "  more",
            "",
            "#",
            "a.py:99999999999999",
            "(f:000000000000)",
            "None",
            "{",
            "}",
        ),
    ]
)


@bounded(400)
@given(st.lists(pieces | st.text(max_size=20), max_size=20).map("\n".join) | st.text())
@example("\ud800 - BLOCKER: \ud800.py:1")
@example("{" * 5000)
@example('{"verdict":' + "[" * 5000)
def test_reading_never_raises_and_never_approves_blockers(text: str) -> None:
    review = parse_review(text)
    assert (review.verdict is None) == (review.reason is not None)
    assert not (review.is_approval and any(finding.severity == "BLOCKER" for finding in review.findings))
    assert len({finding.fingerprint for finding in review.findings}) == len(review.findings)
    assert not open_after(review.findings, parse_review(text).findings).new
