"""Facts about opencode."""

from ramet.vendors.contract.vendor_facts import Facts

FACTS = Facts(
    title="opencode",
    passed_variables=("OPENCODE_*", "OPENROUTER_*"),
    settings_folder=".opencode",
    resume_arguments=("--session",),
)
