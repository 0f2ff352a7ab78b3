import sys
from agents import Agent, Runner, function_tool

@function_tool
def get_item_id(a: int) -> int:
    """Adds one."""
    return a + 1

print(Runner.run_sync(Agent(name="a", instructions="Answer.", model="gpt-4o", tools=[get_item_id]), sys.stdin.read()).final_output)
