"""Secrets: found in texts and values, and replaced by stable placeholders before anything is hashed or stored.

`redactor` puts the rules together. Each rule is a module of its own: what services issue (`vendor_shapes`), private
keys, passwords in URLs, and values that belong to a name (`assignments`, judged by `secret_values`). `canonical_view`
lets them see through escapes, colours and line numbers, and `known_values` knows the spellings of a value.
"""

from ramet.model.redaction.placeholders import placeholder
from ramet.model.redaction.redactor import Redacted, Redactor

__all__ = ["Redacted", "Redactor", "placeholder"]
