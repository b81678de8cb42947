"""Facts about Copilot CLI."""

from ramet.vendors.contract.vendor_facts import Facts

FACTS = Facts(title="Copilot CLI", resume_arguments=("--resume",))
