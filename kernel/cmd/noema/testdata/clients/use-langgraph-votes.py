import operator, sys
from typing import Annotated, TypedDict
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph

class State(TypedDict):
    question: str
    votes: Annotated[list, operator.add]

model, graph = ChatOpenAI(model="gpt-4o", temperature=1), StateGraph(State)

def vote(state):
    return {"votes": [model.invoke(state["question"]).content]}

def count(state):
    return {"votes": [model.invoke("The votes, in their order: " + " | ".join(state["votes"])).content]}

for i in range(6):
    graph.add_node(f"vote_{i}", vote)
    graph.add_edge(START, f"vote_{i}")
    graph.add_edge(f"vote_{i}", "count")
graph.add_node("count", count)
graph.add_edge("count", END)
print(graph.compile().invoke({"question": sys.stdin.read(), "votes": []})["votes"][-1])
