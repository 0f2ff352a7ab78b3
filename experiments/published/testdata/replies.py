#!/usr/bin/env python3
"""Makes replies that models wrote to public data sets into files that noema reads, with the verdict of the scorer of
their own project beside each: python3 replies.py SOURCES OUT [GROUP...]

SOURCES is the folder that fetch.sh fills. OUT/SET has task.jsonl and pred.jsonl (the task and the replies, as for
"noema score"), official.jsonl (id, official 0 or 1, pred: what that scorer read) and meta.json (the source, and further
arguments of "noema score"). Scorers are run from their projects, or written again where a project has a few lines of
them; random guesses of theirs are left out. Where replies are made of the right answers, official is 1 by construction.
"""
import ast, csv, io, json, os, random, re, subprocess, sys, warnings, zipfile
warnings.filterwarnings("ignore")
if len(sys.argv) < 3: sys.exit(__doc__)
SOURCES, OUT, CAP = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), 3000
def git(repo, *args):
    return subprocess.run(["git", "-C", f"{SOURCES}/{repo.split('+')[-1]}", *args], capture_output=True, check=True).stdout
def show(repo, path): return git(repo, "show", "HEAD:" + path)
def ls(repo, folder): return git(repo, "ls-tree", "-r", "--name-only", "HEAD", folder).decode().split("\n")
ns = {}
exec(compile(show("ruixiangcui+AGIEval", "src/math_equivalence.py").decode(), "math_equivalence.py", "exec"), ns)
is_equiv = ns["is_equiv"]
src = show("ruixiangcui+AGIEval", "src/post_process.py").decode().replace("from src import dataset_loader", "")
ns2 = {}
exec(compile(src, "post_process.py", "exec"), ns2)
parse_math_answer = ns2["parse_math_answer"]
def last_boxed(s):
    i = s.rfind("\\boxed")
    if i < 0: i = s.rfind("\\fbox")
    if i < 0: return None
    if s[i:].startswith("\\boxed "): return s[i+7:].split("$")[0]
    d = 0
    for j in range(i, len(s)):
        if s[j] == "{": d += 1
        elif s[j] == "}":
            d -= 1
            if d == 0: return s[s.index("{", i)+1:j]
    return None
def write(name, rows, source, extra=(), cap=CAP, note=""):
    """rows: (id, input, target, choices or None, output, official 0/1, pred)"""
    if len(rows) > cap:
        keep = sorted(random.Random(46).sample(range(len(rows)), cap)); rows = [rows[i] for i in keep]
    d = f"{OUT}/{name}"; os.makedirs(d, exist_ok=True)
    seen = {}
    N = re.compile(r"-?\d[\d,]*(\.\d+)?|-?\.\d+")
    num = (not extra and not name.endswith("-str") and rows and all(r[3] is None and N.fullmatch(str(r[2])) for r in rows))
    def number(t):
        t = t.replace(",", ""); return float(t) if "." in t and float(t) != int(float(t)) else int(float(t))
    with open(d+"/task.jsonl","w") as t, open(d+"/pred.jsonl","w") as p, open(d+"/official.jsonl","w") as o:
        for id_, inp, target, choices, output, off, pred in rows:
            id_ = str(id_); k = seen[inp] = seen.get(inp, 0) + 1
            if k > 1: inp = f"{inp} [{k}]"
            r = {"id": id_, "input": inp, "target": number(target) if num else target}
            if choices: r["choices"] = choices
            t.write(json.dumps(r, ensure_ascii=False)+"\n")
            p.write(json.dumps({"id": id_, "output": output}, ensure_ascii=False)+"\n")
            o.write(json.dumps({"id": id_, "official": int(bool(off)), "pred": pred}, ensure_ascii=False)+"\n")
    json.dump({"source": source, "extra": list(extra), "note": note}, open(d+"/meta.json","w"))
    print(f"{name}: {len(rows)} rows, official {sum(bool(r[5]) for r in rows)/max(1,len(rows)):.4f}")
def jl(repo, path): return [json.loads(l) for l in show(repo, path).decode().split("\n") if l.strip()]

