"""Tree of thoughts: several ways to go on are proposed, judged, and the best pursued."""

import prompts
from game24 import Game24
from search import search
from steps import Steps

import noema


class TreeOfThoughts:
    name = "tree-of-thoughts"
    version = "1"
    prompt_version = prompts.VERSION
    summary = "searches a tree of thoughts breadth first: propose, value, select (Yao et al. 2023)"
    answers = ("text", "number")
    options = (
        noema.Option("breadth", 5, "how many states are kept at each depth"),
        noema.Option("width", 8, "how many thoughts of one reply are taken"),
        noema.Option("votes", 1, "how often the model judges each state; more than one asks for a temperature"),
        noema.Option("temperature", 0.0, "of all calls; the paper's is 0.7"),
        noema.Option("depth", 8, "how many steps a word problem may take"),
    )

    def solve(self, problem: noema.Problem, host: noema.Host) -> noema.Answer:
        o = problem.options
        if min(o["breadth"], o["width"], o["votes"], o["depth"]) < 1:
            raise noema.Failed("tree-of-thoughts: breadth, width, votes and depth must be at least 1")
        space = Game24.of(problem, o["width"]) or Steps(problem, o["width"], o["depth"])
        found = search(space, host, o["breadth"], o["votes"], o["temperature"])
        return space.answer(found, host)


if __name__ == "__main__":
    noema.serve(TreeOfThoughts())
