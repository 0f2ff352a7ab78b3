import os, sys
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

@tool
def call_weather(a: int) -> int:
    """Adds one.

    Args:
        a: a number
    """
    return a + 1

model = OpenAIServerModel(model_id="gpt-4o", api_base=os.environ["OPENAI_BASE_URL"], api_key="x")
print("Answer:", ToolCallingAgent(tools=[call_weather], model=model, verbosity_level=0).run(sys.stdin.read()))
