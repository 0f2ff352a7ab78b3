"""The notebook of the documentation runs, in a kernel of Jupyter."""

import importlib.util
import os
import pathlib
import tempfile
import unittest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples" / "experiments.ipynb"
MISSING = [m for m in ("nbclient", "nbformat", "ipykernel", "pandas", "pyarrow") if importlib.util.find_spec(m) is None]


class Notebook(unittest.TestCase):
    @unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
    def test_it_runs(self):
        import nbclient
        import nbformat

        notebook = nbformat.read(NOTEBOOK, as_version=4)
        with tempfile.TemporaryDirectory() as home:
            os.environ["NOEMA_HOME"] = home
            nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
        shown = [c.outputs for c in notebook.cells if c.cell_type == "code"]
        table = next(o for o in shown[0] if o.output_type == "execute_result")
        self.assertIn("<table", table.data["text/html"])
        self.assertIn("aot is the best on hits@1", table.data["text/plain"])
        self.assertIn("tree-search?width=3", next(o for o in shown[4] if o.output_type == "execute_result").data["text/plain"])


if __name__ == "__main__":
    unittest.main()
