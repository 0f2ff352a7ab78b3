# ANoT: the 18 folders of results that its repository holds, scored again.
. "$(dirname "$0")/lib.sh"
find "$SOURCES/anot/results" -name config.json | sort | while read -r config; do
	folder=$(dirname "$config")
	noema score "$folder/results_10.jsonl" --task "$SOURCES/anot/data/philly_cafes" -T items=frequent -T n=10 >"$WORK/run.txt"
	noema runs export last >"$WORK/run.trials"
	name=${folder#"$SOURCES"/anot/results/benchmarks/}
	row "${name%/run_1}: n, hits@1, hits@5" \
		"$(jq -rs '[length, (map(.["score.hits@1"]) | add), (map(.["score.hits@5"]) | add)] | map(tostring) | join(" ")' "$WORK/run.trials")" \
		"$(jq -r '.stats | [.total, .hits_at["1"].hits, .hits_at["5"].hits] | map(tostring) | join(" ")' "$config")"
done
