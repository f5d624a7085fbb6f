"""The program that the child process runs: llama.cpp's server on 127.0.0.1, for one parent.

    child.py MODEL CONTEXT_SIZE THREADS          with the key in MINO_LOCAL_KEY

Once it serves, it writes one line to standard output: `{"url": "http://127.0.0.1:PORT"}`. Where it
cannot, the last line of its standard error says why. It ends when its standard input does, that is
with its parent, however that one ended. It imports nothing of mino.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading

#: How much the engine may write to its log, and to any other file, in bytes.
_MOST_OUTPUT = 16 << 20
#: Tokens read at a time. A request whose client has gone is dropped only between two batches.
_BATCH = 128


def main() -> None:
    """Load the model and serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C stops an answer, not the model
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_OUTPUT, resource.RLIM_INFINITY))
    threading.Thread(target=_end_with_parent, daemon=True).start()  # also while the model loads
    ready = os.dup(1)
    os.dup2(2, 1)  # whatever the engine prints is no message to the parent

    model, context_size, threads = sys.argv[1:]
    try:
        server = serve(model, int(context_size), int(threads), os.environ["MINO_LOCAL_KEY"])
    except ImportError as error:
        sys.exit(f"its engine is not installed ({error}): run pip install 'mino-shell[local]'")
    except RuntimeError:
        sys.exit(
            f"its engine cannot load {model}: is it a whole GGUF file of a chat model that fits in memory?"
        )
    os.write(ready, json.dumps({"url": server.listening_address}).encode() + b"\n")
    os.close(ready)
    threading.Event().wait()


def serve(model: str, context_size: int, threads: int, key: str):  # type: ignore[no-untyped-def]
    """A running server with this key, one answer at a time, and no page; ImportError, RuntimeError."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {"local"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.n_ctx = context_size
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = _BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = 0
    params.offline = True
    params.ui = params.endpoint_slots = False
    params.cors_origins = ""
    params.verbosity = -1
    return xllamacpp.Server(params)


def _end_with_parent() -> None:
    try:
        while os.read(0, 1024):
            pass
    finally:  # a parent that went before it read our line resets the connection
        os._exit(0)  # at once: the engine's own teardown waits for its clients


if __name__ == "__main__":
    main()
