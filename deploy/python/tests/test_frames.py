"""Data frames: each type of column, what is refused, and the index of predictions."""

import contextlib
import datetime
import decimal
import os
import tempfile
import unittest
import warnings
from unittest import mock

try:
    import numpy as np
    import pandas as pd
except ImportError:
    raise unittest.SkipTest("pandas is not here")

import ringtrain
from ringtrain import frames

N = 200
X = np.random.default_rng(7).normal(size=N)
EVEN = np.arange(N) % 2 == 0
QUICK = {"train.epochs": 2, "export.if": "always"}


def frame(column, name="c", label=None):
    """Returns a frame with a column, and a label that another column tells."""
    return pd.DataFrame({"x": X, "y": (X > 0).astype(int) if label is None else label}).assign(**{str(name): column}).rename(columns={str(name): name})


def as_text():
    """Has frames travel as they do without pyarrow."""
    return mock.patch.object(frames, "_arrow", lambda: None)


def transports():
    """Returns each way in which a frame travels."""
    return [contextlib.nullcontext(), as_text()] if frames._arrow() else [as_text()]


class Types(unittest.TestCase):
    def test_kinds(self):
        """A column of each type is drafted as what it is, trains, and predicts with the index of the frame; the same by
        Parquet and by text."""
        for name, column, becomes in (
            ("float", X * 3, "numeric"),
            ("float32", X.astype("float32") * 3, "numeric"),
            ("nullable int", pd.array([1, 7, None, 4] * (N // 4), dtype="Int64"), "numeric"),
            ("bool", EVEN, "categorical"),
            ("nullable bool", pd.array([True, False, None, True] * (N // 4), dtype="boolean"), "categorical"),
            ("string", pd.array(["a", None, "b c", "d"] * (N // 4), dtype="string"), "categorical"),
            ("object", np.array(["a", None, "NA", "d"] * (N // 4), dtype=object), "categorical"),
            ("text with separators", ["a\tb", "c\nd", 'e"f', "g;h,i|j k"] * (N // 4), "categorical"),
            ("category", pd.Categorical(np.where(EVEN, "a", "b")), "categorical"),
            ("category of numbers", pd.Categorical(np.arange(N) % 3), "numeric"),
            ("date", pd.date_range("2024-01-01", periods=N), "time"),
            ("date with a zone", pd.date_range("2024-01-01 12:30", periods=N, tz="Europe/Berlin"), "time"),
            ("date of Python", np.array([datetime.date(2024, 1, 1) + datetime.timedelta(i) for i in range(N)], dtype=object), "time"),
            ("decimal", np.array([decimal.Decimal(int(x * 100)) / 4 for x in X], dtype=object), "numeric"),
            ("sparse", pd.arrays.SparseArray(np.arange(N) % 3), "numeric"),
            ("empty", np.full(N, np.nan), "ignore"),
        ):
            with self.subTest(name):
                df = frame(column).set_index(pd.Index(np.arange(N) * 3 + 1, name="i"))
                few = df.drop(columns="y").sample(9, random_state=1)
                answers = []
                for transport in transports():
                    with transport:
                        draft = ringtrain.init(df, label="y")
                        self.assertEqual({c["column"]: c["becomes"] for c in draft.columns}["c"], becomes)
                        run = ringtrain.train(data=df, label="y", set=QUICK)
                        answers.append(ringtrain.predict(run, few))
                for out in answers:
                    pd.testing.assert_frame_equal(out, answers[0])
                    self.assertTrue(out.index.equals(few.index))
                    self.assertEqual((list(out.columns), out["class"].isin(["0", "1"]).all()), (["class", "score"], True))

    def test_lists(self):
        """A list of texts is a bag of them in Parquet, and refused as text."""
        df = frame(pd.Series([["a", "b"], ["c"], []] * N)[:N])
        if frames._arrow():
            run = ringtrain.train(data=df, label="y", set=QUICK)
            self.assertEqual(len(ringtrain.predict(run, df)), N)
            with self.assertRaisesRegex(ringtrain.Error, "Parquet cannot hold.*column c"):
                ringtrain.train(data=frame(pd.Series([["a", 1], ["c"]] * (N // 2))), label="y")
        with as_text(), self.assertRaisesRegex(ringtrain.Error, "'c' of the data frame has values of list"):
            ringtrain.train(data=df, label="y")

    def test_labels(self):
        """Labels of each type have the classes that the program names, and a number is predicted as one."""
        for label, classes in (
            (np.where(X > 0, "yes", "no"), ["no", "yes"]),
            (X > 0, ["false", "true"]),
            (pd.Categorical(np.where(X > 1, "a", np.where(X > 0, "b", "c"))), ["a", "b", "c"]),
            (pd.array(np.where(X > 0, 1, 0), dtype="Int64"), ["0", "1"]),
            (X * 2.5, []),
        ):
            run = ringtrain.train(data=frame(X * 2, label=label), label="y", set={"train.epochs": 2, "export.if": "always", "input.split.share": 0.5})
            self.assertEqual(run.classes, classes)
            columns = ["prediction"] if not classes else ["class", "score"] if len(classes) == 2 else ["class", *("score_" + c for c in classes)]
            self.assertEqual(list(ringtrain.predict(run, frame(X * 2)).columns), columns)

    def test_evaluate(self):
        """The metrics of a run are those of its job's records again, and a model of CSV reads a frame."""
        df = frame(X)
        run = ringtrain.train(data=df, label="y", set=QUICK)
        self.assertEqual(ringtrain.evaluate(run)["loss"], run.metrics["loss"])
        with as_text():
            run = ringtrain.train(data=df, label="y", set=QUICK)
        for transport in transports():
            with transport:
                self.assertEqual(ringtrain.evaluate(run, df)["examples"], N)

    def test_missing_labels(self):
        """Records without a label are left out, and the others train."""
        run = ringtrain.train(data=frame(X, label=np.where(np.arange(N) % 50 == 0, np.nan, X > 0)), label="y", set=QUICK)
        self.assertEqual(run.classes, ["0", "1"])

    def test_key(self):
        """A key of the frame is not in its predictions, whose index tells the record."""
        df = frame([f"k{i}" for i in range(N)], name="class")
        run = ringtrain.train(data=df, label="y", key="class", set=QUICK)
        self.assertEqual(list(ringtrain.predict(run, df).columns), ["class", "score"])
        self.assertEqual(set(ringtrain.predict(run, df)["class"]) - {"0", "1"}, set())


class Names(unittest.TestCase):
    def test_odd(self):
        """A name that YAML, globs or CSV would misread is the name of a column like others."""
        names = ("a.b", "[x]", 'it\'s "q"', "new\nline", "y: z", "#c", "{a}", "*", "a,b", "a/b", "true", "key", "class", "score", "record", "x=1", "日本", "-", "a\tb", "~", "a\\b", "%d", ("a", 1))
        if frames._arrow():
            names += (7, "3", "NA", "2024-01-01")
        df = frame(X)
        for i, name in enumerate(names):
            df[name] = np.where(np.arange(N) % (i + 2) == 0, "p", "q")
        draft = ringtrain.init(df, label="y")
        self.assertEqual([(c["column"], c["becomes"]) for c in draft.columns[3:]], [(str(name), "categorical") for name in names])
        run = ringtrain.train(data=df, label="y", set=QUICK)
        self.assertEqual(len(ringtrain.predict(run, df)), N)

    def test_unusable(self):
        """A name that reads as a range is left out with the reason."""
        with as_text(), self.assertRaisesRegex(ringtrain.Error, "column '7' of the data frame begins with a digit"):
            ringtrain.init(frame(X).rename(columns={"c": 7}), label="y")
        for name in ("a..b", "I1..I3", ""):
            draft = ringtrain.init(frame(EVEN).rename(columns={"c": name}), label="y")
            self.assertEqual([c["becomes"] for c in draft.columns if c["column"] == name or not name], ["numeric", "label", "ignore"][-1 if name else 0 :])


class Refused(unittest.TestCase):
    def test_columns(self):
        """What no file can hold is refused with the name of the column, before a command starts."""
        for column, why in (
            (np.array(["a", 1] * (N // 2), dtype=object), "'c' of the data frame has values of int and str"),
            (pd.to_timedelta(np.arange(N), unit="h"), "'c' of the data frame has the type timedelta64"),
            (pd.period_range("2024-01", periods=N, freq="h"), "'c' of the data frame has values of Period"),
            (pd.cut(X, 4), "'c' of the data frame has values of Interval"),
            (X + 1j, "'c' of the data frame has the type complex128"),
            (pd.Series([b"a", b"b"] * (N // 2)), "'c' of the data frame has values of bytes"),
            (pd.Series([{"a": 1}] * N), "'c' of the data frame has values of dict"),
        ):
            for use in (lambda df: ringtrain.train(data=df, label="y"), lambda df: ringtrain.predict("nothing", df)):
                with self.assertRaises(ringtrain.Error) as caught:
                    use(frame(column))
                self.assertIn(why, str(caught.exception))
                self.assertEqual(caught.exception.code, 65)
                self.assertIn("**Meaning.** The module of", caught.exception.doc)

    def test_frames(self):
        """A frame that is no table of records is refused, with the reason."""
        df = frame(X)
        for bad, code, why in (
            (df.set_axis(pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "c")]), axis=1), 65, "MultiIndex"),
            (df.set_index(["x", "c"]), 65, "MultiIndex"),
            (pd.concat([df, df["x"]], axis=1), 65, "'x' of the data frame is there twice"),
            (df.assign(**{"1": X}).rename(columns={"x": 1}), 65, "'1' of the data frame is there twice"),
            (df[[]], 65, "no columns"),
            (df.head(0), 65, "no records"),
            (df.assign(y=1), 65, "the label y is 1 in each record"),
            (df.assign(y=np.nan), 65, "the label y is empty in each record"),
            (df[["y"]], 65, "one column|no column can tell"),
            (df.drop(columns="y"), 64, "no such column"),
        ):
            with self.assertRaisesRegex(ringtrain.Error, why) as caught:
                ringtrain.train(data=bad, label="y")
            self.assertEqual(caught.exception.code, code, why)
        with self.assertRaisesRegex(ringtrain.Error, "hosts"):
            ringtrain.train(data=df, label="y", hosts="a:2,b:2")

    def test_warnings(self):
        """Warnings of the program are Python's, at the line of the caller: of columns that the draft leaves out, and that no
        record to predict has."""
        data = frame(np.where(EVEN, "a", "b")).assign(k=[f"k{i}" for i in range(N)])
        with self.assertWarnsRegex(UserWarning, r"does not learn from k \(") as drafted:
            run = ringtrain.train(data=data, label="y", set=QUICK)
        with self.assertWarnsRegex(UserWarning, f"x is missing in {N} of {N} records") as predicted:
            ringtrain.predict(run, data.assign(x=None))
        self.assertEqual([__file__, __file__], [drafted.filename, predicted.filename])

    def test_types(self):
        """A column that a hash reads is told of if its numbers are other texts than those of training. The message names the
        frame, and so does that of a column which is not there."""
        data = frame(np.arange(N) % 7)
        job = {
            "model": {"kind": "linear", "classes": "auto"},
            "input": {"columns": [{"categorical": {"names": ["c"], "hash": 64}}, {"numeric": {"names": ["x"]}}, {"label": {"names": ["y"]}}]},
            "optimizer": {"name": "adam", "learning_rate": 0.01},
        }
        with tempfile.TemporaryDirectory() as folder:
            data.to_csv(os.path.join(folder, "c.csv"), index=False)
            job["input"]["train"] = {"format": "csv", "files": [os.path.join(folder, "c.csv")], "header": True}
            run = ringtrain.train(job, set=QUICK)
        for transport in transports():
            with transport:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    ringtrain.predict(run, data)
                with self.assertWarnsRegex(UserWarning, "the data frame: c has texts like 1.0, and training had texts like 1: .* Int64"):
                    ringtrain.predict(run, data.astype({"c": float}))
                with self.assertRaisesRegex(ringtrain.Error, "^[^/]*the data frame[^/]* x"):
                    ringtrain.predict(run, data.drop(columns="x"))

    def test_bad_record(self):
        """A record that cannot be predicted is named, and no prediction of another record takes its place."""
        df = frame(X)
        run = ringtrain.train(data=df, label="y", set=QUICK)
        with self.assertRaisesRegex(ringtrain.Error, r"record 3.*column c is \+Inf"):
            ringtrain.predict(run, df.assign(c=np.where(np.arange(N) == 3, np.inf, X)))
        run = ringtrain.train(data=df, label="y", set={**QUICK, "input.max_bad_records": 5})
        with self.assertRaisesRegex(ringtrain.Error, r"1 of 200 records have no prediction: .*record 3.*column c is \+Inf"):
            ringtrain.predict(run, df.assign(c=np.where(np.arange(N) == 3, np.inf, X)))


if __name__ == "__main__":
    unittest.main()
