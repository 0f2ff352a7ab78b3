# "AI Agents That Matter" (Kapoor et al. 2024): its programs for HumanEval, those of each first run run
# again, and what five runs of each agent come to.
. "$(dirname "$0")/lib.sh"
OUT=$SOURCES/agent-evals/LLMDebugger/output_data
tokens() { cat "$1"/*.log | jq -s 'map(select(.type == "api_call") | .prompt_tokens + .completion_tokens) | add'; }
for agent in simple:simple:gpt-4-turbo-2024-04-09 retry:simple_repeat:gpt-4-turbo-0409-5repeats-0.5temp warming:simple_incr_temp:gpt-4-turbo-0409-5step \
	escalation:simple_boosting:l3_8b-gpt-3.5-turbo-0613-l3_70b-gpt4-0613 ldb:ldb:gpt-4-turbo-2024-04-09+gpt-4-turbo-2024-04-09 ldb-reflexion:ldb:gpt-4-turbo-2024-04-09+reflexion; do
	name=${agent%%:*} path=${agent#*:}
	folder=$OUT/${path%%:*}/humaneval/${path#*:}
	cat "$folder"/run1/*.jsonl >"$WORK/theirs"
	jq -c '{id: .task_id, answer: .solution}' "$WORK/theirs" >"$WORK/$name.jsonl"
	scored "$name" "$SOURCES/human-eval/data/HumanEval.jsonl.gz"
	row "$name, run 1: solved of 164" "$(of "$name" 'map(.right) | add')" "$(jq -s 'map(select(.is_solved)) | length' "$WORK/theirs")"
	row "$name, run 1: programs judged otherwise" "$(jq -rs --slurpfile theirs "$WORK/theirs" '(map({key: .sample, value: .["score.accuracy"]}) | from_entries) as $ours
		| [$theirs[] | select((.is_solved | if . then 1 else 0 end) != $ours[.task_id]) | .task_id] | length' "$WORK/$name.trials")" 0
	row "$name, run 1: tokens" "$(tokens "$folder/run1")" -
	for run in 1 2 3 4 5; do
		cat "$folder/run$run"/*.jsonl | jq -c "{id: .task_id, epoch: $run, score: (if .is_solved then 1 else 0 end)}"
		tokens "$folder/run$run" >>"$WORK/$name.tokens"
	done >"$WORK/$name-5.jsonl"
	row "$name, five runs: mean solved, mean tokens" "$(jq -rs 'map(.score) | add / 5' "$WORK/$name-5.jsonl"), $(jq -s 'add / 5 | round' "$WORK/$name.tokens")" -
done
cd "$WORK"
noema compare ldb-5.jsonl ldb-reflexion-5.jsonl warming-5.jsonl retry-5.jsonl escalation-5.jsonl simple-5.jsonl >pairs.txt
for pair in warming:simple warming:retry warming:escalation ldb:warming ldb-reflexion:warming ldb:simple; do
	row "${pair%%:*} against ${pair#*:}, five runs: difference, interval, p of 15 pairs" \
		"$(sed -n "s/^${pair%%:*}-5 − ${pair#*:}-5  *\([-+0][^ ]* \[[^]]*\]\)  *[^ ]*  *\(< [^ ]*\|[^ ]*\).*/\1, \2/p" pairs.txt)" -
done
