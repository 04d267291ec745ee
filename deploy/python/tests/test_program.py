"""Jobs, events, errors and interrupts: what needs no pandas."""

import ast
import csv
import gc
import glob
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import ringtrain
from ringtrain import program

ENDLESS = {"train.epochs": 100_000_000}

JOB = {
    "model": {"kind": "linear", "classes": "auto"},
    "input": {
        "train": {"format": "csv", "files": ["table.csv"], "header": True},
        "split": {"share": 0.1},
        "columns": [{"key": {"names": ["customer_id"]}}, {"numeric": {"names": ["age"], "default": "mean"}}, {"label": {"names": ["churn"]}}],
    },
    "optimizer": {"name": "adam", "learning_rate": 0.01},
    "train": {"epochs": 2},
}


class InFolder(unittest.TestCase):
    """A test in a folder of its own that has a drawn table."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        program.text("data", "make", "table", "--rows", "1000", "--to", ".")


class Jobs(InFolder):
    def test_dict(self):
        """A dict trains as its job file does, to the same digest, and its outputs go with the run."""
        run = ringtrain.train(JOB)
        again = ringtrain.train(run.job, np=2, args=["--resume", "never"])
        self.assertEqual(run.classes, ["No", "Yes"])
        self.assertEqual(run.done["digest"], ringtrain.train(JOB).done["digest"])
        self.assertEqual([e["event"] for e in again.events][0], "start")
        folder = os.path.dirname(run.job)
        self.assertTrue(run.path.startswith(folder) and os.path.isdir(run.path), run)
        del run, again
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def test_files(self):
        """Files train by a draft, and predictions of files are dicts, or rows, with the key."""
        run = ringtrain.train(data="table.csv", label="churn", to="models/churn", set={"train.epochs": 2, "export.if": "always"})
        self.assertEqual(os.path.relpath(run.path), "models/churn/export/churn/1")
        out = ringtrain.predict(run, "table.csv")
        out = out if isinstance(out, list) else out.to_dict("records")
        self.assertEqual(sorted(out[0]), ["class", "customer_id", "score"])
        with open("table.csv", encoding="utf-8") as file:
            self.assertEqual([row["customer_id"] for row in out], [row["customer_id"] for row in csv.DictReader(file)])
        self.assertEqual(ringtrain.evaluate(run.job, args=["--from", run.path])["auc"], run.metrics["auc"])
        run = ringtrain.train(data="table.csv", label="churn", to="models/churn", set={"train.epochs": 2, "export.if": "always"})
        self.assertEqual(os.path.relpath(run.path), "models/churn/export/churn/2")
        with open(run.report("run.html"), encoding="utf-8") as file:
            self.assertIn("churn", file.read())

    def test_job_file(self):
        """A job file has its outputs where its keys say, or in the folder that is given."""
        draft = ringtrain.init("table.csv", label="churn", to="churn.yaml", key="customer_id")
        self.assertIn("key", [c["becomes"] for c in draft.columns])
        self.assertEqual((draft.job, draft.label["classes"]), (os.path.abspath("churn.yaml"), ["No", "Yes"]))
        self.assertIn("- key: {names: [customer_id]}", draft.text)
        settings = {"train.epochs": 2, "export.if": "always"}
        self.assertEqual(os.path.relpath(ringtrain.train("churn.yaml", set=settings).path), "export/churn/1")
        self.assertEqual(os.path.relpath(ringtrain.train(draft, set=settings, to="kept").path), "kept/export/kept/1")
        self.assertIn("age", [e["column"] for e in ringtrain.check("churn.yaml") if e["event"] == "column"])

    def test_not_finite(self):
        """Metrics of one class are numbers, also where they are not finite."""
        run = ringtrain.train(JOB)
        with open("few.csv", "w", encoding="utf-8") as few, open("table.csv", encoding="utf-8") as table:
            few.writelines([next(table), *[line for line in table if line.endswith(",No\n")][:9]])
        self.assertTrue(math.isnan(ringtrain.evaluate(run, "few.csv")["auc"]))

    def test_check(self):
        """What ends a job is a finding of check, and no error; a job that cannot be read is one."""
        ringtrain.init("table.csv", label="churn", to="churn.yaml")
        with open("table.csv", "a", encoding="utf-8") as file:
            file.write("C1,2024-01-01,many,1,pro,city_1,true,drama,1,No\n")
        ending = [e for e in ringtrain.check("churn.yaml") if e["event"] == "finding" and e["ends"]]
        self.assertEqual([e["column"] for e in ending], ["age"])
        with self.assertRaisesRegex(ringtrain.Error, "no such job file"):
            ringtrain.check("nothing.yaml")

    def test_hosts(self):
        """Hosts give the number of ranks, unless np does."""
        for np, ranks in ((None, 3), (2, 2)):
            run = ringtrain.train("linear", hosts="localhost:3", np=np, set={"train.epochs": 2}, args=["--resume", "never"])
            self.assertEqual(run.events[0]["world_size"], ranks)

    def test_built_in(self):
        """A built-in job, of a regression, has no classes, and its outputs where it says."""
        seen = []
        run = ringtrain.train("linear", on_event=seen.append)
        self.assertEqual((os.path.relpath(run.path), run.classes, run.events), ("export/linear/1", [], seen))

    def test_no_outputs(self):
        """A job file that keeps nothing has no path, and predict says so."""
        with open("plain.yaml", "w", encoding="utf-8") as file:
            json.dump(JOB, file)
        run = ringtrain.train("plain.yaml")
        self.assertIsNone(run.path)
        with self.assertRaisesRegex(ringtrain.Error, "want to=FOLDER"):
            ringtrain.predict(run, "table.csv")


class Errors(InFolder):
    def test_message(self):
        """An error has the code, the first cause, the entry of the manual, and what the program said."""
        job = {**JOB, "input": {**JOB["input"], "columns": [{"numeric": {"names": ["agee"]}}, {"label": {"names": ["churn"]}}]}}
        with self.assertRaises(ringtrain.Error) as caught:
            ringtrain.train(job, np=2)
        error = caught.exception
        self.assertEqual(error.code, 65)
        self.assertIn("no column agee", error.cause)
        self.assertIn("**Meaning.** `input.columns` and the file do not fit", error.doc)
        self.assertIn("docs/when-it-breaks#column", str(error))
        self.assertIn("ringtrain: ", error.stderr)

    def test_each_code(self):
        """Each exit code has an entry, also without a message that is known."""
        for code in (1, 64, 65, 66, 70, 73, 74, 76, 77, 80, 81, 110, 126, 127, 130, 138, 143):
            self.assertRegex(ringtrain.Error(code, "something").doc, rf"^Exit code {code}: \S.*\. Will .* (yes|no)\.$")
        self.assertIn("signal", ringtrain.Error(137, "something").doc)

    def test_usage(self):
        """What cannot be meant is refused before a command starts."""
        for how in ({}, {"job": JOB, "data": "table.csv"}, {"job": "linear", "label": "churn"}, {"job": JOB, "hosts": "a:2"}, {"data": "table.csv", "hosts": "a:2"}, {"job": "linear", "hosts": ["a"]}):
            with self.assertRaises(ringtrain.Error, msg=how) as caught:
                ringtrain.train(**how)
            self.assertEqual(caught.exception.code, 64, how)
        for data in ([{"age": 3}], 3, {"age": [3]}.values()):
            with self.assertRaisesRegex(ringtrain.Error, "^data is of type .*want a data frame of pandas, or the path"):
                ringtrain.train(data=data, label="churn")
        with self.assertRaisesRegex(ringtrain.Error, "which column is to be predicted"):
            ringtrain.init("table.csv", label=None, to="x.yaml") and ringtrain.init(self.no_label())
        with self.assertRaisesRegex(ringtrain.Error, "no such column"):
            ringtrain.train(data="table.csv", label="left")
        with self.assertRaisesRegex(ringtrain.Error, "no key \"bach\".*#job-file"):
            ringtrain.train(data="table.csv", label="churn", set={"input.bach": 3})

    @staticmethod
    def no_label():
        with open("plain.csv", "w", encoding="utf-8") as file:
            file.write("a,b\n1,2\n2,3\n")
        return "plain.csv"

    def test_killed(self):
        """A launcher that is killed is an error with the code of its signal."""
        ranks = set()
        with self.assertRaises(ringtrain.Error) as caught:
            for event in (command := program.Command("run", "linear", "-np", "2", "--set", "train.epochs=100000000")):
                ranks.update(left(command._process.pid))
                command._process.kill()
        self.assertEqual(caught.exception.code, 137)
        self.assertEqual(stay(ranks), [])


def left(pid):
    """Returns the processes of the program below a process."""
    found = []
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat, encoding="utf-8") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == pid and state != "Z":
            child = int(stat.split("/")[2])
            found += [child] * (name == "ringtrain") + left(child)
    return found


def stay(ranks):
    """Returns those of some processes that do not end."""
    limit = time.monotonic() + 60
    while (there := [pid for pid in ranks if os.path.exists(f"/proc/{pid}")]) and time.monotonic() < limit:
        time.sleep(0.05)
    return there


class Interrupts(InFolder):
    def test_interrupt(self):
        """An interrupt ends the ranks, saves the checkpoint, and reaches the caller."""
        interrupt = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
        with self.assertRaises(KeyboardInterrupt):
            ringtrain.train("linear", np=2, set={**ENDLESS, "checkpoint.dir": "ckpt"}, on_event=lambda e: e["event"] == "start" and interrupt.start())
        self.assertEqual(left(os.getpid()), [])
        self.assertTrue(glob.glob("ckpt/step-*"))

    def test_closed(self):
        """An iterator that is closed, or forgotten, ends the ranks."""
        for end in (lambda e: e.close(), lambda e: None):
            events = ringtrain.events("linear", np=2, set=ENDLESS)
            self.assertEqual(next(events)["event"], "start")
            self.assertTrue(left(os.getpid()))
            end(events)
            del events
            gc.collect()
            self.assertEqual(left(os.getpid()), [])

    def test_python_killed(self):
        """The ranks end when Python is killed, and when it ends with a run that nobody reads."""
        for end in ("os.kill(os.getpid(), 9)", "raise SystemExit"):
            script = f"import os, ringtrain\ne = ringtrain.events('linear', np=2, set={ENDLESS})\nnext(e)\nprint(os.getpid(), flush=True)\ninput()\n{end}"
            python = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            python.stdout.readline()
            ranks = left(python.pid)
            self.assertGreater(len(ranks), 2)
            python.communicate(b"\n")
            self.assertEqual(stay(ranks), [], end)

    def test_threads(self):
        """Runs in several threads do not mix, and a slow reader of events stops none."""
        digests = []
        threads = [threading.Thread(target=lambda: digests.append(ringtrain.train(JOB, on_event=lambda e: time.sleep(0.05)).done["digest"])) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(digests), len(set(digests))), (3, 1))

    def test_full_pipes(self):
        """A program that fills both pipes before anybody reads comes to its end."""
        script = "import sys\nfor i in range(20000):\n print('{\"event\": \"step\", \"step\": %d}' % i)\n print('x' * 100, file=sys.stderr)"
        with tempfile.TemporaryDirectory() as folder:
            fake = os.path.join(folder, "fake")
            with open(fake, "w", encoding="utf-8") as file:
                file.write(f"#!{sys.executable}\n{script}\n")
            os.chmod(fake, 0o755)
            found, program.path = program.path, lambda: fake
            try:
                command = program.Command("anything")
                command._process.wait(60)
                self.assertEqual([e["step"] for e in command], list(range(20000)))
            finally:
                program.path = found


class Syntax(unittest.TestCase):
    def test_python_3_9(self):
        """Each file of the module is Python 3.9."""
        files = glob.glob(os.path.join(os.path.dirname(ringtrain.__file__), "*.py"))
        self.assertGreater(len(files), 5)
        for name in files:
            with open(name, encoding="utf-8") as file:
                ast.parse(file.read(), name, feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
