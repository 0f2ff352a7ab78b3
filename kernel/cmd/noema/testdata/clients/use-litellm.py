import sys
import litellm

question = sys.stdin.read()
user = [{"role": "user", "content": question}]
first = litellm.completion(model="openai/gpt-4o", messages=user).choices[0].message.content
chunks = litellm.completion(model="openai/gpt-4o", messages=user + [{"role": "assistant", "content": first}, {"role": "user", "content": "again"}], stream=True)
print("".join(c.choices[0].delta.content or "" for c in chunks))
