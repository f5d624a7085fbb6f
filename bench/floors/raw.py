"""The floor: a question over a socket, the pieces of its answer to standard output. `raw.py URL [PROMPT]`."""

import json
import os
import socket
import sys


def answer(host, prompt):
    body = json.dumps({"model": "mock", "messages": [{"role": "user", "content": prompt}], "stream": True})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(body)}\r\n\r\n"
    connection.sendall((head + body).encode())
    rest = b""
    while True:
        data = connection.recv(65536)
        *lines, rest = (rest + data).split(b"\n")
        events = [json.loads(line[6:]) for line in lines if line.startswith(b"data: {")]
        choices = [choice for event in events for choice in event["choices"]]
        os.write(1, "".join(choice["delta"].get("content") or "" for choice in choices).encode())
        if not data or b"0\r" in lines:  # the chunk of no bytes
            return


host, questions = sys.argv[1].removeprefix("http://"), sys.argv[2:]
connection = socket.create_connection(host.split(":"))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for question in questions or iter(lambda: os.write(1, b"You> ") and sys.stdin.readline().strip(), ""):
    answer(host, question)
