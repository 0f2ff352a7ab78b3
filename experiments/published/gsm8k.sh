# "Training Verifiers to Solve Math Word Problems" (Cobbe et al. 2021): the committed solutions.
. "$(dirname "$0")/lib.sh"
DATA=$SOURCES/grade-school-math/grade_school_math/data/example_model_solutions.jsonl
jq -c '{id: "q\(input_line_number)", input: .question, target: (.ground_truth | split("\nA: ") | last | gsub("[,$]"; "") | tonumber)}' "$DATA" >"$WORK/task.jsonl"
for model in 6b_finetuning 6b_verification 175b_finetuning 175b_verification; do
	jq -c "{id: \"q\(input_line_number)\", answer: (.[\"$model\"].solution | \"Answer:\" + (split(\"\\nA:\") | last))}" "$DATA" >"$WORK/$model.jsonl"
	jq -c "{sample: \"q\(input_line_number)\", right: (if .[\"$model\"].is_correct then 1 else 0 end)}" "$DATA" >"$WORK/theirs"
	scored "$model" "$WORK/task.jsonl"
	row "$model: right of 1319" "$(of "$model" 'map(.right) | add')" "$(jq -s 'map(.right) | add' "$WORK/theirs")"
	row "$model: solutions judged otherwise" "$(jq -c '{sample, right: (.["score.accuracy"] // 0)}' "$WORK/$model.trials" | cat - "$WORK/theirs" | jq -s 'group_by(.sample) | map(select(.[0].right != .[1].right)) | length')" 0
	of "$model" '.[] | {id: .sample, score: .right}' | jq -c . >"$WORK/$model.scores.jsonl"
done
for pair in 6b_verification:175b_finetuning 175b_verification:6b_verification; do
	noema compare "$WORK/${pair%%:*}.scores.jsonl" "$WORK/${pair#*:}.scores.jsonl" >"$WORK/pair.txt"
	row "${pair%%:*} against ${pair#*:}: difference, interval" "$(sed -n 's/^[0-9].* − [^ ]*  *\([-+][^ ]* \[[^]]*\]\).*/\1/p' "$WORK/pair.txt")" -
done
