"""The outcome of an attempt that ended well, once its skill is considered.

A driver says how its program ended. Whether that is a success depends on what the skill is for: a skill that changes
code and changed nothing has the outcome `no_change`. A review has a verdict, and a plan or a review that changed files
did what it should not.
"""

from msgspec.structs import replace

from ramet.engine.record import skills
from ramet.engine.system import notices
from ramet.engine.transaction import Transaction
from ramet.model.record.effort import Effort
from ramet.model.record.skill import BUILT_IN
from ramet.model.work.no_change import NO_FILES, say_no_change
from ramet.model.work.remark import Remark, describe_review, find_remarks
from ramet.protocol.work.leases import CompleteWork
from ramet.store.record import efforts, refused_calls
from ramet.store.work.leases import Held


def judge(tx: Transaction, effort: Held, report: CompleteWork) -> CompleteWork:
    """The report, with the outcome and the reason that its facts give."""
    if report.outcome != "success":
        return report
    if report.changes is not None and not report.changes.files and _changes_code(tx, effort):
        said = None if report.reason == NO_FILES else report.reason
        reason = say_no_change(refused_calls.count(tx.db, effort.id))
        return replace(report, outcome="no_change", reason=_join(said, reason))
    files = report.changes.files if report.changes else []
    remarks = find_remarks(effort.skill, files, report.output_content)
    verdict = describe_review(report.output_content) if effort.skill == "review" else None
    texts = [remark.text for remark in remarks if remark.kind != "unreadable_verdict"]  # the verdict has it
    return replace(report, reason=_join(verdict, report.reason, *texts))


def tell(tx: Transaction, effort: Effort) -> None:
    """Leave a notice for each remark about a finished effort."""
    if effort.outcome != "success":
        return
    files = effort.spent.changes.files if effort.spent.changes else []
    for remark in find_remarks(effort.skill, files, effort.output_content):
        notices.add(tx, remark.kind, effort, _notice(effort, remark))


def _notice(effort: Effort, remark: Remark) -> str:
    follows = {
        "changed_files": f"see `ramet show e{effort.id}`",
        "unreadable_verdict": f"it counts as a request for changes; read it: `ramet report show e{effort.id}`",
    }
    return f"effort {effort.id} ({effort.skill}): {remark.text}; {follows[remark.kind]}"


def _join(*parts: str | None) -> str | None:
    return "; ".join(filter(None, parts)) or None


def _changes_code(tx: Transaction, effort: Held) -> bool:
    """Whether the skill is there to change code: by its name, or because its file says so."""
    built_in = BUILT_IN.get(effort.skill)
    if built_in is not None and built_in.changes_code:
        return True
    skill = skills.find(tx, efforts.project_of(tx.db, effort.id), effort.skill)
    text = skills.find_text(tx, skill)
    return text is not None and text.changes == "code"
