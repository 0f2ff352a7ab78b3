"""Runs notebooks with a real client and prints what their cells show."""
import re
import sys

import nbformat
from nbclient import NotebookClient

for path in sys.argv[1:]:
    book = nbformat.read(path, 4)
    NotebookClient(book, timeout=120, kernel_name="noema").execute()
    for cell in book.cells:
        if cell.cell_type != "code":
            continue
        print(f"In [{cell.execution_count}]")
        for o in cell.outputs:
            if o.output_type == "stream":
                print(o.text, end="")
            else:
                print(f"({', '.join(sorted(o.data))})")
                print(re.sub(r"\b\d{8}-\d{6}-[0-9a-f]{4}\b", "RUN", o.data.get("text/plain", "")))
