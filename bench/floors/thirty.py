"""What one would write without mino: httpx and print. `thirty.py URL [PROMPT]`."""

import json
import sys

import httpx

client = httpx.Client(timeout=60)


def answer(url, prompt):
    body = {"model": "mock", "messages": [{"role": "user", "content": prompt}], "stream": True}
    with client.stream("POST", f"{url}/v1/chat/completions", json=body) as response:
        for line in response.iter_lines():
            if line.startswith("data: {"):
                for choice in json.loads(line.removeprefix("data: "))["choices"]:
                    print(choice["delta"].get("content") or "", end="", flush=True)
    print(flush=True)


url, questions = sys.argv[1], sys.argv[2:]
for question in questions or iter(lambda: input("You> "), ""):
    answer(url, question)
