import sys
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

@tool
def call_function(a: int) -> int:
    """Adds one."""
    return a + 1

agent = create_react_agent(ChatOpenAI(model="gpt-4o"), [call_function])
print(agent.invoke({"messages": [("user", sys.stdin.read())]})["messages"][-1].content)
