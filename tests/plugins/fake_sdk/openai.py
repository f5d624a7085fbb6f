"""Stands in for the SDK of that name: as much of it as the example uses, over real sockets and asyncio."""

import asyncio
import json
from types import SimpleNamespace
from urllib.parse import urlsplit


class APIError(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.message = message


class APIConnectionError(APIError):
    pass


class APIStatusError(APIError):
    def __init__(self, message, status_code):
        super().__init__(message)
        self.status_code = status_code


class Chunks:
    """An answer in pieces, closed by the end of its block."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        self.writer.close()

    async def __aiter__(self):
        while line := await self.reader.readline():
            data = line.strip().removeprefix(b"data: ")
            if data == b"[DONE]":
                return
            if not line.startswith(b"data: "):
                continue
            event = json.loads(data)
            if "error" in event:
                raise APIError(event["error"]["message"])
            yield _names({"usage": None, **event})


def _names(value):
    if isinstance(value, dict):
        return SimpleNamespace(**{"content": None, **{key: _names(one) for key, one in value.items()}})
    return list(map(_names, value)) if isinstance(value, list) else value


class AsyncOpenAI:
    def __init__(self, base_url, api_key, max_retries):
        self.url, self.key = urlsplit(base_url), api_key
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))
        self.models = SimpleNamespace(list=self.list)

    async def create(self, **body):
        reader, writer, _ = await self.ask("POST", "/chat/completions", json.dumps(body).encode())
        return Chunks(reader, writer)

    async def list(self):
        reader, writer, length = await self.ask("GET", "/models")
        for model in json.loads(await reader.read(length))["data"]:
            yield _names(model)
        writer.close()

    async def ask(self, verb, path, body=b""):
        try:
            reader, writer = await asyncio.open_connection(self.url.hostname, self.url.port)
        except OSError as error:
            raise APIConnectionError(str(error)) from error
        writer.write(
            f"{verb} {self.url.path}{path} HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer {self.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        status = int((await reader.readline()).split()[1])
        length = -1
        while header := (await reader.readline()).strip():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split()[1])
        if status != 200:
            said = json.loads(await reader.read(length))
            writer.close()
            raise APIStatusError(said["error"]["message"], status)
        return reader, writer, length

    async def close(self):
        pass