# MMLU-Pro: compute_accuracy.py / evaluate_from_local.py extract_answer (l2), no random fallback
def mmlupro():
    def ex(t):
        m = re.search(r"answer is \(?([A-J])\)?", t)
        if m: return m.group(1)
        m = re.search(r'.*[aA]nswer:\s*([A-J])', t)
        if m: return m.group(1)
        m = re.search(r"\b[A-J]\b(?!.*\b[A-J]\b)", t, re.DOTALL)
        return m.group(0) if m else None
    for short, m in [x for x in [("llama31-8b","Meta-Llama-3_1-8B-Instruct"),("phi3-mini","Phi-3-mini-4k-instruct"),("qwen15-72b","Qwen1.5-72B-Chat"),
                     ("gemini15-pro","gemini-1.5-pro-002"),("mistral-7b","Mistral-7B-Instruct-v0.2"),("deepseek-coder2","DeepSeek-Coder-V2")] if x[0].startswith(os.environ.get("ONLY",""))]:
        z = zipfile.ZipFile(io.BytesIO(show("TIGER-AI-Lab+MMLU-Pro", f"eval_results/model_outputs_{m}_5shots.zip")))
        n = [x for x in z.namelist() if x.endswith(".json") and "MACOSX" not in x][0]
        rows = []
        data = json.loads(z.read(n))
        if isinstance(data, dict): data = [x for v in data.values() for x in (v if isinstance(v, list) else [v])]
        for i, r in enumerate(data):
            if isinstance(r, str): continue
            out = r.get("generated_text") or r.get("model_outputs") or ""
            opts = [str(o) for o in r["options"]]
            if not out.strip() or len(opts) < 2: continue
            p = ex(out)
            rows.append((f"{r['question_id']}-{i}", r["question"], r["answer"], opts, out, p == r["answer"], p))
        write("mmlupro-"+short, rows, f"TIGER-AI-Lab/MMLU-Pro eval_results/{m}; scorer compute_accuracy.py (l2, no random)")

def bbh():
    base = "code-davinci-002-outputs/code-davinci-002-cot/"
    listed = ls("suzgunmirac+BIG-Bench-Hard", base)
    allg = []
    for f in listed:
        if not f.endswith("255000.json"): continue
        task = os.path.basename(f).replace("_few_shot_template_0-255000.json","")
        rows = []
        parsed = []
        for i, r in enumerate(json.loads(show("suzgunmirac+BIG-Bench-Hard", f))["outputs"]):
            q = r["input"].split("\n\nQ:")[-1]; q = re.sub(r"\s*A: Let's think step by step\.\s*$","",q).strip()
            out, tgt = r["prediction"], r["target"]
            # BBH publishes no code; text after the last 'the answer is ', one final stop off, exact match; checked against its *_eval_metrics.jsonl
            p = out.split("the answer is ")[-1].split("\n")[0].strip() if "the answer is " in out else out.strip()
            if p.endswith("."): p = p[:-1]
            ok = p == tgt
            opts = re.findall(r"^\(([A-Z])\) ?(.*)$", q, re.M)
            parsed.append((opts if opts and [o[0] for o in opts] == [chr(65+k) for k in range(len(opts))] else None))
            rows.append([f"{task}-{i}", q, tgt, None, out, ok, p])
        mc = all(re.fullmatch(r"\([A-Z]\)", r[2]) for r in rows) and all(parsed)
        for r, o in zip(rows, parsed):
            if mc: r[2] = r[2].strip("()"); r[3] = [x[1] for x in o]
        acc = json.loads(show("suzgunmirac+BIG-Bench-Hard", f.replace(".json","_eval_metrics.jsonl")).decode().splitlines()[0])
        write("bbh-"+task, [tuple(r) for r in rows], f"suzgunmirac/BIG-Bench-Hard {base}; text after 'the answer is ', exact (published: {acc})")
        if not mc:
            for r in rows: allg.append((r[0]+"-g", r[1], r[2], None, f"Let me think. It follows from the rules. So the answer is {r[2]}.", 1, r[2]))
    write("bbhgold-sentence", allg, "golds of BBH tasks without labels, 'So the answer is G.'; official 1 by construction", cap=6000)

