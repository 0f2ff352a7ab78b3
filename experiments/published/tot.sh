# "Tree of Thoughts" (Yao et al. 2023): the committed logs of the Game of 24.
. "$(dirname "$0")/lib.sh"
LOGS=$SOURCES/tree-of-thought-llm/logs/game24
for log in tot:propose1_value3_greedy5 cot:naive_cot_sample_100 io:naive_standard_sample_100; do
	name=${log%%:*} file=$LOGS/gpt-4_0.7_${log#*:}_start900_end1000.json
	jq -c '.[] | ("game24-" + ("000" + (.idx + 1 | tostring))[-4:]) as $id | .ys | to_entries[] | {id: $id, epoch: (.key + 1), answer: .value}' "$file" >"$WORK/$name.jsonl"
	jq -c '.[] | ("game24-" + ("000" + (.idx + 1 | tostring))[-4:]) as $id | (if .infos then .infos | map(.r) else .accs end) | to_entries[]
		| {sample: $id, epoch: (.key + 1), "score.accuracy": (if .value == true or .value == 1 then 1 else 0 end)}' "$file" >"$WORK/$name-theirs.trials"
	scored "$name" "$SOURCES/tree-of-thought-llm/src/tot/data/24/24.csv"
	row "$name: answers judged otherwise" "$(cat "$WORK/$name.trials" "$WORK/$name-theirs.trials" | jq -s 'group_by([.sample, .epoch]) | map(select(.[0]["score.accuracy"] != .[1]["score.accuracy"])) | length')" 0
	for figure in "mean:map(.right) | add / length" "any:group_by(.sample) | map(map(.right) | max) | add / length" "first:map(select(.epoch == 1).right) | add / length"; do
		row "$name, ${figure%%:*}" "$(of "$name" "${figure#*:}")" "$(of "$name-theirs" "${figure#*:}")"
	done
	of "$name" 'group_by(.sample)[] | {id: .[0].sample, score: (map(.right) | max)}' | jq -c . >"$WORK/any-$name.jsonl"
done
noema compare "$WORK/any-tot.jsonl" "$WORK/any-cot.jsonl" >"$WORK/any.txt"
row "tot, any of 5, against cot, any of 100: wins/losses/ties" "$(sed -n 's/^any-tot − any-cot  *[^ ]* \[[^]]*\]  *\([^ ]*\).*/\1/p' "$WORK/any.txt")" -
row "the same: difference, interval, p" "$(sed -n 's/^any-tot − any-cot  *\([^ ]* \[[^]]*\]\)  *[^ ]*  *\([^ ]*\).*/\1, \2/p' "$WORK/any.txt")" -
