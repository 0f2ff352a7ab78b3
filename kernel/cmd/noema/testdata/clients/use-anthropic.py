import asyncio, sys
from anthropic import Anthropic, AsyncAnthropic

question, client = sys.stdin.read(), Anthropic()
user = [{"role": "user", "content": question}]
tool = {"name": "item_category", "input_schema": {"type": "object", "properties": {}}}
first = client.messages.create(model="claude-sonnet-4-5", max_tokens=99, messages=user, tools=[tool])
use = next(b for b in first.content if b.type == "tool_use")
turns = user + [{"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in first.content]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use.id, "content": "3"}]}]

async def votes():
    other = AsyncAnthropic()
    return await asyncio.gather(*(other.messages.create(model="m", max_tokens=9, messages=user) for _ in range(4)))

assert len(asyncio.run(votes())) == 4
with client.messages.stream(model="claude-sonnet-4-5", max_tokens=99, messages=turns, tools=[tool]) as stream:
    print("".join(stream.text_stream).splitlines()[-1])