def tabmwp():
    P = json.loads(show("lupantech+PromptPG","data/tabmwp/problems_test1k.json"))
    u = show("lupantech+PromptPG","run_gpt3/utilities.py").decode()
    u = u.replace("scores = [score_string_similarity","return None\n        scores = [score_string_similarity").replace("ind = random.choice(range(len(options)))","return None").replace("import numpy as np","")
    ns = {}; exec(u, ns)
    g = show("lupantech+PromptPG","run_gpt3/run_gpt3.py").decode()
    exec("import re\n"+g[g.index("def normalize_answer"):g.index("def get_result_file")], ns)
    for f in ["exp1_test_TQ-A_0","exp3_test_TQ-A_2","exp4_test_TQ-SA_2"]:
        R = json.loads(show("lupantech+PromptPG", f"results/gpt3/{f}_seed_2.json"))["results"]
        rows = []
        for pid, p in P.items():
            if pid not in R: continue
            r = R[pid]; out = r["output"].replace("\\n","\n"); ch = p["choices"]
            pr = ns["extract_prediction"](r["output"], ch, list("ABCDEF"))
            off = pr is not None and ns["normalize_answer"](pr,p["unit"]).lower() == ns["normalize_answer"](p["answer"],p["unit"]).lower()
            if ch:  # exact option text in the sentence also counts as the project's similarity = 2.0
                if pr is None:
                    s = re.sub(r"(?<![AP]\.M)\.$","",out).strip()
                    s = s.split("he answer is ")[-1]
                    if s in ch: pr = s; off = s == p["answer"]
            q = ((p["table_title"] or "")+"\n"+p["table"]+"\n"+p["question"]+(f" (unit: {p['unit']})" if p["unit"] else "")).strip()
            t = p["answer"]
            if ch: t = chr(65+ch.index(p["answer"]))
            rows.append((pid, q, t, ch, out, off, pr))
        mixed = rows
        isn = lambda r: re.fullmatch(r"-?\d[\d,]*(\.\d+)?", r[2])
        write("tabmwp-"+f.split("_")[0]+"-text", [r for r in mixed if not r[3] and not isn(r)], f"lupantech/PromptPG results/gpt3/{f}; same scorer; targets that are fractions or words")
        write("tabmwp-"+f.split("_")[0]+"-num", [r for r in mixed if not r[3] and isn(r)], f"lupantech/PromptPG results/gpt3/{f}; run_gpt3/utilities.py extract_prediction + normalize_answer", note="rows of problems_test1k")
        write("tabmwp-"+f.split("_")[0]+"-choice", [r for r in mixed if r[3]], f"lupantech/PromptPG results/gpt3/{f}; extract_prediction without the most-similar-option guess")

