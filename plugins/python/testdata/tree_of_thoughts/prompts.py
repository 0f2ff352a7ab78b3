"""What the model is asked. Whoever changes a word here changes VERSION."""

VERSION = "1"

GAME24_PROPOSE = """\
Game of 24: list next moves.

The numbers that are left must be joined to {goal} with + - * and /. A move takes two of them and puts their result in \
their place. Write the most promising moves, at most {width}, one a line, in the form of the example.

Example for 2 8 8 14:
2 + 8 = 10 (left: 8 10 14)
8 / 2 = 4 (left: 4 8 14)
14 - 8 = 6 (left: 2 6 8)

Numbers left: {left}
"""

GAME24_VALUE = """\
Game of 24: judge whether {goal} can be reached.

Can the numbers that are left be joined to {goal} with + - * and /, each used exactly once? Try a few ways in short, \
then end with one word on a line of its own: sure, if you found a way; likely, if you found none but the numbers are \
of a fitting size; impossible, if they are all too big or too small.

Example for 10 14:
10 + 14 = 24
sure

Example for 1 3 3:
1 * 3 * 3 = 9, (1 + 3) * 3 = 12: all too small
impossible

Numbers left: {left}
"""

STEPS_PROPOSE = """\
Word problem: list next steps.

Problem:
{problem}

Steps so far:
{steps}

Write at most {width} different ways to go on, one a line: each the next step alone, as what is computed and its \
calculation, such as "eggs sold: 16 - 7 = 9". Only if the steps so far give the answer, write instead one line that \
begins with "Answer:".
"""

STEPS_VALUE = """\
Word problem: judge the steps.

Problem:
{problem}

Steps so far:
{steps}

Does each step follow from the problem, and do they lead to what is asked? Say in short what is right or wrong, then \
end with one word on a line of its own: sure, if all are right; likely, if they may lead there; impossible, if one is \
wrong.
"""

STEPS_ANSWER = """\
Word problem: give the answer.

Problem:
{problem}

Steps so far:
{steps}

Complete the steps in short, then give the answer on a last line that begins with "Answer:".
"""
