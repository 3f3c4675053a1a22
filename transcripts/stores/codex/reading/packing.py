"""Drafts put away as bytes, many together, and brought back one by one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import reduce
from operator import attrgetter, or_
from types import GenericAlias
from typing import Any, NamedTuple, get_type_hints

import msgspec

from transcripts.stores.codex.reading import drafts
from transcripts.stores.codex.reading.attic import Attic
from transcripts.stores.codex.reading.drafts import Draft


class _Form(NamedTuple):
    """How drafts of one class are put away: which fields, and as a struct of which class.

    ``values`` returns them behind the name of the class: an array as the struct is packed.
    """

    fields: tuple[str, ...]
    values: Callable[[Draft], tuple[Any, ...]]
    weight: type[msgspec.Struct]


def _form(kind: type[Draft]) -> _Form:
    types = get_type_hints(kind, dict(vars(drafts)))
    fields = tuple(name for name in kind.__struct_fields__ if name not in drafts.STAYS)
    weight = msgspec.defstruct(
        kind.__name__,
        [(name, types[name]) for name in fields],
        module=__name__,
        tag=True,
        array_like=True,
    )
    return _Form(fields, attrgetter("__class__.__name__", *fields), weight)


_FORMS: dict[type[Draft], _Form] = {kind: _form(kind) for kind in Draft.__subclasses__()}
_ANY_WEIGHT: Any = reduce(or_, [form.weight for form in _FORMS.values()])

_PACKED, _PICKLED = b"m", b"p"
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(GenericAlias(list, _ANY_WEIGHT)).decode


class Bundle:
    """Drafts that were put away together."""

    __slots__ = ("_attic", "_length", "_offset")

    def __init__(self, some: Sequence[Draft], attic: Attic) -> None:
        data = _packed(some)
        self._attic, self._length, self._offset = attic, len(data), attic.put(data)
        for place, draft in enumerate(some):
            draft.mark = hash(draft.key)
            for name in _FORMS[type(draft)].fields:
                delattr(draft, name)
            draft.bundle, draft.place = self, place

    def restore(self, draft: Draft) -> None:
        """Bring back a draft. Nothing of it that was put away was changed: it was not there."""
        values = self._attic.opened(self, self._values)[draft.place]
        draft.bundle = None
        for name, value in zip(_FORMS[type(draft)].fields, values, strict=True):
            setattr(draft, name, value)

    def _values(self) -> list[tuple[Any, ...]]:
        data = self._attic.get(self._offset, self._length)
        if data[:1] == _PICKLED:
            return [values[1:] for values in pickle.loads(data[1:])]
        return [msgspec.structs.astuple(weight) for weight in _unpack(memoryview(data)[1:])]


def _packed(some: Sequence[Draft]) -> bytes:
    """Return drafts as bytes: fast, or in the slow form that takes every letter and number."""
    values = [_FORMS[type(draft)].values(draft) for draft in some]
    try:
        return _PACKED + _pack(values)
    except (UnicodeEncodeError, OverflowError, RecursionError):
        return _PICKLED + pickle.dumps(values, pickle.HIGHEST_PROTOCOL)
