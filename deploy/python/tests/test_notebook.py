"""A notebook's kernel: the line of progress, and what an interrupt and the end of the kernel leave."""

import os
import time
import unittest

try:
    from jupyter_client import KernelManager
except ImportError:
    raise unittest.SkipTest("jupyter_client is not here")

from test_program import left

ENDLESS = "ringtrain.train('linear', np=2, set={'train.epochs': 100_000_000, 'export.if': 'always'})"
IN_BODY = "for event in ringtrain.events('linear', np=2, set={'train.epochs': 100_000_000}): print('begun', flush=True); time.sleep(600)"
FOLDS = """
import numpy
from ringtrain.sklearn import RingtrainClassifier
from sklearn.model_selection import cross_val_score
X = numpy.random.default_rng(1).random((500, 3))
endless = {"train.epochs": 100_000_000, "train.early_stopping.patience": 0}
cross_val_score(RingtrainClassifier(np=2, set=endless), X, X[:, 0] > 0.5, cv=2, n_jobs=2)
"""
PATIENCE_S = 60


class Notebook(unittest.TestCase):
    def setUp(self):
        self.kernel = KernelManager()
        self.kernel.start_kernel(env={**os.environ, "PYTHONPATH": os.pathsep.join(["", os.environ.get("PYTHONPATH", "")])})
        self.addCleanup(self.kernel.shutdown_kernel, now=True)
        self.client = self.kernel.client()
        self.client.start_channels()
        self.addCleanup(self.client.stop_channels)
        self.client.wait_for_ready(timeout=PATIENCE_S)
        self.run_cell("import os, tempfile, time, ringtrain; os.chdir(tempfile.mkdtemp())")

    def run_cell(self, code, act=None):
        """Runs a cell and returns its messages. act is called at its first output."""
        cell, messages = self.client.execute(code), []
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE_S)
            if message["parent_header"].get("msg_id") != cell:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return messages
            messages.append((kind, content))
            if act and kind in ("update_display_data", "stream"):
                act()
                act = None

    def test_progress(self):
        """One line shows how far a run is, and at its end the score."""
        messages = self.run_cell("ringtrain.train('linear', np=2) and None")
        self.assertEqual([kind for kind, _ in messages if kind in ("display_data", "stream", "error")], ["display_data"], messages)
        last = [content["data"]["text/plain"] for kind, content in messages if kind == "update_display_data"][-1]
        self.assertRegex(last, r"^done · 2,000 steps in [\d.]+ s · loss 0\.\d+, rmse 0\.\d+, r2 0\.\d+$")

    def test_interrupt(self):
        """An interrupt ends the cell and all that it started, in a call and in the body of a loop over events."""
        for code in (ENDLESS, IN_BODY):
            messages = self.run_cell(code, lambda: self.assertGreater(len(self.ranks()), 2) or self.kernel.interrupt_kernel())
            self.assertEqual([content["ename"] for kind, content in messages if kind == "error"], ["KeyboardInterrupt"], code)
            self.run_cell("time.sleep(0)")
            self.assertGone(self.ranks(), code)
        self.assertIn(("stream", "2\n"), [(kind, content.get("text")) for kind, content in self.run_cell("print(1 + 1)")])

    def test_restart(self):
        """A kernel that is restarted amid a run leaves no process."""
        self.client.execute(ENDLESS)
        while len(self.ranks()) < 3:
            time.sleep(0.05)
        ranks = self.ranks()
        self.kernel.restart_kernel(now=True)
        self.assertGone(ranks, "restart")

    def test_folds(self):
        """An interrupt ends the folds of a cross-validation, which other processes train, and their ranks."""
        self.client.execute(FOLDS)
        while len(ranks := [pid for pid in self.ranks() if trains(pid)]) < 6:
            time.sleep(0.05)
        self.kernel.interrupt_kernel()
        self.assertGone(ranks, "interrupt of folds")

    def ranks(self):
        return left(self.kernel.provisioner.pid)

    def assertGone(self, pids, why):
        """Waits for the end of processes."""
        for pid in pids:
            while os.path.exists(f"/proc/{pid}"):
                time.sleep(0.05)  # the time limit of the test ends it


def trains(pid):
    """Reports whether a process is a launcher or a rank of a drafted job."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"/job.yaml" in file.read()
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
