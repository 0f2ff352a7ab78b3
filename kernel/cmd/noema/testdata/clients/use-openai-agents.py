import sys
from agents import Agent, Runner, function_tool

@function_tool
def add(a: int) -> int:
    """Adds one."""
    return a + 1

print(Runner.run_sync(Agent(name="a", instructions="Answer.", model="gpt-4o", tools=[add]), sys.stdin.read()).final_output)
