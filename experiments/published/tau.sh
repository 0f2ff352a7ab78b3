# "tau-bench" (Yao et al. 2024): the committed trajectories of gpt-4o in the airline domain.
. "$(dirname "$0")/lib.sh"
LOG=$SOURCES/tau-bench/historical_trajectories/gpt-4o-airline.json
jq -c '.[] | {id: "task-\(.task_id)", epoch: (.trial + 1), reward}' "$LOG" >"$WORK/gpt-4o.jsonl"
jq -c '.reward = 0' "$WORK/gpt-4o.jsonl" >"$WORK/never.jsonl"
noema compare "$WORK/gpt-4o.jsonl" "$WORK/never.jsonl" >"$WORK/table.txt"
row "tasks and mean reward, with interval" "$(sed -n 's/^gpt-4o  *\([0-9]*  *[0-9.]* \[[^]]*\]\).*/\1/p' "$WORK/table.txt" | head -1)" "50  $(jq 'map(.reward) | add / length' "$LOG")"
for k in 1 2 3 4; do # C(right, k) / C(4, k), as the paper has pass^k
	row "pass^$k" "$(jq -s "def c(\$n; \$k): reduce range(\$k) as \$i (1; . * (\$n - \$i) / (\$i + 1)); group_by(.id) | map(c((map(.reward) | add); $k) / c(length; $k)) | add / length | . * 1000 | round / 1000" "$WORK/gpt-4o.jsonl")" -
done
