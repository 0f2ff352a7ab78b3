import sys
from aider.main import main

question = sys.stdin.read()
sys.exit(main(["--model", "openai/gpt-4o", "--no-git", "--yes-always", "--no-show-model-warnings", "--no-check-update", "--no-analytics", "--map-tokens", "0", "--message", question]))