def golds():
    F = {"box":"So we get the value.\n\n$\\boxed{%s}$.","minerva":"So we get the value.\nThe final answer is: $\\boxed{%s}$. I hope it is correct.",
         "paren":"So we get the value.\n\nTherefore, the answer is \\(\\boxed{%s}\\).","answer":"So we get the value.\nAnswer: %s","sentence":"So we get the value.\nThe answer is $%s$."}
    M = jl("ruixiangcui+AGIEval","data/v1/math.jsonl")
    for k, f in F.items():
        rows = [(f"m{i}", r["question"], r["answer"], None, f % r["answer"] if True else 0, 1, r["answer"]) for i, r in enumerate(M)]
        write("mathgold-"+k, rows, f"ruixiangcui/AGIEval data/v1/math.jsonl golds, form {f!r}; official 1 by construction", ["--scorer","math"])
    other = []
    for nm, fld in [("college_math","answer"),("gaokao2023en","answer")]:
        for i, r in enumerate(jl("QwenLM+Qwen2.5-Math",f"evaluation/data/{nm}/test.jsonl")):
            a = r["answer"].strip(); a = a.strip("$") if a.count("$") <= 2 else a
            if "$" in a or not a: continue
            other.append((f"{nm}{i}", r["question"], a, None, F["minerva"] % a, 1, a))
    for nm in ["EN-HARD","EN-EASY"]:
        for r in jl("RUCAIBox+Slow_Thinking_with_LLMs",f"OlymMATH/data/OlymMATH-{nm}.jsonl"):
            other.append((r["unique_id"], r["problem"], r["answer"], None, F["minerva"] % r["answer"], 1, r["answer"]))
    write("mathgold-others", other, "Qwen2.5-Math college_math+gaokao2023en, OlymMATH golds, minerva ending; official 1 by construction", ["--scorer","math"])
    write("mathgold-others-box", [(r[0], r[1], r[2], None, F["box"] % r[2], 1, r[2]) for r in other], "the same golds, plain box", ["--scorer","math"])
    def pert(g, j):
        o = []
        if g.startswith("\\frac"): o.append("1"+g)
        if g.startswith("-"): o.append(g[1:])
        elif re.match(r"[\d\\]", g): o.append("-"+g)
        if re.fullmatch(r"[(\[].*,.*[)\]]", g): o.append(("[" if g[0]=="(" else "(")+g[1:]); a = g[1:-1].split(","); o.append(g[0]+",".join(a[::-1])+g[-1]) if len(a) == 2 else None
        if re.fullmatch(r"\d+", g): o += [g+"\\%", g+"0", g+" million", g+"^\\circ", g+".5"]
        if re.fullmatch(r"\d+\.\d+", g): o += [g+"1", g.replace(".","")]
        if "\\sqrt" in g: o.append(g.replace("\\sqrt","",1))
        if "x" in g and "\\" not in g: o.append(g.replace("x","y"))
        o.append(M[j]["answer"])
        return [x for x in o if x]
    rng = random.Random(46); neg = []
    for i, r in enumerate(M):
        for k, x in enumerate(pert(r["answer"], rng.randrange(len(M)))):
            neg.append((f"n{i}-{k}", r["question"], r["answer"], None, F["box"] % x, is_equiv(x, r["answer"]), x))
    write("mathneg-box", neg, "AGIEval MATH golds changed (1\\frac, sign, bracket, order, %, 0, million, degrees, root, variable, another gold) as replies; official is_equiv of hendrycks/math", ["--scorer","math"], cap=5000)
    H = json.loads(show("ysymyth+ReAct","data/hotpot_dev_v1_simplified.json"))
    for k, f in {"answer":"Thought: I can tell now.\nAnswer: %s","so":"I can tell now. So the answer is %s.","known":"The answer is %s. It is well known."}.items():
        write("hotpot-"+k, [(f"h{i}", r["question"], r["answer"], None, f % r["answer"], 1, r["answer"]) for i, r in enumerate(H)],
              f"ysymyth/ReAct hotpot_dev golds, form {f!r}; official 1 by construction (EM of wrappers.py)", cap=10000)
    A = [(f"24-{r['id']}", r["problem"], str(r["answer"])) for r in jl("GAIR-NLP+AIME-Preview","eval/data/aime/test2024.jsonl")]
    for s in ["I","II"]: A += [(f"25-{r['id']}", r["problem"], str(r["answer"])) for r in jl("GAIR-NLP+AIME-Preview",f"eval/data/aime/test2025-{s}.jsonl")]
    rows = []
    for k, f in {"box":"Summing up, there are two cases.\n\n**Final Answer**\n\\boxed{%s}","pad":"Therefore, the answer is $\\boxed{%03d}$.","bold":"### Answer\n\n**%03d**","disp":"Thus\n\\[\n\\boxed{%s}\n\\]","md":"**Answer:** %s","minerva":"Final Answer: The final answer is $%s$. I hope it is correct.","text":"So $m+n = 5 + 2$. The final answer is $\\boxed{\\text{%s}}$."}.items():
        for i, q, a in A: rows.append((f"{i}-{k}", q, a, None, f % (int(a) if "%03d" in f else a), 1, a))
    write("aimegold", rows, "GAIR-NLP/AIME-Preview eval/data/aime 2024+2025 golds, seven endings; official 1 by construction")
    D = json.loads(show("allenai+contrast-sets","DROP/drop_contrast_sets_test.json"))
    rows = {"answer":[], "sentence":[]}
    for pid, v in D.items():
        for qa in v["qa_pairs"]:
            a = qa["answer"]
            if a.get("number"): g = str(a["number"])
            elif a.get("spans") and len(a["spans"]) == 1: g = a["spans"][0]
            elif a.get("date") and any(a["date"].values()): g = " ".join(a["date"][k] for k in ("day","month","year") if a["date"].get(k))
            else: continue
            q = v["passage"]+"\n\n"+qa["question"]; n = qa["query_id"]+str(len(rows["answer"]))
            rows["answer"].append((n, q, g, None, f"Counting what the passage lists.\nAnswer: {g}", 1, g))
            rows["sentence"].append((n, q, g, None, f"Counting what the passage lists. So the answer is {g}.", 1, g))
    for k in rows:
        num = [r for r in rows[k] if re.fullmatch(r"[\d.,]+", r[2])]; txt = [r for r in rows[k] if not re.fullmatch(r"[\d.,]+", r[2])]
        write("drop-num-"+k, num, "allenai/contrast-sets DROP golds (numbers); official 1 by construction (EM of simple-evals/drop_eval.py)")
        write("drop-text-"+k, txt, "allenai/contrast-sets DROP golds (spans, dates); official 1 by construction")
    PFX = {"en":"Answer","bn":"উত্তর","de":"Antwort","es":"Respuesta","fr":"Réponse","ja":"答え","ru":"Ответ","sw":"Jibu","te":"సమాధానం","th":"คำตอบ","zh":"答案"}
    SENT = {"bn":"উত্তর হল %s।","de":"Die Antwort ist %s.","zh":"答案是 %s。","th":"คำตอบคือ %s","es":"La respuesta es %s.","fr":"La réponse est %s.","ja":"答えは%sです。","ru":"Ответ — %s.","sw":"Jibu ni %s.","te":"సమాధానం %s.","en":"The answer is %s."}
    def parse(ans, pre):
        t = ans.split(pre)[-1].strip(); n = re.findall(r"\d+\.?\d*", t.replace(",","")); return n[-1].rstrip(".") if n else ""
    exs = show("google-research+url-nlp","mgsm/exemplars.py").decode()
    for grp, langs in {"mgsm4":["bn","de","th","zh"],"mgsm-rest":["es","fr","ja","ru","sw","te","en"]}.items():
        for form in ["prefix","sentence"]:
            rows = []
            for l in langs:
                for i, line in enumerate(show("google-research+url-nlp",f"mgsm/mgsm_{l}.tsv").decode().strip().splitlines()):
                    q, t = line.split("\t"); t = t.strip().replace(",","")
                    o = f"5 + 6 = 11\n{PFX[l]}: {t}" if form == "prefix" else "5 + 6 = 11. "+SENT[l] % t
                    p = parse(o, PFX[l])
                    rows.append((f"{l}{i}", q, t, None, o, (p.rstrip("0").rstrip(".") if "." in p else p) == t, p))
            write(f"{grp}-{form}", rows, "google-research/url-nlp mgsm golds in simple-evals' prefix or exemplars.py's own sentence; scorer openai/simple-evals mgsm_eval.py")
    # exemplars' own chains (native prose), 8 per language
    ns = {}; exec(exs, ns)
    rows = []
    for k, v in ns.items():
        if isinstance(v, dict) and "EXEMPLAR" in k.upper() or (isinstance(v, dict) and v and not k.startswith("__")):
            for l, ee in v.items():
                if isinstance(ee, dict):
                    for n, e in ee.items():
                        if isinstance(e, dict) and e.get("a"):
                            nums = re.findall(r"-?\d[\d,]*\.?\d*", e["a"]); 
                            if nums: rows.append((f"{k}-{l}-{n}", e["q"], nums[-1].rstrip(".").replace(",",""), None, e["a"], 1, nums[-1]))
    if rows: write("mgsm-exemplars", rows, "google-research/url-nlp mgsm/exemplars.py chains; last number of the chain = gold")

