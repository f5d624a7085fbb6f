"""A second mino, as far as its history goes: does what it is told on its standard input, line by line.

Each line is an act; each answer is one line. The test decides when it dies.
"""

import sys
from pathlib import Path

from mino_core import HistoryError
from mino_core.records import new_id, record

from mino_history.jsonl import Jsonl


def main(root: str) -> None:
    history = Jsonl(Path(root))
    for line in sys.stdin:
        act, _, rest = line.strip().partition(" ")
        try:
            if act == "begin":
                log = history.open(rest, record("head", id=rest, format=1, directory="/"))
            elif act == "open":
                log = history.open(rest)
            elif act == "say":
                parts = [{"type": "text", "text": rest}]
                log.append(record("said", turn=1, message={"role": "user", "parts": parts, "meta": {}}))
            elif act == "note":
                log.append(record("note", text=rest), durable=False)
            elif act == "churn":  # conversations and their folders come and go
                for n in range(400):
                    head = record("head", id=new_id(), format=1, directory=f"/{n % 2}")
                    log = history.open(head["id"], head)
                    log.append(record("note"), durable=False)
                    log.close()
                    history.remove(head["id"])
            elif act == "close":
                log.close()
            print("done", flush=True)
        except HistoryError as error:
            print(f"{type(error).__name__}: {error}", flush=True)


main(sys.argv[1])
