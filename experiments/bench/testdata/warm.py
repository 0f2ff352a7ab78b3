"""Inspect AI's side of the warm rerun: one generate(cache=True) a sample, scored,
against its mockllm. Prints a JSON object: its version, its accuracy, how many
answers the model gave (0 when all came from the cache), and the seconds of the
imports and of eval(). Usage: warm.py QUESTIONS.jsonl AT_ONCE LOGS"""
import json
import sys
import time

begun = time.perf_counter()
from importlib.metadata import version

from inspect_ai import Task, eval
from inspect_ai.dataset import json_dataset
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

imported = time.perf_counter()
questions, at_once, logs = sys.argv[1], int(sys.argv[2]), sys.argv[3]
asked = 0


def answer(input, tools, tool_choice, config):
    global asked
    asked += 1
    output = ModelOutput.from_content("mockllm/model", "yes")
    output.usage = ModelUsage(input_tokens=400, output_tokens=1, total_tokens=401)  # or it fetches a tokenizer
    return output


log = eval(
    Task(dataset=json_dataset(questions), solver=generate(cache=True), scorer=match()),
    model=get_model("mockllm/model", custom_outputs=answer),
    max_samples=at_once, max_connections=at_once, log_dir=logs, display="none",
)[0]
if log.status != "success":
    sys.exit(f"eval: {log.status}: {log.error and log.error.message}")
json.dump({
    "version": version("inspect-ai"), "asked": asked,
    "accuracy": log.results.scores[0].metrics["accuracy"].value,
    "import_s": imported - begun, "eval_s": time.perf_counter() - imported,
}, sys.stdout)