def solutions():
    rows = []
    for i, r in enumerate(jl("ZubinGou+math-evaluation-harness","data/math/test.jsonl")):
        a = last_boxed(r["solution"])
        if a is None: continue
        rows.append((f"s{i}", r["problem"], a, None, r["solution"], 1, a))
    write("math-solutions", rows, "ZubinGou/math-evaluation-harness data/math/test.jsonl: reference solutions as replies, gold = last \\boxed", ["--scorer","math"])
    rows = []
    for i, r in enumerate(jl("openai+grade-school-math","grade_school_math/data/test.jsonl")):
        g = re.search(r"#### (\-?[0-9\.\,]+)", r["answer"]).group(1).replace(",","")
        rows.append((f"g{i}", r["question"], g, None, r["answer"], 1, g))
    write("gsm8k-solutions", rows, "openai/grade-school-math test.jsonl solutions as replies; dataset.py extract_answer")
    rows = []
    for i, r in enumerate(jl("openai+grade-school-math","grade_school_math/data/example_model_solutions.jsonl")):
        g = r["ground_truth"].split("A: ")[-1].strip().replace(",","")
        for k in ["6b_finetuning","6b_verification","175b_finetuning","175b_verification"]:
            s = r[k]["solution"]; rows.append((f"g{i}-{k}", r["question"], g, None, s, r[k]["is_correct"], s.split("A: ")[-1] if "A: " in s else None))
    write("gsm8k-gpt3", rows, "openai/grade-school-math example_model_solutions.jsonl; the file's is_correct")
    for m in ["70b","7b"]:
        rows = [(f"a{r['id']}", r["prompt"].replace("Question:\n","").split("\nAnswer:")[0], r["gold"], None, r["response"], r["result"], r["pred"]) for r in jl("GAIR-NLP+abel",f"outputs/gsm8k/{m}.jsonl")]
        if m == "70b": write("gsm8k-abel-70b-str", rows, "the same with targets as JSON strings")
        write("gsm8k-abel-"+m, rows, "GAIR-NLP/abel outputs/gsm8k; result of evaluation/inference.py")
    rows = []
    for r in jl("GAIR-NLP+abel","outputs/mathgpt/70b.jsonl"):
        q = r["prompt"].replace("Question:\n","").split("\nAnswer:")[0]
        opts = re.findall(r"^([A-E])\. ?(.*)$", q, re.M)
        if [o[0] for o in opts] != [chr(65+k) for k in range(len(opts))] or len(opts) < 2 or r["gold"] not in "ABCDE" or not r["gold"]: continue
        rows.append((f"t{r['id']}", q, r["gold"], [o[1] for o in opts], r["response"], r["result"], r["pred"]))
    write("mathgpt-abel-70b", rows, "GAIR-NLP/abel outputs/mathgpt/70b.jsonl; result of evaluation/inference.py")
    rows = []
    for r in jl("QwenLM+Qwen2.5-Math","evaluation/data/eval_rm_maj_example/math_cot_100.jsonl"):
        for k, (c, p, s) in enumerate(zip(r["response"], r["pred"], r["score"])):
            rows.append((f"q{r['idx']}-{k}", r["question"], r["gt"], None, c, s, p))
    write("math-qwen", rows, "QwenLM/Qwen2.5-Math eval_rm_maj_example/math_cot_100.jsonl: 100 problems, all samples; the file's score", ["--scorer","math"])

