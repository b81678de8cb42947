"""Facts about Cursor. A session of it cannot be opened again by its name."""

from ramet.vendors.contract.vendor_facts import Facts

FACTS = Facts(title="Cursor", settings_folder=".cursor")
