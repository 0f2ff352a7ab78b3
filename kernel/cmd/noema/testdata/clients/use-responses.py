import sys
from openai import OpenAI

question, client = sys.stdin.read(), OpenAI()
tool = {"type": "function", "name": "thread_priority", "parameters": {"type": "object", "properties": {}}, "strict": False}
first = client.responses.create(model="gpt-4o", input=question, tools=[tool])
call = next(item for item in first.output if item.type == "function_call")
items = [{"role": "user", "content": question}, *[i.model_dump(exclude_none=True) for i in first.output], {"type": "function_call_output", "call_id": call.call_id, "output": "3"}]
with client.responses.stream(model="gpt-4o", input=items, tools=[tool]) as stream:
    seen = [event.type for event in stream]
    print(stream.get_final_response().output_text)
assert seen[0] == "response.created" and seen[-1] == "response.completed"
