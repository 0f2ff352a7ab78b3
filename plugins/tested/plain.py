"""Values as they go between a program and its tests: plain data by what it is, each list
with its kind in front, and anything else as what kept makes of it."""

KINDS = {kind.__name__: kind for kind in (list, tuple, set, frozenset, bytes)}


def pack(v, keep):
    if v is None or isinstance(v, (bool, int, float, str)):
        return v
    for name, kind in KINDS.items():
        if isinstance(v, kind):
            return [name, *[pack(x, keep) for x in v]]
    if isinstance(v, dict):
        return ["dict", *[[pack(k, keep), pack(x, keep)] for k, x in v.items()]]
    if isinstance(v, complex):
        return ["complex", v.real, v.imag]
    return ["kept", keep(v)]


def unpack(v, kept):
    if v is None or isinstance(v, (bool, int, float, str)):
        return v
    kind, *parts = v
    if kind == "kept":
        return kept(*parts)
    if kind == "dict":
        return {unpack(k, kept): unpack(x, kept) for k, x in parts}
    if kind == "complex":
        return complex(*parts)
    return KINDS[kind]([unpack(x, kept) for x in parts])
