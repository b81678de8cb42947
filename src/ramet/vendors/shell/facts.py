"""Facts about the system's shell."""

from ramet.vendors.contract.vendor_facts import Facts

FACTS = Facts(title="the system's shell")
