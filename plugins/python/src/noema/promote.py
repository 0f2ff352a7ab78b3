"""Writes a function of a notebook as a plugin, which stands by itself."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from ._closure import Part, Unknown, literal
from .functions import FunctionMethod

_MAIN = '''{imports}
import noema

{body}

if __name__ == "__main__":
    noema.serve(noema.method(name={m.name!r}, version={m.version!r}, answers={m.answers!r}, tools={m.tools!r})({call}){given})
'''


def promote(method: FunctionMethod, folder: str) -> str:
    """Writes the method into a new folder, and returns that. The folder is a method, as "./my-method".

    Raises FileExistsError, and TypeError for what it uses and Python cannot write down.
    """
    at, code = Path(folder), method.code()
    files = {Path(p.value).name: p for p in code.parts if p.kind == "file"}
    for name, part in files.items():
        if name in ("__init__.py", "main.py"):
            raise Unknown(f"promote {method.name!r}: it uses the package {part.name}: install that, or copy what it needs into the notebook")
    imports, body = _written(method, code.parts)
    given = f".but(**{method.given!r})" if method.given else ""
    main = _MAIN.format(imports=imports, body=body, m=method, call=method.__noema_function__.__name__, given=given)
    at.mkdir(parents=True)  # FileExistsError if it is there
    try:
        (at / "main.py").write_text(main, encoding="utf-8")
        for name, part in files.items():
            (at / name).write_text(part.text, encoding="utf-8")
        manifest = f"name: {method.name}\nlanguage: python\ncommand: [{json.dumps(sys.executable)}, main.py]\n"
        (at / "plugin.yaml").write_text(manifest, encoding="utf-8")
    except BaseException:
        shutil.rmtree(at)
        raise
    return str(at)


def _written(method: FunctionMethod, parts: list[Part]) -> tuple[str, str]:
    """The imports, and what the function uses, first what others need, with the function."""
    imports, rest = [], []
    for part in parts:
        if part.kind == "import" and part.text != "import noema":
            imports.append(part.text)
        elif part.kind == "source":
            rest.append("\n" + part.text)
        elif part.kind == "value":
            text = literal(part.value)
            if text is None:
                raise Unknown(
                    f"promote {method.name!r}: it uses {part.name}, a value of type {type(part.value).__name__}, "
                    "which Python cannot write down: make it within the method"
                )
            rest.append(f"{part.name} = {text}\n")
    return "\n".join(sorted(set(imports))), "\n".join(rest)
