package network_test

// torchPeer measures transformers on the same model as measure does ours: the
// best prefill and the best window of decoding.
const torchPeer = `
import sys, json, time, torch
from transformers import AutoModelForCausalLM
job = json.loads(sys.stdin.readline())
torch.set_num_threads(job["threads"])
model = AutoModelForCausalLM.from_pretrained(job["dir"], dtype=torch.float32).eval()
best, tokens = [0, 0], []
with torch.no_grad():
    for _ in range(job["rounds"]):
        start = time.perf_counter()
        out = model(torch.tensor([job["prompt"]]), use_cache=True, logits_to_keep=1)
        best[0] = max(best[0], len(job["prompt"]) / (time.perf_counter() - start))
        tokens = []
        for _ in range(job["windows"]):
            start = time.perf_counter()
            for _ in range(job["window"]):
                tokens.append(out.logits[0, -1].argmax().item())
                out = model(torch.tensor([[tokens[-1]]]), past_key_values=out.past_key_values, use_cache=True)
            best[1] = max(best[1], job["window"] / (time.perf_counter() - start))
print(json.dumps({"prefill": best[0], "decode": best[1], "tokens": tokens}))
`

// llamaPeer writes the same weights, in 32 bits, as the file that llama.cpp
// reads, and measures it in the same way. Q and K are laid out for its pairs
// of rotary positions, as its own converter does.
const llamaPeer = `
import sys, json, time, struct, os, numpy, gguf, llama_cpp as lib
job = json.loads(sys.stdin.readline())
config = json.load(open(os.path.join(job["dir"], "config.json")))
heads, kv = config["num_attention_heads"], config["num_key_value_heads"]
names = {"model.embed_tokens": "token_embd", "model.norm": "output_norm"}
parts = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}

def write(to):
    w = gguf.GGUFWriter(to, "llama")
    w.add_context_length(config["max_position_embeddings"])
    w.add_embedding_length(config["hidden_size"])
    w.add_block_count(config["num_hidden_layers"])
    w.add_feed_forward_length(config["intermediate_size"])
    w.add_head_count(heads)
    w.add_head_count_kv(kv)
    w.add_layer_norm_rms_eps(config["rms_norm_eps"])
    w.add_rope_freq_base(config["rope_theta"])
    w.add_rope_dimension_count(config["hidden_size"] // heads)
    w.add_vocab_size(config["vocab_size"])
    w.add_file_type(0)
    w.add_tokenizer_model("no_vocab")
    file = open(os.path.join(job["dir"], "model.safetensors"), "rb")
    size = struct.unpack("<Q", file.read(8))[0]
    header = json.loads(file.read(size))
    header.pop("__metadata__")
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        file.seek(8 + size + start)
        t = numpy.frombuffer(file.read(end - start), dtype=numpy.float32).reshape(entry["shape"])
        name = name.removesuffix(".weight")
        if name not in names:
            _, _, layer, part = name.split(".", 3)
            if part in ("self_attn.q_proj", "self_attn.k_proj"):
                n = heads if part == "self_attn.q_proj" else kv
                t = numpy.ascontiguousarray(t.reshape(n, 2, -1, t.shape[1]).swapaxes(1, 2).reshape(t.shape))
            names[name] = "blk." + layer + "." + parts[part]
        w.add_tensor(names[name] + ".weight", t)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()

path = os.path.join(job["dir"], "model.gguf").encode()
write(path.decode())
quiet = lib.llama_log_callback(lambda level, text, data: None)
lib.llama_log_set(quiet, None)
lib.llama_backend_init()
model = lib.llama_model_load_from_file(path, lib.llama_model_default_params())
p = lib.llama_context_default_params()
p.n_ctx, p.n_batch, p.n_ubatch, p.n_threads, p.n_threads_batch = 1024, 512, 512, job["threads"], job["threads"]
p.type_k = p.type_v = lib.GGML_TYPE_F32
p.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
context = lib.llama_init_from_model(model, p)
memory = lib.llama_get_memory(context)
best, tokens = [0, 0], []

def feed(ids):
    array = (lib.llama_token * len(ids))(*ids) # which the batch only points to
    if lib.llama_decode(context, lib.llama_batch_get_one(array, len(ids))) != 0:
        raise SystemExit("llama_decode failed")
    logits = lib.llama_get_logits_ith(context, -1)
    return int(numpy.ctypeslib.as_array(logits, shape=(config["vocab_size"],)).argmax())

feed(job["prompt"][:8])
for _ in range(job["rounds"]):
    lib.llama_memory_clear(memory, True)
    start = time.perf_counter()
    token = feed(job["prompt"])
    best[0] = max(best[0], len(job["prompt"]) / (time.perf_counter() - start))
    tokens = []
    for _ in range(job["windows"]):
        start = time.perf_counter()
        for _ in range(job["window"]):
            tokens.append(token)
            token = feed([token])
        best[1] = max(best[1], job["window"] / (time.perf_counter() - start))
print(json.dumps({"prefill": best[0], "decode": best[1], "tokens": tokens}))
`
