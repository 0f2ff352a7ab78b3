import json, sys
from concurrent.futures import ThreadPoolExecutor
from openai import OpenAI

question, client = sys.stdin.read(), OpenAI()
user = [{"role": "user", "content": question}]
tool = {"type": "function", "function": {"name": "run_experiment", "parameters": {"type": "object", "properties": {"a": {"type": "number"}}}}}
with ThreadPoolExecutor(4) as pool:
    votes = list(pool.map(lambda _: client.chat.completions.create(model="gpt-4o", messages=user, temperature=1).choices[0].message.content, range(4)))
said = client.chat.completions.create(model="gpt-4o", messages=user, tools=[tool], tool_choice="required").choices[0].message
call = said.tool_calls[0]
turns = user + [said.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": "3"}]
chunks = client.chat.completions.create(model="gpt-4o", messages=turns, tools=[tool], stream=True, stream_options={"include_usage": True})
text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
print(len(votes), json.loads(call.function.arguments), file=sys.stderr)
print(text)
