"""Facts about Goose."""

from ramet.vendors.contract.vendor_facts import Facts

FACTS = Facts(
    title="Goose",
    resume_arguments=(
        "session",
        "--resume",
        "--session-id",
    ),
)
