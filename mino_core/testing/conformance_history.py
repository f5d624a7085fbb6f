"""What every place to keep conversations promises."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from mino_core.errors import Busy, HistoryError
from mino_core.records import fold, message_to_json, new_id, record
from mino_core.types import History, Log, Message, Record, Text

from .promises import promise, suite

#: What breaks readers that are not strict about where a line ends or what a letter is.
_AWKWARD = (
    "a\nb\r\nc\rd",
    "\u2028 \u2029 \u0085 \x0b \x0c \x1c \x1e \x1f \x00 \x7f",
    "\\ \" ' \\n \\u2028 {} [] // #",
    "é e\u0301 漢字 👩‍🚀 \u200d \u200f \U000e0020",
    "  blanks  \t",
    "x" * 100_000,
)


@suite
class HistoryConformance:
    """Subclass it and make the history:

        class TestMine(HistoryConformance):
            def history(self, tmp_path):
                return Mine(tmp_path)

    Called again with the same path it opens what is there; where nothing outlives the object, say
    `lasting = False`.
    """

    lasting: ClassVar[bool] = True

    def history(self, tmp_path: Path) -> History:
        """The history to test, kept below `tmp_path`."""
        raise NotImplementedError

    # -- one conversation ----------------------------------------------------------------------

    def test_records_come_back_as_they_were_appended(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        log, head = begun(history)
        kept = [said("question"), said("answer", "assistant"), record("ended", turn=1, outcome="completed")]
        for n, one in enumerate(kept):
            log.append(one, durable=n != 2)
        self._same(list(log.records()), [head, *kept], "while the log is open")
        log.close()
        self._same(_read(history, head["id"]), [head, *kept], "after it was closed")

    def test_reading_backwards_is_reading_forwards_reversed(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        log, _ = begun(history)
        for n in range(50):
            log.append(said(f"{n} " + "é" * n * 200))
        forwards, backwards = list(log.records()), list(log.records(reverse=True))
        log.close()
        promise(
            backwards == forwards[::-1],
            f"reverse=True gave {len(backwards)} records, not the same {len(forwards)} from the end",
            "a long conversation is resumed from its end.",
        )

    def test_awkward_letters_come_back_the_same(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        log, head = begun(history)
        kept = [said(text) for text in _AWKWARD]
        for one in kept:
            log.append(one)
        log.close()
        self._same(_read(history, head["id"]), [head, *kept], "with separators, marks and long lines in them")

    def test_unknown_types_and_keys_are_kept(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        log, head = begun(history, future={"nested": [1, 2.5, None, True, "é"]})
        strange = record("from_the_future", payload={"a": [{"b": []}]}, turn=None)
        told = {**said("question"), "x-note": ["kept", {"": 0}]}
        log.append(told)
        log.append(strange)
        log.close()
        self._same(_read(history, head["id"]), [head, told, strange], "of a type or with keys unknown to it")

    def test_records_are_json_and_nothing_else_changes(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        log, _ = begun(history)
        log.append(said("question"))
        for one in log.records():
            json.dumps(one, allow_nan=False)
        first = next(iter(log.records()))
        log.append(said("more"))
        again = next(iter(log.records()))
        log.close()
        promise(first == again, "an append changed a record before it", "nothing is ever rewritten.")

    def test_reading_while_more_is_appended_breaks_nothing(self, tmp_path: Path) -> None:
        log, _ = begun(self.history(tmp_path))
        log.append(said("question"))
        reading = log.records()
        next(reading)
        log.append(said("answer", "assistant"))
        rest = list(reading)
        again = list(log.records())
        log.close()
        promise(
            len(rest) in (1, 2) and len(again) == 3,
            f"a reader saw {len(rest)} further records, then {len(again)} in all, of 3",
            "the session reads and appends the same conversation.",
        )

    def test_the_fold_of_what_is_kept_is_the_conversation(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        log, head = begun(history)
        log.append(said("question", turn=1))
        log.append({**said("answer", "assistant", turn=1), "outcome": "completed"})
        log.append(record("ended", turn=1, outcome="completed"))
        log.append(record("cleared"))
        log.append(said("after", turn=2))
        log.close()
        texts = [message.text for message in fold(_read(history, head["id"])).messages()]
        promise(
            texts == ["after"],
            f"of a conversation that was cleared before `after`, this is sent: {texts}",
            "every command is a record, so every command works on every backend.",
        )

    # -- all conversations ---------------------------------------------------------------------

    def test_conversations_are_listed_newest_first(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        ids = []
        for n in range(3):
            log, head = begun(history, directory=f"/some where/{n}", time=f"2026-01-0{n + 1}T00:00:00.000Z")
            log.append(said("question"))
            log.close()
            ids.append(head["id"])
        heads = list(history.conversations())
        promise(
            [head["id"] for head in heads] == ids[::-1],
            f"made in the order {ids}, listed as {[head['id'] for head in heads]}",
            "`mino -c` goes on with the newest, and lists begin with it.",
        )
        promise(
            [head["directory"] for head in heads] == [f"/some where/{n}" for n in (2, 1, 0)],
            f"the heads say other directories than were given: {[head.get('directory') for head in heads]}",
            "`mino -c` goes on with the newest of this directory.",
        )

    def test_conversations_do_not_mix(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        (one, head_one), (two, head_two) = begun(history), begun(history)
        for n in range(3):
            one.append(said(f"one {n}"))
            two.append(said(f"two {n}"))
        one.close()
        two.close()
        for name, head in (("one", head_one), ("two", head_two)):
            texts = [_words(kept) for kept in _read(history, head["id"])[1:]]
            promise(
                texts == [f"{name} {n}" for n in range(3)],
                f"conversation {name} holds {texts}",
                "what was said in one conversation must never be sent in another.",
            )

    def test_a_removed_conversation_is_gone(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        logs = [begun(history) for _ in range(2)]
        for log, _ in logs:
            log.append(said("question"))
            log.close()
        gone, stays = (head["id"] for _, head in logs)
        history.remove(gone)
        listed = [head["id"] for head in history.conversations()]
        promise(
            listed == [stays],
            f"{gone} was removed of {[gone, stays]}; listed are {listed}",
            "erased is erased.",
        )
        _refused(lambda: _read(history, gone), "a removed conversation can still be read")
        promise(
            len(_read(history, stays)) == 2, "removing one conversation hurt another", "it was not asked for."
        )

    def test_what_is_not_there_is_a_history_error(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        promise(
            list(history.conversations()) == [], "an empty history lists conversations", "there are none."
        )
        _refused(lambda: _read(history, new_id()), "a conversation that never was can be read")
        _refused(lambda: history.remove(new_id()), "a conversation that never was can be removed")

    def test_an_id_is_never_a_path(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside.jsonl"
        outside.write_text("{}\n")
        history = self.history(tmp_path / "inside")
        for name in ("../outside", "../outside.jsonl", str(outside), "", ".", "\0"):
            _refused(partial(_read, history, name), f"the id {name!r} was taken")
            _refused(partial(history.remove, name), f"the id {name!r} could be removed")
        promise(outside.exists(), "a file beside the history was removed", "ids come from the command line.")

    def test_two_writers_never_share_a_conversation(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        log, head = begun(history)
        log.append(said("question"))
        busy = _raised(lambda: history.open(head["id"]))
        promise(
            busy is None or isinstance(busy, Busy),
            f"opening what is being written raised {busy!r}, which is not Busy",
            "on Busy the session goes on in a copy; any other error ends it.",
        )
        reader = history.open(head["id"], write=False)
        promise(
            len(list(reader.records())) == 2,
            "what one writes, another cannot read at the same time",
            "a copy begins with what is there.",
        )
        reader.close()
        log.close()
        history.open(head["id"]).close()

    def test_a_search_misses_no_text(self, tmp_path: Path) -> None:
        history = self.history(tmp_path)
        search = getattr(history, "search", None)
        if search is None:  # mino reads everything itself
            return
        (log, head), (other, _) = begun(history), begun(history)
        for text in ("历史里的每一句话", 'a "quoted" \\ word', "ÜBER Straße", "one\ntwo"):
            log.append(said(text))
        other.append(said("nothing of the kind"))
        log.close()
        other.close()
        for sought in ("历", "历史", "每一句话", '"quoted" \\', "QUOTED", "über", "straße", "e\nt", " "):
            found = {name["id"]: list(records) for name, records in search(sought)}
            words = [_words(kept).lower() for kept in found.get(head["id"], ()) if kept["type"] == "said"]
            promise(
                any(sought.lower() in text for text in words),
                f"a search for {sought!r} gives {words} of the conversation that holds it",
                "a text is found in any case, also where it has one letter, quotes or several lines.",
            )

    # -- lasting -------------------------------------------------------------------------------

    def test_a_conversation_goes_on_after_a_restart(self, tmp_path: Path) -> None:
        if not self.lasting:
            return
        log, head = begun(self.history(tmp_path))
        first, second = said("question"), said("more")
        log.append(first)
        log.close()
        again = self.history(tmp_path)
        promise(
            [kept["id"] for kept in again.conversations()] == [head["id"]],
            "after a restart the conversation is not listed",
            "kept means kept.",
        )
        log = again.open(head["id"])
        log.append(second)
        log.close()
        self._same(_read(self.history(tmp_path), head["id"]), [head, first, second], "after two restarts")

    def test_what_is_durable_outlives_an_end_without_close(self, tmp_path: Path) -> None:
        if not self.lasting:
            return
        log, head = begun(self.history(tmp_path))
        kept = said("question")
        log.append(kept)
        # Nothing is closed: a new history sees what one after a crash would see.
        self._same(_read(self.history(tmp_path), head["id"]), [head, kept], "appended durably, then a crash")
        log.close()

    def _same(self, got: list[Record], kept: list[Record], when: str) -> None:
        for n, (one, other) in enumerate(zip(got, kept, strict=False)):
            promise(
                dict(one) == dict(other),
                f"record {n} {when} is {_short(one)}, not {_short(other)}",
                "what is sent is a function of the records, so they must not change in any letter.",
            )
        promise(
            len(got) == len(kept),
            f"of {len(kept)} records {when}, {len(got)} came back",
            "a lost record is a lost word of the user's.",
        )


def begun(history: History, **fields: Any) -> tuple[Log, dict[str, Any]]:
    """A new conversation, open for writing, and its head."""
    head = record("head", **{"directory": "/some where", "format": 1, **fields, "id": new_id()})
    return history.open(head["id"], head=head), head


def said(text: str, role: Any = "user", turn: int = 1) -> dict[str, Any]:
    """A record of one message."""
    return record("said", turn=turn, message=message_to_json(Message(role, (Text(text),))))


def _words(kept: Record) -> str:
    return "".join(part["text"] for part in kept.get("message", {}).get("parts", ()))


def _read(history: History, id: str) -> list[Record]:
    log = history.open(id, write=False)
    try:
        return list(log.records())
    finally:
        log.close()


def _raised(act: Callable[[], object]) -> Exception | None:
    try:
        act()
    except Exception as error:  # noqa: BLE001 (what is raised is what is judged)
        return error
    return None


def _refused(act: Callable[[], object], broken: str) -> None:
    error = _raised(act)
    promise(
        isinstance(error, HistoryError),
        f"{broken}: {error!r} instead of a HistoryError",
        "mino shows a HistoryError in one sentence; anything else counts as a fault of the plugin.",
    )


def _short(one: Record) -> str:
    text = ascii(dict(one))
    return text if len(text) < 300 else f"{text[:150]} ... {text[-150:]}"
