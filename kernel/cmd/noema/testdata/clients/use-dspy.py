import sys
import dspy

dspy.configure(lm=dspy.LM("openai/gpt-4o", cache=False))
question = sys.stdin.read()
first = dspy.Predict("question -> answer")(question=question).answer
print("Answer:", dspy.ChainOfThought("question, draft -> answer")(question=question, draft=first).answer)
