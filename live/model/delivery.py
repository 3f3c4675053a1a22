"""How an answer goes over the connection: whole, cut in the middle, or never to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from live.model.play import PlayResponse

Ending = Literal["whole", "cut", "hanging"]


class Pieces(msgspec.Struct, frozen=True, kw_only=True):
    """An answer's bytes: what carries it, how much of that a cut lets through, and the end."""

    opening: Sequence[bytes]
    until_cut: int
    closing: Sequence[bytes]


class Delivery(Response):
    """Sends an answer as its script says, and tells ``told`` how it ends.

    It tells before the first byte, so that whoever saw the answer finds it in the log; a
    hang only when everything before it is sent, so that whoever sees it in the log may end
    the client.
    """

    def __init__(
        self,
        pieces: Pieces,
        scripted: PlayResponse,
        headers: dict[str, str],
        media_type: str,
        told: Callable[[Ending], None],
    ) -> None:
        super().__init__(headers=headers, media_type=media_type)
        del self.headers["content-length"]
        self._pieces = pieces
        self._scripted = scripted
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        if not self._scripted.hang:
            self._told("cut" if self._scripted.cut else "whole")
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if self._scripted.cut:
            # Leaving without the last chunk makes the server drop the connection.
            return await _send(send, self._pieces.opening[: self._pieces.until_cut])
        await _send(send, self._pieces.opening, self._scripted.pause)
        if self._scripted.hang:
            self._told("hanging")
            return await _gone(receive)
        await asyncio.sleep(self._scripted.linger)
        await _send(send, self._pieces.closing)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return None


async def _send(send: Send, pieces: Sequence[bytes], pause: float = 0.0) -> None:
    for piece in pieces:
        await asyncio.sleep(pause)
        await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