def kojima():
    for ds in ["gsm8k","aqua","commonsensqa","svamp","strategyqa","date_understanding","shuffled_objects","last_letters","coin_flip","multiarith","addsub","singleeq"]:
        t = show("kojima-takeshi188+zero_shot_cot",f"log/{ds}_zero_shot_cot.log").decode("utf-8","replace")
        rows = []
        for b in re.split(r"\n\d+st data\n", t)[1:]:
            m = re.search(r"Q: (.*?)\nA: (Let's think step by step\..*?)\npred_before :(.*?)\npred_after : (.*?)\npred_list.*?\npred_mode : (.*?)\nGT : (.*?)\n", b+"\n", re.S)
            if not m: continue
            q, a, pb, pa, pm, gt = [x.strip() for x in m.groups()]
            ch = None
            mm = re.search(r"Answer Choices: (.*)$", q, re.S)
            if mm:
                ch = re.findall(r"\(([A-F])\) ?(.*?)(?= \([A-F]\)|$)", mm.group(1), re.S)
                if [c[0] for c in ch] != [chr(65+k) for k in range(len(ch))] or len(ch) < 2: continue
                ch = [c[1].strip() or "-" for c in ch]
                if len(set(ch)) < len(ch): continue
            ok = pm == gt if not re.fullmatch(r"-?[\d.]+", gt) else (lambda x: x is not None and abs(x-float(gt)) < 1e-9)(float(pm) if re.fullmatch(r"-?\d+\.?\d*", pm) else None)
            rows.append((f"{ds}{len(rows)}", q, gt, ch, a, ok, pm))
        write("zscot-"+ds, rows, f"kojima-takeshi188/zero_shot_cot log/{ds}_zero_shot_cot.log; pred_after of utils.py answer_cleansing")

def helm():
    r0 = "aryopg+mmlu-redux"
    listed = ls(r0, "outputs/original_helm")
    by = {}
    for f in listed:
        if f.endswith(".json"): by.setdefault(f.split("/")[2], []).append(f)
    rows = []
    for m, fs in by.items():
        for f in fs:
            try: text = show(r0, f)
            except Exception: continue
            for k, s in enumerate(json.loads(text)["request_states"]):
                om = s.get("output_mapping") or {}
                if list(om) != ["A","B","C","D"]: continue
                g = [x["output"]["text"] for x in s["instance"]["references"] if "correct" in x["tags"]]
                if len(g) != 1 or len(set(om.values())) < 4 or any(re.fullmatch("[A-Da-d]", v.strip()) for v in om.values()): continue
                L = [a for a, b in om.items() if b == g[0]]
                out = s["result"]["completions"][0]["text"]
                if not L or not out.strip(): continue
                rows.append((f"{m}-{os.path.basename(f)[:-5]}-{s['instance']['id']}-{k}", s["instance"]["input"]["text"], L[0], list(om.values()), out, out.strip() == L[0], out.strip()))
    write("mmlu-helm", rows, "aryopg/mmlu-redux outputs/original_helm: HELM's MMLU of 10 models; HELM exact_match of the stripped completion with the letter")

