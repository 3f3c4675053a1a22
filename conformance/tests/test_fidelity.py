"""Whether less came back than was declared, and whether it did, is told message by message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from conformance.fidelity import compare
from conformance.verdicts import Judgement
from transcripts.losses import Loss, LossId
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    CommandExecution,
    CompactBoundary,
    Error,
    FileChange,
    FileEdit,
    Superseded,
    Text,
    ToolCall,
    UserMessage,
)


def user(name: str, words: str, author: Any = "human", **more: Any) -> UserMessage:
    return UserMessage(id=name, author=author, content=(Text(text=words),), **more)


def agent(name: str, words: str, **more: Any) -> AgentMessage:
    return AgentMessage(id=name, author="model", content=(Text(text=words),), **more)


def command(name: str, **more: Any) -> CommandExecution:
    given: dict[str, Any] = {
        "id": name,
        "name": "shell",
        "author": "model",
        "command": "ls barn",
        "output": (Text(text="hay"),),
        "status": "completed",
    }
    return CommandExecution(**{**given, **more})


def judged(
    sent: Sequence[AnyMessage],
    back: Sequence[AnyMessage],
    *losses: tuple[LossId, str | None],
    cwd: str | None = None,
) -> dict[str, Judgement]:
    declared = [Loss(loss=loss, message=message) for loss, message in losses]
    return dict(compare(sent, back, declared, cwd).judged)


def test_a_message_that_is_gone_is_lost_unless_its_loss_was_declared() -> None:
    gone = agent("a", "reaped", superseded_by=Superseded(id=None, why="rewind"))
    assert judged([gone], [])["a"] == Judgement(verdict="lost", why="did not come back")
    assert judged([gone], [], ("superseded-dropped", "a"))["a"] == Judgement(
        verdict="degraded", losses=("superseded-dropped",)
    )


def test_a_loss_that_excuses_something_else_excuses_nothing() -> None:
    found = judged([agent("a", "reaped")], [], ("superseded-dropped", "a"))["a"]
    assert (found.verdict, found.why) == ("lost", "did not come back")


def test_what_stays_behind_leaves_its_copy_to_who_says_the_same() -> None:
    sent = [user("h", "rake the hay", author="harness"), user("u", "rake the hay")]
    found = judged(sent, [user("x", "rake the hay")], ("harness-dropped", "h"))
    assert found == {
        "h": Judgement(verdict="degraded", losses=("harness-dropped",)),
        "u": Judgement(verdict="exact"),
    }


def test_of_two_who_say_the_same_the_first_has_the_copy_where_nothing_was_declared() -> None:
    sent = [user("first", "rake the hay"), user("second", "rake the hay")]
    found = judged(sent, [user("x", "rake the hay")])
    assert {name: one.verdict for name, one in found.items()} == {
        "first": "exact",
        "second": "lost",
    }


def test_a_thread_said_once_to_stay_behind_stays_whole_and_no_other_does() -> None:
    sent = [
        user("u", "mow"),
        agent("a1", "mowing", agent="one"),
        agent("a2", "mown", agent="one"),
        agent("b", "asleep", agent="two"),
    ]
    found = judged(sent, [user("x", "mow")], ("thread-flattened", "a1"))
    assert {name: (one.verdict, one.losses) for name, one in found.items()} == {
        "u": ("exact", ()),
        "a1": ("degraded", ("thread-flattened",)),
        "a2": ("degraded", ("thread-flattened",)),
        "b": ("lost", ()),
    }


def test_a_thread_is_said_to_stay_behind_only_by_that_loss() -> None:
    gone: dict[str, Any] = {"superseded_by": Superseded(id=None, why="retry"), "agent": "one"}
    sent = [agent("a1", "mowing", **gone), agent("a2", "mown", agent="one")]
    found = judged(sent, [], ("superseded-dropped", "a1"))
    assert (found["a1"].verdict, found["a2"].verdict) == ("degraded", "lost")


def test_who_belongs_to_no_thread_declares_for_nobody_else() -> None:
    sent = [user("u", "mow"), user("v", "rake")]
    found = judged(sent, sent, ("thread-flattened", "u"))
    assert (found["u"].verdict, found["v"].verdict) == ("stale", "exact")


def test_what_is_declared_of_the_whole_session_excuses_all_and_binds_none() -> None:
    sent = [agent("a", "reaped", model="m-1"), agent("b", "bound", model="m-1")]
    back = [agent("x", "reaped"), agent("y", "bound", model="m-1")]
    found = judged(sent, back, ("model-dropped", None))
    assert found["a"] == Judgement(verdict="degraded", losses=("model-dropped",))
    assert found["b"] == Judgement(verdict="exact")


def test_a_declared_loss_that_did_not_happen_is_named() -> None:
    sent = [agent("a", "reaped")]
    assert judged(sent, sent, ("usage-dropped", "a"), ("model-dropped", "a"))["a"] == Judgement(
        verdict="stale",
        why="declared model-dropped, usage-dropped, but nothing of it was lost",
    )


def test_beside_a_loss_that_did_not_happen_stand_those_that_did() -> None:
    sent, back = [agent("a", "reaped", model="m-1")], [agent("x", "reaped")]
    found = judged(sent, back, ("model-dropped", "a"), ("usage-dropped", "a"))["a"]
    assert (found.verdict, found.losses) == ("stale", ("model-dropped",))


def test_what_became_prose_keeps_the_loss_that_the_whole_session_declared() -> None:
    back = [agent("x", "I ran ls barn and saw hay")]
    assert judged([command("c")], back, ("narrated", None))["c"] == Judgement(
        verdict="narrated", losses=("narrated",)
    )


def test_every_undeclared_difference_is_named_and_the_declared_is_a_loss() -> None:
    sent = [command("c", duration_ms=5, exit_code=0, model="m-1")]
    back = [command("x", exit_code=1)]
    found = judged(sent, back, ("model-dropped", "c"))["c"]
    assert found == Judgement(
        verdict="lost",
        losses=("model-dropped",),
        why="duration differs; exit code 0 became 1",
    )


def test_a_command_without_a_directory_ran_in_the_session_s() -> None:
    nowhere, here = command("c"), command("x", cwd="/srv/mill")
    assert judged([nowhere], [here], cwd="/srv/mill")["c"].verdict == "exact"
    assert judged([here], [nowhere], cwd="/srv/mill")["x"].verdict == "exact"
    elsewhere = command("y", cwd="/srv/barn")
    assert judged([nowhere], [elsewhere], cwd="/srv/mill")["c"].why == "directory differs"
    assert judged([elsewhere], [nowhere], cwd="/srv/mill")["y"].why == "directory differs"


def test_prose_can_refute_nothing_else_that_was_declared_of_a_call() -> None:
    sent = [command("c", duration_ms=5)]
    back = [agent("x", "I ran ls barn and saw hay")]
    found = judged(sent, back, ("narrated", "c"), ("duration-dropped", "c"))["c"]
    assert (found.verdict, set(found.losses)) == ("narrated", {"narrated", "duration-dropped"})
    assert judged(sent, back)["c"] == Judgement(verdict="lost", why="became prose")


def test_an_error_is_withheld_only_if_it_is_gone() -> None:
    error = Error(id="e", author="harness", text="the mill stands still")
    assert judged([error], [], ("withheld-error", "e"))["e"].verdict == "withheld"
    told = agent("x", "Error: the mill stands still")
    narrated = judged([error], [told], ("withheld-error", "e"), ("narrated", "e"))["e"]
    assert narrated.verdict == "narrated"


def test_a_call_that_stays_open_may_be_said_to_be_closed_or_not() -> None:
    sent = [command("c", output=None, status="unresolved")]
    assert judged(sent, sent)["c"] == Judgement(verdict="exact")
    assert judged(sent, sent, ("call-closed", "c"))["c"] == Judgement(
        verdict="degraded", losses=("call-closed",)
    )


def test_what_stands_elsewhere_or_twice_is_lost() -> None:
    sent = [user("u", "mow"), agent("a", "mown")]
    swapped = judged(sent, list(reversed(sent)))
    assert swapped["u"].why == swapped["a"].why == "came back in another order"
    doubled = judged(sent, [*sent, agent("again", "mown")])
    assert doubled["a"].why == "came back twice (as AgentMessage too)"
    assert doubled["u"].verdict == "exact"


def test_what_nobody_sent_stands_after_what_was_sent() -> None:
    sent = [user("u", "mow"), agent("a", "mown")]
    first, between = agent("x", "hm"), agent("y", "at once")
    found = compare(sent, [first, sent[0], between, sent[1]], ())
    assert list(found.strays) == [(None, first), ("u", between)]


def test_the_result_of_a_change_need_not_be_repeated_for_each_file() -> None:
    edits = [FileEdit(path=path, operation="add", after="oats\n") for path in ("a.txt", "b.txt")]
    made: dict[str, Any] = {"name": "edit", "author": "model", "status": "completed"}
    said = (Text(text="done"),)
    sent = [FileChange(id="f", changes=tuple(edits), output=said, **made)]
    first, second = (FileChange(id=edit.path, changes=(edit,), **made) for edit in edits)
    told = FileChange(id="t", changes=(edits[0],), output=said, **made)
    assert judged(sent, [told, second])["f"] == Judgement(verdict="translated")
    assert judged(sent, [first, second])["f"].why == "the output is gone"
    half = judged(sent, [told])["f"]
    assert (half.verdict, half.why) == ("lost", "did not come back")


def test_another_form_of_the_same_is_translated_and_a_new_id_is_not() -> None:
    call = ToolCall(id="c", author="model", name="weigh", arguments="oats", status="completed")
    other = ToolCall(
        id="x", author="model", name="weigh", arguments={"input": "oats"}, status="completed"
    )
    assert judged([call], [replace(call, id="new")])["c"].verdict == "exact"
    sent = [user("u", "weigh OATS-0001")]
    assert judged(sent, [user("other", "weigh OATS-0001")])["u"].verdict == "exact"
    assert judged([call, *sent], [other, *sent], ("narrated", "u"))["u"].verdict == "stale"


def test_a_link_to_what_was_not_sent_stays_what_it_is() -> None:
    def replaced(scope: str, by: str) -> Sequence[AnyMessage]:
        why = Superseded(id=by, why="edit")
        return user(f"{scope}0", "mow"), agent(f"{scope}1", "mown", superseded_by=why)

    assert judged(replaced("a", "far"), replaced("b", "far"))["a1"].verdict == "exact"
    assert judged(replaced("a", "far"), replaced("b", "near"))["a1"].verdict == "translated"


def test_what_a_compaction_kept_and_nobody_sent_stays_what_it_is() -> None:
    def compacted(kept: str) -> Sequence[AnyMessage]:
        said = (Text(text="short"),)
        return [CompactBoundary(id="b", author="harness", summary=said, preserved=(kept,))]

    assert judged(compacted("far"), compacted("far"))["b"].verdict == "exact"
    assert judged(compacted("far"), compacted("near"))["b"].verdict == "translated"
