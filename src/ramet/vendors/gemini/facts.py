"""Facts about Gemini CLI."""

from ramet.vendors.contract.vendor_facts import Facts

FACTS = Facts(
    title="Gemini CLI",
    passed_variables=("GEMINI_*", "GOOGLE_*"),
    settings_folder=".gemini",
    resume_arguments=("--resume",),
)