def r1():
    t = show("kennethleungty+DeepSeek-R1-Ollama-Simple-Evals","data/convos_output_20250313_0105.txt").decode()
    C = list(csv.DictReader(io.StringIO(show("kennethleungty+DeepSeek-R1-Ollama-Simple-Evals","data/gpqa/gpqa_diamond.csv").decode())))
    rows = []; noth = []; noopen = []; cut = []
    norm = lambda s: re.sub(r"\s+"," ",s).strip()
    for i, b in enumerate(re.split(r"### Conversation \d+ ###\n", t)[1:]):
        ls = [l for l in b.strip().splitlines() if l.startswith("{")]
        u, a = ast.literal_eval(ls[0])["content"], ast.literal_eval(ls[1])["content"]
        mm = re.search(r"\n\nA\) (.*)\nB\) (.*)\nC\) (.*)\nD\) (.*)$", u, re.S)
        q = u.split("before answering.\n\n",1)[1][:u.split("before answering.\n\n",1)[1].rindex("\n\nA) ")]
        ch = [norm(x) for x in mm.groups()]
        c = [r for r in C if norm(r["Question"])[:150] == norm(q)[:150]]
        if not c: print("no gold", i); continue
        g = norm(c[0]["Correct Answer"])
        if g not in ch: print("no option", i); continue
        t_ = "ABCD"[ch.index(g)]
        m = re.search(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?", a); p = m.group(1) if m else None
        rows.append((f"r{i}", q, t_, ch, a, p == t_, p))
        said = a.split("</think>")[-1]
        m2 = re.search(r"(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?", said); p2 = m2.group(1) if m2 else None
        noopen.append((f"r{i}", q, t_, ch, a.replace("<think>","",1), p2 == t_, p2))
        th = a.split("</think>")[0]; cut.append((f"r{i}", q, t_, ch, th, 0, None))
    write("r1-gpqa", rows, "kennethleungty/DeepSeek-R1-Ollama-Simple-Evals: 20 R1 transcripts of GPQA diamond; openai/simple-evals gpqa_eval.py ANSWER_PATTERN_MULTICHOICE (first match, thoughts included)")
    write("r1-gpqa-noopen", noopen, "the same, opening mark taken off; the same regex after </think>")
    write("r1-gpqa-cut", cut, "the same, cut before </think>: no answer (official 0)")
def gemma():
    r0 = "tobypullan+logit_cot_overthinking"
    listed = ls(r0, "outputs")
    seen = set(); rows = {"mmlu_pro":[], "gpqa_diamond":[]}; fr = {}
    for f in listed:
        m = re.match(r"outputs/[^/]*/(mmlu_pro|gpqa_diamond)/seed_\d+/traces.jsonl", f)
        if not m: continue
        try: R = [json.loads(l) for l in show(r0, f).decode().split("\n") if l.strip()]
        except Exception: continue
        for r in R:
            raw = r.get("raw_response") or ""
            h = hash(raw)
            if not raw.strip() or h in seen: continue
            seen.add(h); fr[r.get("finish_reason")] = fr.get(r.get("finish_reason"),0)+1
            if len(raw) > 60000: continue
            rows[m.group(1)].append((f"{m.group(1)}-{len(seen)}", r["question"], r["answer"], r["options"], raw, r.get("generated_answer") == r["answer"], r.get("generated_answer")))
    print(fr)
    for k, v in rows.items():
        if v: write("think-gemma4-"+k, v, "tobypullan/logit_cot_overthinking outputs/*/traces.jsonl raw_response (Gemma 4: <|channel>thought ... <channel|>X); its generated_answer", cap=600)
if __name__ == "__main__":
    for f in (sys.argv[3:] or ["mmlupro","bbh","tabmwp","golds","solutions","kojima","helm","r1","gemma"]):
        try: globals()[f]()
        except Exception as e:
            import traceback; traceback.print_exc(); print("FAILED", f)
