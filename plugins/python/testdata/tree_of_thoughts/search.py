"""The search: breadth first, with a model that proposes thoughts and values them.

Source: Yao et al. 2023, "Tree of Thoughts: Deliberate Problem Solving with
Large Language Models", algorithm 1 (ToT-BFS) with propose prompts and values
sampled as sure, likely or impossible.
Differs: what is certain without a model, such as that 24 is reached, is not
asked; equal states are one state; all calls of a level run at once.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple, Optional, Protocol

import noema

# What a vote weighs, as in the paper.
WEIGHTS = {"sure": 20.0, "likely": 1.0, "impossible": 0.001}


class Space(Protocol):
    """The thoughts of one problem. A state is what has been thought so far."""

    root: Any
    depth: int

    def done(self, state: Any) -> bool:
        """Whether nothing more is to be thought."""

    def propose(self, state: Any) -> str:
        """The prompt for next thoughts."""

    def read(self, state: Any, text: str) -> tuple[list[Any], list[str]]:
        """The states that a reply leads to, and the lines of it that are of no use."""

    def certain(self, state: Any) -> Optional[float]:
        """The value where it is known, else None."""

    def value(self, state: Any) -> str:
        """The prompt for a judgement."""

    def key(self, state: Any) -> Hashable:
        """Equal for states that are as good as the same."""

    def show(self, state: Any) -> str:
        """The state in one line."""


class Found(NamedTuple):
    """A state with its value."""

    state: Any
    value: float


def search(space: Space, host: noema.Host, breadth: int, votes: int, temperature: float) -> list[Found]:
    """The best states, best first: those at the last depth, or that are done."""
    frontier = [Found(space.root, 1.0)]
    for level in range(1, space.depth + 1):
        phase = f"D{level}"
        going = [f for f in frontier if not space.done(f.state)]
        if not going:
            break
        host.emit("phase_start", f"{len(going)} states", path=phase)
        thoughts = propose(space, host, phase, going, temperature)
        if not thoughts:
            host.emit("fallback", "no thought can be used: the search ends here", path=phase)
            break
        finished = [f for f in frontier if space.done(f.state)]
        frontier = select(finished + evaluate(space, host, phase, thoughts, votes, temperature), breadth)
        kept = [[space.show(f.state), f.value] for f in frontier]
        host.emit("phase_end", f"kept {len(kept)} of {len(thoughts)}", path=phase, data=kept)
    return frontier


def propose(space: Space, host: noema.Host, phase: str, going: list[Found], temperature: float) -> list[Any]:
    """The thoughts that follow the given states, each once, in the order of the states."""
    prompts = [space.propose(f.state) for f in going]
    replies = host.complete_many(prompts, path=f"{phase}/propose", temperature=temperature)
    thoughts = {}
    for i, (f, reply) in enumerate(zip(going, replies), 1):
        states, useless = space.read(f.state, reply.text)
        for state in states:
            thoughts.setdefault(space.key(state), state)
        if useless:
            host.emit("dropped", f"{len(useless)} lines: {useless[0][:80]}", path=f"{phase}/propose/{i}", level=2)
    return list(thoughts.values())


def evaluate(
    space: Space, host: noema.Host, phase: str, states: list[Any], votes: int, temperature: float
) -> list[Found]:
    """The states with their values: what is certain, or the sum of the model's votes."""
    values = [space.certain(s) for s in states]
    unsure = [i for i, v in enumerate(values) if v is None]
    replies = host.gather(
        host.request(space.value(states[i]), path=f"{phase}/value/{i + 1}", draw=vote, temperature=temperature)
        for i in unsure
        for vote in range(votes)
    )
    for n, i in enumerate(unsure):
        values[i] = sum(weigh(r.text) for r in replies[n * votes : (n + 1) * votes])
    return [Found(state, value or 0.0) for state, value in zip(states, values)]


def weigh(text: str) -> float:
    """What a vote weighs: by the last of the three words on the last line; nothing without one."""
    lines = text.strip().lower().splitlines()
    words = [w.strip(".,:;!*_`\"'()") for w in (lines[-1].split() if lines else [])]
    return next((WEIGHTS[w] for w in reversed(words) if w in WEIGHTS), 0.0)


def select(found: list[Found], breadth: int) -> list[Found]:
    """The best, and of equals the first."""
    return sorted(found, key=lambda f: -f.value)[:breadth]
