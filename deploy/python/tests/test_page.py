"""The examples of docs/python.md, in the order of the page."""

import os
import re
import tempfile
import unittest

try:
    import pandas
except ImportError:
    raise unittest.SkipTest("pandas is not here")

from ringtrain import program


class Page(unittest.TestCase):
    def test_examples(self):
        """Each block of the manual that says `python run` runs, in one folder."""
        text = program.text("help", "docs/python")
        blocks = re.findall(r"^```python run\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 4)
        was = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                program.text("data", "make", "table", "--rows", "2000", "--to", "drawn")
                names = {}
                for block in blocks:
                    exec(compile(block, "docs/python.md", "exec"), names)
            finally:
                os.chdir(was)
        self.assertEqual((names["run"].classes, len(names["out"])), (["No", "Yes"], 2000))


if __name__ == "__main__":
    unittest.main()
