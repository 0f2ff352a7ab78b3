# "AI Agents That Matter" (Kapoor et al. 2024): its programs for HumanEval, run again.
. "$(dirname "$0")/lib.sh"
OUT=$SOURCES/agent-evals/LLMDebugger/output_data
for agent in simple:simple:gpt-4-turbo-2024-04-09 warming:simple_incr_temp:gpt-4-turbo-0409-5step ldb:ldb:gpt-4-turbo-2024-04-09+gpt-4-turbo-2024-04-09; do
	name=${agent%%:*} path=${agent#*:}
	folder=$OUT/${path%%:*}/humaneval/${path#*:}/run1
	cat "$folder"/*.jsonl >"$WORK/theirs"
	jq -c '{id: .task_id, answer: .solution}' "$WORK/theirs" >"$WORK/$name.jsonl"
	scored "$name" "$SOURCES/human-eval/data/HumanEval.jsonl.gz"
	row "$name, run 1: solved of 164" "$(of "$name" 'map(.right) | add')" "$(jq -s 'map(select(.is_solved)) | length' "$WORK/theirs")"
	row "$name, run 1: programs judged otherwise" "$(jq -rs --slurpfile theirs "$WORK/theirs" '(map({key: .sample, value: .["score.accuracy"]}) | from_entries) as $ours
		| [$theirs[] | select((.is_solved | if . then 1 else 0 end) != $ours[.task_id]) | .task_id] | length' "$WORK/$name.trials")" 0
	row "$name, run 1: tokens" "$(cat "$folder"/*.log | jq -s 'map(select(.type == "api_call") | .prompt_tokens + .completion_tokens) | add')" -
done
