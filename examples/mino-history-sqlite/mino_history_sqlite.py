"""Conversations in one SQLite file, with full-text search.

A record is a row, kept as the JSON that it is. What was said in it stands beside it as plain text,
indexed by every three characters, so that words are found in languages that write no blanks.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mino_core import Busy, HistoryError, hookimpl

if TYPE_CHECKING:
    from sqlite3 import Connection

    from mino_core import Head, History, Log, Record, Settings

MINO_API = 1
FORMAT = 1
#: How many rows are read at a time: no reading keeps a transaction open.
_PAGE = 500
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_ID = re.compile(r"[0-9A-Z]{26}", re.ASCII)
_WORDS = ("text", "content", "arguments", "name", "title", "summary")
_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS conversations (id TEXT PRIMARY KEY, head TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation TEXT NOT NULL REFERENCES conversations (id),
  type TEXT NOT NULL,
  record TEXT NOT NULL,
  words TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_conversation ON records (conversation, n);
CREATE VIRTUAL TABLE IF NOT EXISTS found
  USING fts5 (words, content='records', content_rowid='n', tokenize='trigram');
CREATE TRIGGER IF NOT EXISTS said AFTER INSERT ON records WHEN new.words <> '' BEGIN
  INSERT INTO found (rowid, words) VALUES (new.n, new.words);
END;
CREATE TRIGGER IF NOT EXISTS erased AFTER DELETE ON records WHEN old.words <> '' BEGIN
  INSERT INTO found (found, rowid, words) VALUES ('delete', old.n, old.words);
END;
PRAGMA user_version = 1;
COMMIT;
"""


@hookimpl
def mino_histories() -> Mapping[str, Callable[[Settings], History]]:
    """`sqlite` keeps conversations in `history.sqlite`, or in the file that `path` names."""
    return {"sqlite": _sqlite}


def _sqlite(settings: Settings) -> Sqlite:
    return Sqlite(settings.home / Path(settings.text("path", "history.sqlite")).expanduser())


