"""What the official SDKs make of streams. Run by a Python that has them: sdk_client.py URL < names > results.

Each name is `<dialect>-<case>`; the answer to it is served below URL/<name>. A result is a line of
JSON: the text that was streamed, the tool calls and the end as the SDK's own accumulator has them,
and what was raised, if anything was.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anthropic
import openai

Said = dict[str, Any]
HI: Any = [{"role": "user", "content": "hi"}]


def chat(url: str, said: Said) -> None:
    client = openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0, timeout=20)
    with client.chat.completions.stream(model="m", messages=HI) as stream:
        for event in stream:
            if event.type == "chunk":
                for choice in event.chunk.choices:
                    said["text"] += (choice.delta.content or "") + (choice.delta.refusal or "")
        message = stream.get_final_completion().choices[0]
    said["end"] = message.finish_reason
    calls = message.message.tool_calls or []
    said["calls"] = [[call.id, call.function.name, call.function.arguments] for call in calls]


def responses(url: str, said: Said) -> None:
    client = openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0, timeout=20)
    with client.responses.stream(model="m", input="hi", store=False) as stream:
        for event in stream:
            if event.type in ("response.output_text.delta", "response.refusal.delta"):
                said["text"] += event.delta
            if event.type == "response.output_item.done" and event.item.type == "function_call":
                said["calls"].append([event.item.call_id, event.item.name, event.item.arguments])
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                said["end"] = event.response.status


def messages(url: str, said: Said) -> None:
    client = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0, timeout=20)
    with client.messages.stream(model="m", max_tokens=64, messages=HI) as stream:
        for event in stream:
            if event.type == "text":
                said["text"] += event.text
        message = stream.get_final_message()
    said["end"] = message.stop_reason
    said["calls"] = [
        [block.id, block.name, json.dumps(block.input)]
        for block in message.content
        if block.type == "tool_use"
    ]


def main() -> None:
    for name in map(str.strip, sys.stdin):
        said: Said = {"name": name, "text": "", "calls": [], "end": None, "raised": ""}
        try:
            {"chat": chat, "responses": responses, "messages": messages}[name.partition("-")[0]](
                f"{sys.argv[1]}/{name}", said
            )
        except Exception as error:
            said["raised"] = f"{type(error).__name__}: {error}"[:200]
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
