import sys
import instructor
from openai import OpenAI
from pydantic import BaseModel

class Sum(BaseModel):
    a: int = 0

question = sys.stdin.read()
client = instructor.from_openai(OpenAI())
for again in ("", " again"):
    said = client.chat.completions.create(model="gpt-4o", response_model=Sum, messages=[{"role": "user", "content": question + again}])
print("Answer: yes" if said.a == 1 else said)
