"""A child without a model, for the tests of `mino_local`: the model file tells it what to do.

Its first line is a JSON list of steps: `{"say": text}`, `{"err": text}`, `{"exit": code}`,
`{"signal": number}`, `{"env": path}` (write the environment and the arguments there), `{"hold": path}`
(open it, a fifo, and keep it open). At the end it waits for the end of its standard input, as the
real one does.
"""

import json
import os
import resource
import signal
import sys
from pathlib import Path

with Path(sys.argv[1]).open() as model:
    first = model.readline()
held = []
signal.signal(signal.SIGINT, signal.SIG_IGN)
for step in json.loads(first):
    match step:
        case {"say": text}:
            os.write(1, text.encode())
        case {"err": text}:
            os.write(2, text.encode())
        case {"exit": code}:
            os._exit(code)
        case {"signal": number}:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.kill(os.getpid(), number)
        case {"env": path}:
            seen = {"environ": dict(os.environ), "argv": sys.argv[1:], "session": os.getsid(0) == os.getpid()}
            Path(path).write_text(json.dumps(seen))
        case {"hold": path}:
            held.append(os.open(path, os.O_WRONLY))
try:
    while os.read(0, 1024):
        pass
except ConnectionResetError:
    pass
