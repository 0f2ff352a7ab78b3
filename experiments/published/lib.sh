# What the scripts share. Each is run as "sh NAME.sh SOURCES", where SOURCES is the folder that
# fetch.sh filled, and prints a table of figures: ours, computed by noema, and theirs.
set -eu
SOURCES=${1:?name the folder of the sources: sh fetch.sh FOLDER fills one}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
NOEMA_HOME=$WORK/home
export NOEMA_HOME

# scored METHOD TASK: $WORK/METHOD.jsonl of answers, scored by noema; the trials are in $WORK/METHOD.trials.
scored() {
	noema score "$WORK/$1.jsonl" --task "$2" --method "$1" >"$WORK/$1.txt"
	noema runs export last >"$WORK/$1.trials"
}

# of METHOD FILTER: a figure of the trials' scores, of which each has sample, epoch and right.
of() {
	jq -rs "map({sample, epoch, right: (.[\"score.accuracy\"] // 0)}) | $2" "$WORK/$1.trials"
}

row() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
