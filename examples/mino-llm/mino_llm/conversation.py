"""A conversation as `llm` has it, twice: as messages, and as responses for models that read no messages."""

from base64 import b64decode
from typing import Any, NamedTuple

from mino_core import File, Image, Reasoning, Refusal, Text, ToolCall, ToolResult
from mino_core.transport import mended


class Turn(NamedTuple):
    """What is asked now (`prompt` with `attachments`, or the `results` of tools) and what was said before."""

    conversation: Any
    history: list[Any]
    prompt: str | None
    attachments: list[Any]
    results: list[Any]


def turn(request, model):
    """The conversation, with its last message apart."""
    from llm.parts import Message, TextPart

    said = list(mended(request.messages))
    names = {part.id: part.name for message in said for part in message.parts if isinstance(part, ToolCall)}
    *before, last = said
    history = (
        [Message(role="system", parts=[TextPart(text=request.instructions)])] if request.instructions else []
    )
    conversation = model.conversation()
    asked = Turn(conversation, history, None, [], [])
    for message in before:
        if message.role == "assistant":
            conversation.responses.append(response(message, asked, history))
            history += sent_back(message, request.model)
            asked = Turn(conversation, history, None, [], [])
        else:
            asked = as_asked(message, asked, names)
            history += as_messages(message, names)
    return as_asked(last, Turn(conversation, history, None, [], []), names)._replace(history=history)


def as_asked(message, asked, names):
    """What a user's or a tool's message asks."""
    import llm

    if message.role == "tool":
        results = [
            llm.ToolResult(name=names.get(part.call_id, ""), output=part.content, tool_call_id=part.call_id)
            for part in message.parts
            if isinstance(part, ToolResult)
        ]
        return asked._replace(results=results, attachments=attachments(message))
    text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
    return asked._replace(prompt=text, attachments=attachments(message))


def attachments(message):
    import llm

    return [
        llm.Attachment(type=part.media_type, content=b64decode(part.data))
        for part in message.parts
        if isinstance(part, Image | File)
    ]


def as_messages(message, names):
    """A user's or a tool's message for models that read `prompt.messages`."""
    from llm.parts import AttachmentPart, Message, TextPart, ToolResultPart

    parts = []
    for part in message.parts:
        match part:
            case Text(text):
                parts.append(TextPart(text=text))
            case ToolResult(call_id, content):
                parts.append(
                    ToolResultPart(name=names.get(call_id, ""), output=content, tool_call_id=call_id)
                )
    parts += [AttachmentPart(attachment=one) for one in attachments(message)]
    return [Message(role=message.role, parts=parts)] if parts else []


def sent_back(message, model):
    """A reply as the same model gave it, signatures and all; as its words for any other."""
    from llm.parts import Message, ReasoningPart, TextPart, ToolCallPart

    kept = message.meta.get("llm") or {}
    if kept.get("model") == model and kept.get("messages"):
        return [Message.from_dict(one) for one in kept["messages"]]
    parts = []
    for part in message.parts:
        match part:
            case Text(text) | Refusal(text):
                parts.append(TextPart(text=text))
            case Reasoning(text) if kept.get("model") == model:
                parts.append(ReasoningPart(text=text))
            case ToolCall(id, name):
                parts.append(ToolCallPart(name=name, arguments=part.parsed or {}, tool_call_id=id))
    return [Message(role="assistant", parts=parts)] if parts else []


def response(message, asked, history):
    """A reply for models that read `conversation.responses`: one that says again what was said."""
    import llm

    class Said(llm.Model):
        model_id = "said"
        supports_tools = True

        def execute(self, prompt, stream, response, conversation=None):
            for part in message.parts:
                if isinstance(part, ToolCall):
                    response.add_tool_call(
                        llm.ToolCall(name=part.name, arguments=part.parsed or {}, tool_call_id=part.id)
                    )
            yield message.text

    model = Said()
    prompt = llm.Prompt(
        asked.prompt,
        model=model,
        attachments=asked.attachments,
        tool_results=asked.results,
        messages=list(history),
    )
    made = llm.Response(prompt, model=model, stream=False)
    made.text()
    return made
