"""Writes blocks.gguf: pip install gguf numpy; python blocks.py

Layer i has a tensor of the i-th type in ffn_up, and its values by the gguf package
in ffn_down. All bits of codes and scales are random, so every one of them counts.
"""
import gguf
import numpy as np

TYPES = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q4_K Q5_K Q6_K".split()
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
ROWS, COLS = 3, 256

rng = np.random.default_rng(1)
w = gguf.GGUFWriter("blocks.gguf", "llama")
w.add_embedding_length(COLS)
w.add_feed_forward_length(ROWS)
w.add_block_count(len(TYPES))
w.add_head_count(4)
w.add_context_length(32)
w.add_token_list(["a", "b"])
for i, name in enumerate(TYPES):
    kind = gguf.GGMLQuantizationType[name]
    count, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (ROWS, COLS // count, size), dtype=np.uint8)
    for at in HALVES[name]:  # scales of 16 bits, which must be numbers
        half = rng.uniform(-0.01, 0.01, blocks.shape[:2]).astype(np.float16)
        blocks[:, :, at:at + 2] = half[..., None].view(np.uint8)
    blocks = blocks.reshape(ROWS, -1)
    w.add_tensor(f"blk.{i}.ffn_up.weight", blocks, raw_dtype=kind)
    w.add_tensor(f"blk.{i}.ffn_down.weight", gguf.quants.dequantize(blocks, kind).astype(np.float32))
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
