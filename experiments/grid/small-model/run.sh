# Runs the experiment, replays it, and writes its tables: sh run.sh NOEMA MODEL OUT [SAMPLES [CORES]]
#
# NOEMA is the program, MODEL SmolLM2-135M-Instruct.Q4_1.gguf, OUT a folder for what comes out. coin_flip.json lies beside
# this script. An engine scales to two cores or so: one process for every two serves the model to the run. No network is
# needed but this machine's own, and a run that was cut off goes on when the same line is given again.
set -eu
[ $# -ge 3 ] || { echo "usage: sh run.sh NOEMA MODEL OUT [SAMPLES [CORES]]" >&2; exit 2; }
noema=$(realpath "$1") model=$(realpath "$2")
mkdir -p "$3"
out=$(realpath "$3") samples=${4:-20} cores=${5:-$(nproc)}
cd "$(dirname "$0")"
servers=$(((cores + 1) / 2)) # this run's own engine is one of them
NOEMA_HOME=${NOEMA_HOME:-$out/home} GOMAXPROCS=2
NOEMA_JOIN_TOKEN=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
export NOEMA_HOME GOMAXPROCS NOEMA_JOIN_TOKEN
[ -e "$NOEMA_HOME/models/smollm2" ] || "$noema" model import "$model" --name smollm2

# run LOG ARGUMENTS: trials that fail are in the tables, and do not end this script.
run() {
	log=$1
	shift
	rc=0
	"$noema" run experiment.yaml --limit "$samples" "$@" >"$out/$log.txt" 2>"$out/$log.log" || rc=$?
	[ "$rc" = 0 ] || [ "$rc" = 3 ] || { tail -n 5 "$out/$log.log" >&2; exit "$rc"; }
}

began=$(date +%s) pids=
trap '[ -z "$pids" ] || kill $pids 2>/dev/null || true' EXIT
for i in $(seq 2 "$servers"); do
	"$noema" worker --join nats://127.0.0.1:42237 --serve local/smollm2 --slots 0 --wait 2m >"$out/worker-$i.log" 2>&1 &
	pids="$pids $!"
done
run run --listen 127.0.0.1:42237 --max-samples $((servers * 4)) --max-connections $((servers * 4))
echo "run: $(($(date +%s) - began)) s, $samples samples, $cores cores"

"$noema" compare last --baseline cot --curve tokens --md >"$out/table.md"
"$noema" compare last --baseline cot --curve tokens --json >"$out/table.json"
"$noema" runs export last >"$out/trials.jsonl"
rm -f "$out/study.noema"
"$noema" pack last -o "$out/study.noema"
began=$(date +%s)
run replay --cache replay --fresh
echo "replay: $(($(date +%s) - began)) s"
sed -n 's/^root  *//p' "$out/run.txt" "$out/replay.txt"
[ "$(sed -n 's/^root//p' "$out/run.txt")" = "$(sed -n 's/^root//p' "$out/replay.txt")" ] || { echo "the roots differ" >&2; exit 4; }
