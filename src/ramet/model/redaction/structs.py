"""Structs without secrets: every text in them, at any depth.

Most structs are small and have nothing to hide, and this runs for each request and each event. So all texts of one are
gathered and looked at together, and only if one of them may hold a secret each is redacted.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, TypeVar

from msgspec import Struct, UnsetType
from msgspec.structs import replace

from ramet.model.redaction.redactor import Redactor

AnyStruct = TypeVar("AnyStruct", bound=Struct)

Fields = Mapping[type[Struct], tuple[str, ...]]

_NUL = "\N{SYMBOL FOR NULL}"
"""What stands for a NUL, which not every database can keep in a text."""
_PLAIN = (int, float, bool, datetime, type(None), UnsetType)


class StructRedactor:
    """Redacts structs. `left` are fields to leave as they are, `free` those in which a NUL is replaced."""

    def __init__(self, left: Fields | None = None, free: Fields | None = None) -> None:
        self._left = left or {}
        self._free = free or {}
        self._fields: dict[type[Struct], tuple[str, ...]] = {}
        self._getters: dict[type[Struct], attrgetter[tuple[Any, ...]]] = {}

    def redact(self, part: AnyStruct, redactor: Redactor) -> AnyStruct:
        """The struct without secrets; itself if it has none."""
        texts: list[str] = []
        is_plain = self._gather(part, texts)
        whole = "\n".join(texts)
        if is_plain and "\0" not in whole and not redactor.may_hold_secrets(whole):
            return part
        return self._redact(part, redactor)

    def redact_all(self, parts: Sequence[AnyStruct], redactor: Redactor) -> list[AnyStruct]:
        """The structs without secrets, looked at together: of many small ones, hardly any holds a secret."""
        texts: list[str] = []
        is_plain = all(self._gather(part, texts) for part in parts)
        whole = "\n".join(texts)
        if is_plain and "\0" not in whole and not redactor.may_hold_secrets(whole):
            return list(parts)
        return [self.redact(part, redactor) for part in parts]

    def _gather(self, part: Struct, texts: list[str]) -> bool:
        """Collect the texts of a struct and of the structs in it; whether nothing else in it may hold any."""
        is_plain = True
        for value in self._values_of(part):
            if not value:
                continue
            if isinstance(value, str):
                texts.append(value)
            elif isinstance(value, Struct):
                is_plain = self._gather(value, texts) and is_plain
            elif isinstance(value, dict) and all(isinstance(each, int | float) for each in value.values()):
                texts.extend(map(str, value))
            elif not isinstance(value, _PLAIN):
                is_plain = False
        return is_plain

    def _values_of(self, part: Struct) -> tuple[Any, ...]:
        """The values of all fields, which is faster than one at a time."""
        kind = type(part)
        if kind not in self._getters:
            # Two names make it give a tuple, whatever else there is.
            self._getters[kind] = attrgetter(*self._fields_of(kind), "__class__", "__class__")
        values: tuple[Any, ...] = self._getters[kind](part)
        return values[:-2]

    def _fields_of(self, kind: type[Struct]) -> tuple[str, ...]:
        if kind not in self._fields:
            left = self._left.get(kind, ())
            self._fields[kind] = tuple(field for field in kind.__struct_fields__ if field not in left)
        return self._fields[kind]

    def _redact(self, part: AnyStruct, redactor: Redactor) -> AnyStruct:
        free = self._free.get(type(part), ())
        changed = {}
        for field in self._fields_of(type(part)):
            given = getattr(part, field)
            kept = self._clean(given, redactor, is_free=field in free)
            if kept is not given and kept != given:
                changed[field] = kept
        return replace(part, **changed) if changed else part

    def _clean(self, given: Any, redactor: Redactor, *, is_free: bool) -> Any:
        if isinstance(given, _PLAIN):
            return given
        if isinstance(given, str):
            text = redactor.redact(given).text
            return text.replace("\0", _NUL) if is_free else text
        if isinstance(given, Struct):
            return self._redact(given, redactor)
        if isinstance(given, list | tuple) and any(isinstance(each, Struct) for each in given):
            return type(given)(self._clean(each, redactor, is_free=is_free) for each in given)
        return redactor.redact_value(given)[0] if isinstance(given, list | dict) else given
