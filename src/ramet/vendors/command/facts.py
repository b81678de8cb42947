"""Facts about programs of the user's own: there are none that hold for all of them."""

from ramet.vendors.contract.vendor_facts import Facts

FACTS = Facts(title="a program of your own")