class Sqlite:
    """A history in one file, which comes into being with the first conversation."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def conversations(self) -> Iterator[Head]:
        """The heads, the conversation written to last first."""
        order = "(SELECT max(n) FROM records WHERE conversation = id)"
        for name, text in self._rows(f"SELECT id, head FROM conversations ORDER BY {order} DESC"):  # noqa: S608
            yield _head(name, text)

    def search(self, text: str) -> Iterator[tuple[Head, Iterator[Record]]]:
        """The conversations that hold a text in any case, each with the records that do."""
        if len(text) >= 3:
            which, sought = (
                "n IN (SELECT rowid FROM found WHERE words MATCH ?)",
                '"' + text.replace('"', '""') + '"',
            )
        else:  # the index knows nothing as short as that, and SQLite only the two cases of ASCII
            which, sought = "instr(lowered(words), ?)", text.lower()
        hits: dict[str, list[Record]] = {}
        query = f"SELECT conversation, record FROM records WHERE {which} ORDER BY n"  # noqa: S608 (our own words)
        for name, record in self._rows(query, _plain(sought)):
            if (said := _load(record)) is not None:
                hits.setdefault(name, []).append(said)
        for head in self.conversations():
            if head["id"] in hits:
                yield head, iter(hits[head["id"]])

    def open(self, id: str, head: Head | None = None, write: bool = True) -> Log:
        """A log; HistoryError where there is none, Busy where another process writes it."""
        _check_id(id)
        kept = next(iter(self._rows("SELECT head FROM conversations WHERE id = ?", id)), None)
        if head is None and kept is None:
            raise HistoryError(f"there is no conversation {id}; see `mino history list`")
        if head is not None and kept is not None:
            raise HistoryError(f"conversation {id} exists already")
        if write and kept is not None and (found := _head(id, kept[0]).get("format", FORMAT)) != FORMAT:
            raise HistoryError(
                f"conversation {id} was written by a newer mino (format {found!r}): it is not continued"
            )
        return SqliteLog(self._path, id, head, write=write)

    def remove(self, id: str) -> None:
        """Erase one conversation; HistoryError where there is none, Busy where another writes it."""
        self.open(id, write=False)
        lock = _lock(self._path, id)
        try:
            with _trouble(self._path, "written"), _connected(self._path) as connection:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("DELETE FROM records WHERE conversation = ?", [id])
                connection.execute("DELETE FROM conversations WHERE id = ?", [id])
                connection.execute("COMMIT")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            _unlock(lock)

    def _rows(self, query: str, *values: object) -> list[Any]:
        if not self._path.exists():
            return []
        with _trouble(self._path, "read"), _connected(self._path) as connection:
            connection.create_function("lowered", 1, str.lower, deterministic=True)
            return connection.execute(query, values).fetchall()


class SqliteLog:
    """The log of one conversation. With `head` it comes into being with its first record.

    `skipped` counts the rows without a record that `records` met last.
    """

    def __init__(self, path: Path, id: str, head: Head | None, *, write: bool) -> None:
        self.skipped = 0
        self._path = path
        self._id = id
        self._head = head
        self._writes = write
        self._lock: tuple[int, Path] | None = None
        self._connection: Connection | None = None
        if write and head is None:
            self._lock = _lock(path, id)

    def append(self, record: Record, durable: bool = True) -> None:
        """Keep one record; with `durable`, on stable storage. HistoryError with path and reason."""
        if not self._writes:
            raise HistoryError(f"conversation {self._id} is open for reading only")
        try:
            records = [self._head, record] if self._head is not None else [record]
            rows = [(self._id, str(each["type"]), _dump(each), _said(each)) for each in records]
        except (ValueError, TypeError, RecursionError) as error:
            raise HistoryError(f"{self._path}: a record is not JSON: {error}") from error
        if self._lock is None:
            self._lock = _lock(self._path, self._id)
        with _trouble(self._path, "written"):
            self._write(rows, durable=durable)
        self._head = None

    def _write(self, rows: list[tuple[str, str, str, str]], *, durable: bool) -> None:
        if self._connection is None:
            self._connection = _connect(self._path)
        connection = self._connection
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if self._head is not None:
                connection.execute("INSERT INTO conversations VALUES (?, ?)", [self._id, rows[0][2]])
            else:
                _check_there(connection, self._id)
            connection.executemany(
                "INSERT INTO records (conversation, type, record, words) VALUES (?, ?, ?, ?)", rows
            )
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def records(self, reverse: bool = False) -> Iterator[Record]:
        """Every record, in order or from the end on."""
        self.skipped = 0
        if self._head is not None:
            return
        order, beyond = ("DESC", "<") if reverse else ("ASC", ">")
        query = (
            f"SELECT n, record FROM records WHERE conversation = ? AND n {beyond} ? "  # noqa: S608 (our own words)
            f"ORDER BY n {order} LIMIT {_PAGE}"
        )
        last = (1 << 62) if reverse else 0
        while True:
            with _trouble(self._path, "read"), _connected(self._path) as connection:
                page = connection.execute(query, [self._id, last]).fetchall()
            for _, text in page:
                if (record := _load(text)) is not None:
                    yield record
                else:
                    self.skipped += 1
            if len(page) < _PAGE:
                return
            last = page[-1][0]

    def last(self, type: str) -> Record | None:
        """The last record of a type."""
        if self._head is not None:
            return None
        query = "SELECT record FROM records WHERE conversation = ? AND type = ? ORDER BY n DESC LIMIT 1"
        with _trouble(self._path, "read"), _connected(self._path) as connection:
            found = connection.execute(query, [self._id, type]).fetchone()
        return _load(found[0]) if found else None

    def close(self) -> None:
        """Let go of the file and of the lock."""
        self._writes = False
        connection, self._connection = self._connection, None
        lock, self._lock = self._lock, None
        try:
            if connection is not None:
                with _trouble(self._path, "closed"):
                    connection.close()
        finally:
            if lock is not None:
                _unlock(lock)


# -- one record --------------------------------------------------------------------------------


def _load(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("type"), str) else None


def _head(id: str, text: str) -> dict[str, Any]:
    """The head of a conversation, or what stands in for one that is damaged."""
    known = _load(text)
    return (
        {"directory": "", **known, "id": id}
        if known
        else {"id": id, "time": "", "type": "head", "directory": "", "damaged": "its head is damaged"}
    )


def _dump(record: Record) -> str:
    return json.dumps(dict(record), allow_nan=False, separators=(",", ":"))


def _check_there(connection: Connection, id: str) -> None:
    if not connection.execute("SELECT 1 FROM conversations WHERE id = ?", [id]).fetchone():
        raise HistoryError(f"conversation {id} was removed while it was open")


def _said(record: Record) -> str:
    """All words in a record, each text on a line of its own, fit for SQLite."""
    message = record.get("message")
    holders: list[Any] = [record, *(record.get("parts") or ())]
    if isinstance(message, Mapping):
        holders += message.get("parts") or ()
    texts = [holder.get(key) for holder in holders if isinstance(holder, Mapping) for key in _WORDS]
    texts += [_unescaped(holder.get("arguments")) for holder in holders if isinstance(holder, Mapping)]
    return _plain("\n".join(text for text in texts if isinstance(text, str) and text))


def _unescaped(arguments: object) -> str:
    """What a tool's arguments say in which a model escaped letters."""
    if not isinstance(arguments, str) or "\\u" not in arguments:
        return ""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _plain(text: str) -> str:
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _check_id(id: object) -> None:
    if not (isinstance(id, str) and _ID.fullmatch(id)):
        shown = repr(id)
        raise HistoryError(f"{shown[:60]} is not the id of a conversation; see `mino history list`")


# -- the file ----------------------------------------------------------------------------------


def _connect(path: Path) -> Connection:
    import sqlite3

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        # Only where there is none: closing a file drops all locks that this process has on it, and without
        # its lock another process takes the log away under a connection that is still open.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    connection = sqlite3.connect(path, timeout=3, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:  # new, or all that a crash left of a new one
            connection.executescript(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _connected(path: Path) -> Iterator[Connection]:
    connection = _connect(path)
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def _trouble(path: Path, what: str) -> Iterator[None]:
    """Whatever goes wrong with the file is a HistoryError with its path."""
    import sqlite3

    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HistoryError(f"{path} cannot be {what}: {reason}") from error


# -- one writer --------------------------------------------------------------------------------


def _lock(path: Path, id: str) -> tuple[int, Path]:
    """Be the one who writes this conversation; Busy where another is. It ends with the process."""
    file = path.with_name(f"{path.name}.locks") / id
    with _trouble(path, "written"):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            fd = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = os.read(fd, 200).decode("utf-8", "replace")
                os.close(fd)
                raise Busy("".join(filter(str.isprintable, owner)) or "another process") from None
            except OSError as error:
                if error.errno not in _NO_LOCKS:  # where there are none, conversations are kept all the same
                    os.close(fd)
                    raise
            if _is_there(fd, file):
                with suppress(OSError):  # only the words are missing; the lock holds without them
                    os.ftruncate(fd, 0)
                    os.write(fd, f"process {os.getpid()} on {os.uname().nodename}".encode())
                return fd, file
            os.close(fd)  # who had it took the file away; another may have made a new one


def _is_there(fd: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), file.stat())
    except FileNotFoundError:
        return False


def _unlock(lock: tuple[int, Path]) -> None:
    fd, file = lock
    file.unlink(missing_ok=True)
    os.close(fd)
