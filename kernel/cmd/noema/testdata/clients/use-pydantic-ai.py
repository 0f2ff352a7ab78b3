import sys
from pydantic_ai import Agent

agent = Agent("openai-chat:gpt-4o")

@agent.tool_plain
def run_work(a: int) -> int:
    """Adds one."""
    return a + 1

print(agent.run_sync(sys.stdin.read()).output)
