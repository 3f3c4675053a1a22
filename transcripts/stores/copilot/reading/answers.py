"""One prompt or one answer of the model: the messages that a single event holds."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET
from msgspec.structs import replace

from transcripts.model import (
    AgentMessage,
    Author,
    Content,
    Delivery,
    Location,
    Part,
    Reasoning,
    Structured,
    Text,
    Usage,
    UserMessage,
)
from transcripts.stores.copilot.assets import Assets
from transcripts.stores.copilot.foreign import integer, mappings, string
from transcripts.stores.copilot.reading.calls import OpenCall, requested
from transcripts.stores.copilot.reading.context import Placing, Thread, detailed
from transcripts.stores.copilot.reading.events import Event
from transcripts.stores.copilot.reading.frame import Frame
from transcripts.stores.copilot.reading.index import Index
from transcripts.stores.copilot.reading.skimming import Data
from transcripts.stores.copilot.thoughts import thoughts

_DELIVERIES: dict[str, Delivery] = {"idle": "typed", "queued": "queued", "steering": "steered"}


def prompt(event: Event, placing: Placing, assets: Assets) -> UserMessage:
    """Return what the person, an agent or the CLI in the person's place asked."""
    data = event.data
    agent = placing.agent(event)
    source = string(data.source)
    author: Author = "human" if agent is None else "agent"
    if data.is_autopilot_continuation is True:
        author = "harness"
    elif source is not None and source != "user":
        author = "agent" if source.startswith("agent-") else "harness"
    delivery = _DELIVERIES.get(string(data.delivery) or "")
    if author != "human" and delivery == "typed":
        delivery = "programmatic"
    placing.thread(agent).turn = string(data.interaction_id) or event.id
    fields = placing.fields(event, event.own_id, external=event.id, author=author)
    content = _asked(data, assets, of_harness=author == "harness")
    return UserMessage(**fields, content=content, delivery=delivery, provenance=source)


def _asked(data: Data, assets: Assets, *, of_harness: bool) -> Content:
    """Return what was said; ``transformedContent`` is what the CLI made of it.

    Only where the CLI speaks itself (autopilot going on), that is all there is.
    """
    text = string(data.content)
    if text is None and of_harness:
        text = string(data.transformed_content)
    parts: list[Part] = [] if text is None else [Text(text=text)]
    for item in mappings(data.attachments):
        held = item.get("type") in ("file", "blob")
        parts.append(assets.part(item) if held else Structured(value=item))
    return tuple(parts)


def answer(
    event: Event,
    placing: Placing,
    index: Index,
    frame: Frame,
    *,
    synthetic: bool,
) -> Iterator[Reasoning | AgentMessage | OpenCall]:
    """Yield what one answer holds: a thought, words, and calls where they were requested.

    ``synthetic`` answers are written by the CLI itself, to fetch what a notification
    announced. Usage is the first message's, so that it is counted once.
    """
    data = event.data
    message = string(data.message_id)
    own: str | int = message if message is not None else event.own_id
    response = string(data.api_call_id) or message
    model = string(data.model)
    thread = placing.thread(placing.agent(event))
    thread.model = model or thread.model
    author: Author = "harness" if synthetic else "model"
    written = event.type if synthetic else None
    usage = _usage(data, index)
    if thought := thoughts(data):
        found = placing.fields(
            event, own, "reasoning", external=message, author=author, response=response
        )
        found |= {"model": model, "content": thought}
        if frame.leaves_thoughts_over and _is_left_over(data, thread):
            found |= {"author": "harness", "in_context": False}
            yield Reasoning(**found, provenance=detailed(event.type, "left over"))
        else:
            yield Reasoning(**found, usage=usage, provenance=written)
            usage = None
    if (text := string(data.content)) is not None:
        found = placing.fields(event, own, external=message, author=author, response=response)
        content = (Text(text=text),)
        yield AgentMessage(**found, model=model, usage=usage, provenance=written, content=content)
        usage = None
    for number, request in enumerate(data.tool_requests or ()):
        call = string(request.tool_call_id)
        parts: tuple[str | int, ...] = (own, "call", number) if call is None else (call,)
        found = placing.fields(event, *parts, external=call, author=author, response=response)
        found |= {
            "model": model,
            "usage": usage,
            "provenance": written,
            "sources": (_inside(event.location, f"/data/toolRequests/{number}"),),
        }
        usage = None
        found |= requested(request, index.start(call))
        yield OpenCall(found, frame.cwd, waits=index.call(call).completed)


def _inside(place: Location, pointer: str) -> Location:
    return Location(
        path=place.path,
        line=place.line,
        offset=place.offset,
        length=place.length,
        pointer=pointer,
    )


def _is_left_over(data: Data, thread: Thread) -> bool:
    """Whether the CLI wrote down the thought before once more, in place of none.

    1.0.20 does so with every answer of a prompt that comes without a thought. It seals none
    of them; where there is a seal, or another prompt in between, equal words are two thoughts.
    """
    text = string(data.reasoning_text)
    seals = (data.reasoning_opaque, data.encrypted_content, data.reasoning_blocks)
    if text is None or any(seal is not UNSET for seal in seals):
        thread.thought = None
        return False
    known, thread.thought = thread.thought, (thread.turn, text)
    return known == thread.thought


def thought_apart(event: Event, placing: Placing, index: Index) -> Reasoning | None:
    """Return a thought that is an event of its own, None if its answer holds it too."""
    text = string(event.data.content)
    if text is None or event.own_id in index.repeated:
        return None
    answer = index.thoughts.get(event.parent or "")
    if answer is None:
        fields = placing.fields(event, event.own_id, external=event.id, author="model")
        return Reasoning(**fields, content=(Text(text=text),))
    if answer.call is not None:
        event = event._replace(data=replace(event.data, parent_tool_call_id=answer.call))
    parts = (event.own_id,) if answer.message is None else (answer.message, "reasoning")
    fields = placing.fields(
        event, *parts, external=answer.message, author="model", response=answer.response
    )
    return Reasoning(**fields, content=(Text(text=text),))


def _usage(data: Data, index: Index) -> Usage | None:
    recorded = index.usage(string(data.api_call_id))
    if recorded is not None:
        return recorded
    output = integer(data.output_tokens)
    return None if output is None else Usage(scope="response", accounting="delta", output=output)
