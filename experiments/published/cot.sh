# "Large Language Models are Zero-Shot Reasoners" (Kojima et al. 2022): the committed logs.
. "$(dirname "$0")/lib.sh"
for data in multiarith gsm8k; do
	for method in zero_shot zero_shot_cot; do
		name=${data}_$method log=$SOURCES/zero_shot_cot/log/$data\_$method.log
		grep '^GT : ' "$log" | jq -Rc '{id: "q\(input_line_number)", input: "question \(input_line_number)", target: (.[5:] | gsub(","; "") | tonumber)}' >"$WORK/$data-task.jsonl"
		grep '^pred_mode : ' "$log" | jq -Rc '{id: "q\(input_line_number)", answer: .[12:]}' >"$WORK/$name.jsonl"
		scored "$name" "$WORK/$data-task.jsonl"
		row "$data, $method: accuracy in %" "$(of "$name" 'map(.right) | 10000 * add / length | round / 100')" "$(sed -n 's/^accuracy : //p' "$log" | jq '. * 100 | round / 100')"
		of "$name" '.[] | {id: .sample, score: .right}' | jq -c . >"$WORK/$method.jsonl"
	done
	noema compare "$WORK/zero_shot_cot.jsonl" "$WORK/zero_shot.jsonl" >"$WORK/pair.txt"
	row "$data, cot against direct: difference, interval" "$(sed -n 's/^zero_shot_cot − zero_shot  *\([^ ]* \[[^]]*\]\).*/\1/p' "$WORK/pair.txt")" -
done
