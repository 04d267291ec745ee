"""Runs scripts of this folder, one after the other, in one process: TensorFlow takes seconds
to import, a script mostly less.

Each line of standard input is {"dir": FOLDER, "args": [SCRIPT, ARGUMENT...]}. The script runs
in that folder, as from a shell. The answer is a line {"code": EXIT CODE, "stdout": TEXT,
"stderr": TEXT}; what TensorFlow itself says goes to this process's standard error.
"""
import contextlib
import io
import json
import os
import runpy
import sys
import traceback

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow  # noqa: F401, while the caller does something else


def run(script, arguments):
    """The exit code of a script."""
    sys.argv = [script] + arguments
    try:
        runpy.run_path(os.path.join(HERE, script), run_name="__main__")
        return 0
    except SystemExit as e:
        if isinstance(e.code, str):
            print(e.code, file=sys.stderr)
            return 1
        return e.code or 0
    except BaseException:
        traceback.print_exc()
        return 1


HERE = os.path.dirname(os.path.abspath(__file__))
answers = sys.stdout
for line in sys.stdin:
    question = json.loads(line)
    os.chdir(question["dir"])
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = run(question["args"][0], question["args"][1:])
    print(json.dumps({"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}), file=answers, flush=True)
