"""What has been told and may be told again, found by what tells it apart.

A turn can go on for days and hold thousands of messages; each new record asks which of them it
tells again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import merge
from typing import Generic, TypeVar

from transcripts.stores.codex.reading.drafts import VOCABULARIES, Draft, Vocabulary

T = TypeVar("T", bound=Draft)


class _Drawer:
    """The places of the items that share a key, and how many of the first are spent for whom."""

    __slots__ = ("places", "spent")

    def __init__(self) -> None:
        self.places: list[int] = []
        self.spent: dict[str, int] = {}


class Open(Generic[T]):
    """Drafts in the order in which they were opened, each under several keys.

    What is spent for someone who asks stays so: each question goes on where the last one
    stopped, so that all of them together look at an item only a few times. ``looks`` counts.
    ``look_into`` returns the keys that take a look into the item; they are worked out when they
    are asked for, which mostly they are not.
    """

    def __init__(self, look_into: Callable[[T], Iterable[Hashable]] | None = None) -> None:
        self.looks = 0
        self._look_into = look_into
        self._unopened: dict[int, T] = {}
        self._items: dict[int, T] = {}
        self._places: dict[int, int] = {}
        self._drawers: dict[Hashable, _Drawer] = {}
        self._told: dict[Vocabulary, int] = dict.fromkeys(VOCABULARIES, 0)
        self._next = 0

    def clear(self) -> None:
        """Close all items."""
        if self._items:
            self._items.clear()
            self._places.clear()
            self._drawers.clear()
            self._unopened.clear()
            self._told = dict.fromkeys(VOCABULARIES, 0)

    def add(self, item: T, keys: Iterable[Hashable]) -> None:
        """Open an item."""
        place = self._next
        self._next = place + 1
        self._items[place] = item
        self._places[id(item)] = place
        for vocabulary in item.told:
            self._told[vocabulary] += 1
        self._index(place, keys)
        self.look_again(item)

    def index(self, item: T, keys: Iterable[Hashable]) -> None:
        """Let an item, if it is open, be found under more keys; what was spent is asked again."""
        place = self._places.get(id(item))
        if place is not None:
            self._index(place, keys)

    def look_again(self, item: T) -> None:
        """Let an item, if it is open, be found under what is in it by now."""
        if self._look_into is not None:
            self._unopened[id(item)] = item

    def tell(self, item: T, vocabulary: Vocabulary) -> None:
        """Note that a vocabulary has told an open item."""
        item.told += (vocabulary,)
        self._told[vocabulary] += 1

    def awaits(self, vocabulary: Vocabulary) -> bool:
        """Whether there is an open item that a vocabulary has not told."""
        return self._told[vocabulary] < len(self._items)

    def only(self, key: Hashable) -> T | None:
        """Return the open item under a key, if no other was ever under it."""
        drawer = self._drawers.get(key)
        if drawer is None or len(drawer.places) != 1:
            return None
        return self._items.get(drawer.places[0])

    def close(self, item: T) -> None:
        """Close one item."""
        place = self._places.pop(id(item), None)
        if place is not None:
            del self._items[place]
            for vocabulary in item.told:
                self._told[vocabulary] -= 1

    def closely(self) -> Open[T]:
        """Let the items be found under what is in them too."""
        if self._look_into is not None:
            for item in self._unopened.values():
                self.index(item, self._look_into(item))
            self._unopened.clear()
        return self

    def candidates(
        self, keys: Iterable[Hashable], asking: str, spent: Callable[[T], bool]
    ) -> Iterator[T]:
        """Yield, in order, the open items under any of the keys that are not spent for who asks."""
        drawers = [drawer for key in keys if (drawer := self._drawers.get(key)) is not None]
        if not drawers:
            return
        if len(drawers) == 1 or (len(drawers) == 2 and drawers[0].places == drawers[1].places):
            for place in self._unspent(drawers[0], asking, spent):
                yield self._items[place]
            return
        last = -1
        for place in merge(*(self._unspent(drawer, asking, spent) for drawer in drawers)):
            if place != last:
                yield self._items[place]
            last = place

    def _index(self, place: int, keys: Iterable[Hashable]) -> None:
        for key in keys:
            drawer = self._drawers.get(key)
            if drawer is None:
                drawer = self._drawers[key] = _Drawer()
            places = drawer.places
            if not places or places[-1] < place:
                places.append(place)
                continue
            at = bisect_left(places, place)
            if places[at] != place:
                places.insert(at, place)
            for asking, spent in drawer.spent.items():
                drawer.spent[asking] = min(spent, at)

    def _unspent(self, drawer: _Drawer, asking: str, spent: Callable[[T], bool]) -> Iterator[int]:
        at = drawer.spent.get(asking, 0)
        all_spent = True
        while at < len(drawer.places):
            self.looks += 1
            place = drawer.places[at]
            at += 1
            item = self._items.get(place)
            if item is not None and not spent(item):
                all_spent = False
                yield place
            elif all_spent:
                drawer.spent[asking] = at
