# Fetches the sources at the commits by which the table was computed: sh fetch.sh FOLDER
set -eu
mkdir -p "${1:?name a folder}"
cd "$1"
while read -r repo commit; do
	name=${repo#*/}
	[ -d "$name" ] || git clone --quiet --filter=blob:none --no-checkout "https://github.com/$repo" "$name"
	git -C "$name" checkout --quiet "$commit"
done <<LIST
princeton-nlp/tree-of-thought-llm ab400345c5ea39d28ea6d7d3be0e417b11113c87
benediktstroebl/agent-evals 5ce7c0c5f988d5c8b5453bf26d3d8831232ca037
openai/human-eval 6d43fb980f9fee3c892a914eda09951f772ad10d
kojima-takeshi188/zero_shot_cot 5ef330fcdeec0cd26aee27943504f91f8ec1c33c
sierra-research/tau-bench 59a200c6d575d595120f1cb70fea53cef0632f6b
openai/grade-school-math 3101c7d5072418e28b9008a6636bde82a006892c
jimmy-academia/anot e8f9219ee7050bfcd323f7866580267c5ae2b118
reasoning-machines/pal f81ca2a9777f002f98a6b4d0f10b61bd5c8feb02
LIST
