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
TIGER-AI-Lab/MMLU-Pro f418b116db00b065c2aea046518d8fcf74d39872
suzgunmirac/BIG-Bench-Hard 9ee07bd481feebf959a6b59d61ea57bdcf30964d
lupantech/PromptPG 7cf61b1bec07222fc24b4f5a1410911f77c2d2c9
ruixiangcui/AGIEval 5c77d073fda993f1652eaae3cf5d04cc5fd21d40
ysymyth/ReAct 6bdb3a1fd38b8188fc7ba4102969fe483df8fdc9
GAIR-NLP/AIME-Preview 7011a9eae7c4b78071f27b6f77f618d65608cfb0
allenai/contrast-sets e2b87316ba7b30093bc9ffbc340e6550cab79f67
google-research/url-nlp 452a21ad3dae5668c06ceeac21ff073e1e40f9be
openai/simple-evals ee3b0318d8d1d9d72755a4120879be65f7c07e9e
GAIR-NLP/abel 3a24ef24e9ea32708fe4fa4c36bf504a74b4bdf0
QwenLM/Qwen2.5-Math a45202bd16f1ec06f433442dc1152d0074773465
ZubinGou/math-evaluation-harness db77bc6bb2a17c90ed2d63e88ebd8c40a82858c5
RUCAIBox/Slow_Thinking_with_LLMs 834e1b79a6ebb307cca0c63f0ed4b10f91f1170c
aryopg/mmlu-redux 4563cfa79b659d76716e5b6019f46bba85fa02db
kennethleungty/DeepSeek-R1-Ollama-Simple-Evals 19e5045791a6750c6a3bde3ad24b3f6c2b4f7026
tobypullan/logit_cot_overthinking f02cd56b2b8c22008cbf6ed18cdb6759e6ed3964
LIST
