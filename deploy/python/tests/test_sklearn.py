"""Tests of ringtrain.sklearn against scikit-learn. The program ringtrain is in PATH, or the wheel is installed."""

import os
import pickle
import tempfile
import unittest
import warnings

try:
    import numpy
    import pandas
    from sklearn.base import clone
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.datasets import load_iris
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    raise unittest.SkipTest("scikit-learn is not here")

import ringtrain
from ringtrain.sklearn import RingtrainClassifier, RingtrainRegressor

# The checks of scikit-learn that fail, each with the reason.
FAILS = {
    "check_sample_weight_equivalence_on_dense_data": "a record twice makes other batches than one of weight 2, and the split holds out others",
}

# Enough for what the tests ask.
SHORT = {"train.epochs": 30}


def shop(rows=400):
    """Returns a frame of numbers, texts, dates, truth values and missing cells, and whether each record buys."""
    draw = numpy.random.default_rng(5)
    age = draw.integers(18, 80, rows).astype(float)
    city = draw.choice(["Bern", "Zug", "Genf"], rows)
    frame = pandas.DataFrame({
        "age": age,
        "city": pandas.Categorical(city),
        "member": draw.random(rows) < 0.5,
        "since": pandas.Timestamp("2026-01-01") + pandas.to_timedelta(draw.integers(0, 300, rows), unit="D"),
    })  # fmt: skip
    buys = (age > 50) | (city == "Zug")
    frame.loc[::17, "age"] = None
    return frame, buys


class TestEstimators(unittest.TestCase):
    def test_scikit_learn(self):
        """Verifies that scikit-learn's own checks pass, but for those that are listed, and that each of those fails."""
        for estimator in (RingtrainClassifier(), RingtrainRegressor()):
            with self.subTest(estimator=estimator), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = check_estimator(estimator, expected_failed_checks=FAILS, on_fail=None, on_skip=None)
                for result in results:
                    if result["status"] == "failed":
                        self.fail(f"{result['check_name']}: {result['exception']}")
                failed = {result["check_name"] for result in results if result["status"] == "xfail"}
                self.assertEqual(failed, set(FAILS))
                self.assertGreater(len(results), 50)

    def test_classes(self):
        """Verifies that classes of each type come back as they were given, with their probabilities in the order of classes_."""
        X = numpy.random.default_rng(3).random((300, 2))
        parts = numpy.digitize(X[:, 0], [0.3, 0.6])
        for name, labels in {
            "of words": ["no", "<=50K", "not yet"],
            "of words, the second twice": ["no", "yes", "yes"],
            "of words, the first twice": ["yes", "no", "no"],
            "of numbers": [-1, 5, 100],
            "of numbers and two": [0, 1, 1],
            "of floats": [1.0, 2.0, 3.0],
            "of truth": [False, True, True],
            "of digits": ["1", "01", "1.0"],
            "of odd texts": ["", " ", "a\tb\n"],
            "of words for numbers": ["nan", "1e5", "12 kg"],
        }.items():
            with self.subTest(labels=name):
                y = numpy.array(labels)[parts]
                fitted = RingtrainClassifier(set=SHORT).fit(X, y)
                self.assertEqual(list(fitted.classes_), sorted(set(labels)))
                predicted, shares = fitted.predict(X), fitted.predict_proba(X)
                self.assertEqual(predicted.dtype, y.dtype)
                self.assertTrue((predicted == fitted.classes_[shares.argmax(axis=1)]).all())
                self.assertGreater((predicted == y).mean(), 0.8)
        many = numpy.array([f"CHF {i}" for i in range(30)])[(X[:, 0] * 30).astype(int)]
        self.assertEqual(set(RingtrainClassifier(set=SHORT).fit(X, many).predict(X)) - set(many), set())

    def test_frames(self):
        """Verifies that a frame of each sort of column trains, that names must be those of fit, and that
        names that are numbers do."""
        X, y = shop()
        fitted = RingtrainClassifier().fit(X, y)
        self.assertGreater(fitted.score(X, y), 0.8)
        self.assertEqual(list(fitted.feature_names_in_), list(X.columns))
        self.assertGreater(fitted.metrics_["accuracy"], 0.6)
        with self.assertRaises(ValueError):
            fitted.predict(X.rename(columns={"age": "years"}))
        numbered = X.set_axis(range(X.shape[1]), axis="columns")
        self.assertTrue((RingtrainClassifier().fit(numbered, y).predict(numbered) == fitted.predict(X)).all())
        self.assertTrue((RingtrainClassifier().fit(X.to_numpy(), y).score(X.to_numpy(), y)) > 0.8)
        named = X.rename(columns={"age": "label", "city": "weight"})
        self.assertGreater(RingtrainClassifier().fit(named, y, numpy.ones(len(y))).score(named, y), 0.8)

    def test_keys(self):
        """Verifies that keys of the job are parameters: of set_params, of a clone and of a search over a pipeline, whose
        folds are fitted by other processes."""
        estimator = RingtrainClassifier(set=SHORT).set_params(**{"set__optimizer.learning_rate": 0.02})
        self.assertEqual(clone(estimator).get_params()["set__optimizer.learning_rate"], 0.02)
        self.assertEqual(SHORT, {"train.epochs": 30})
        X, y = load_iris(return_X_y=True, as_frame=True)
        search = GridSearchCV(
            make_pipeline(StandardScaler().set_output(transform="pandas"), estimator),
            {"ringtrainclassifier__set__optimizer.learning_rate": [1e-6, 0.02]}, cv=3, n_jobs=2,
        )  # fmt: skip
        search.fit(X, y)
        self.assertEqual(search.best_params_, {"ringtrainclassifier__set__optimizer.learning_rate": 0.02})
        self.assertIn("learning_rate: 0.02", search.best_estimator_[-1].job_)
        with self.assertRaisesRegex(ringtrain.Error, "learning_rat"):
            RingtrainClassifier(set={"optimizer.learning_rat": 1}).fit(X, y)

    def test_pickled(self):
        """Verifies that an estimator carries its model: its pickle predicts, and no folder of it is left; and that what it
        saves is a model for the program, with the names of the classes."""
        X, y = shop()
        words = numpy.where(y, "buys", "leaves")
        before = tempfile.tempdir
        with tempfile.TemporaryDirectory() as folder:
            tempfile.tempdir = folder
            try:
                data = pickle.dumps(RingtrainClassifier(set=SHORT).fit(X, words))
                fitted = pickle.loads(data)
                predicted = fitted.predict(X)
                self.assertEqual(os.listdir(folder), [])
            finally:
                tempfile.tempdir = before
            fitted.save(os.path.join(folder, "1"))
            self.assertTrue((ringtrain.predict(os.path.join(folder, "1"), X)["class"] == predicted).all())

    def test_weights(self):
        """Verifies that weights count: records of weight 0 do not take part, and a heavy class is predicted more often."""
        X, y = shop()
        y = y.astype(int)
        wrong = numpy.concatenate([y, 1 - y])
        twice = pandas.concat([X, X])
        weight = numpy.repeat([2.5, 0], len(y))
        self.assertGreater(RingtrainClassifier().fit(twice, wrong, weight).score(X, y), 0.8)
        noise = numpy.random.default_rng(1).integers(0, 2, len(y))
        heavy = RingtrainClassifier(set=SHORT).fit(X, noise, numpy.where(noise == 1, 50, 1))
        self.assertGreater(heavy.predict(X).mean(), 0.9)
        with self.assertRaisesRegex(ringtrain.Error, "want numbers from 0"):
            RingtrainClassifier().fit(X, noise, -weight[: len(y)])

    def test_regression(self):
        """Verifies that whole numbers of few values are numbers to a regressor, also of several columns of texts."""
        X, _ = shop()
        stars = 1 + X["city"].map({"Bern": 0, "Zug": 2, "Genf": 4}).astype(int) + X["member"]
        pipeline = make_pipeline(
            make_column_transformer((StandardScaler(), make_column_selector(dtype_include="number")), remainder="passthrough", verbose_feature_names_out=False).set_output(transform="pandas"),
            RingtrainRegressor(np=2),
        )
        self.assertGreater(cross_val_score(pipeline, X, stars, cv=3).min(), 0.9)
        self.assertEqual(pipeline.fit(X, stars).predict(X).dtype, numpy.float32)


if __name__ == "__main__":
    unittest.main()
