"""Estimators of scikit-learn (1.6 or newer) that train and predict with the program ringtrain.

    from ringtrain.sklearn import RingtrainClassifier
    cross_val_score(RingtrainClassifier(), X, y)
    GridSearchCV(RingtrainClassifier(), {"set__optimizer.learning_rate": [0.003, 0.01], "kind": ["linear", "mlp"]})
"""

import pathlib
import re

import numpy
import pandas
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import frames, jobs, runs, scores

# A parameter with this in front is a key of the job.
KEY = "set__"

# Begins with no digit, has a letter, and blanks only between.
WORD = r"(?=.*[^\W\d_])[^\d\s+.-]\S*( \S+)*"


class _Estimator(BaseEstimator):
    """`ringtrain init` drafts its job from the records, and chooses what each column becomes.

    kind is the kind of the model, np the number of ranks, set a dict of keys of the job and their values. As a parameter
    of its own a key has set__ in front: set_params(**{"set__train.epochs": 5}).

    A fitted estimator has bundle_, the files of the exported model, metrics_ of the records that the run has held out to
    stop early, and job_, the text of the job file.
    """

    def __init__(self, *, kind=None, np=1, set=None):
        self.kind = kind
        self.np = np
        self.set = set

    def get_params(self, deep=True):
        """Returns the parameters; if deep, each key of set, too."""
        params = super().get_params(deep)
        if deep and isinstance(self.set, dict):
            params.update({KEY + key: value for key, value in self.set.items()})
        return params

    def set_params(self, **params):
        """Changes parameters, and keys of set."""
        keys = {name[len(KEY) :]: params.pop(name) for name in list(params) if name.startswith(KEY)}
        super().set_params(**params)
        if keys:
            self.set = {**(self.set or {}), **keys}
        return self

    def save(self, to):
        """Writes the exported model into the folder to, for `ringtrain serve` and TensorFlow."""
        check_is_fitted(self)
        for name, data in self.bundle_.items():
            path = pathlib.Path(to, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _records(self, X, y, sample_weight, dtype=None):
        """Returns checked records, labels and weights. Records of weight 0 do not take part."""
        frame = self._frame(X, reset=True)
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        y = column_or_1d(y, dtype=dtype, warn=True)
        assert_all_finite(y, input_name="y")
        check_consistent_length(frame, y, sample_weight)
        if sample_weight is None:
            return frame, y, None
        weight = column_or_1d(sample_weight, dtype=numpy.float64)
        assert_all_finite(weight, input_name="sample_weight")
        if not weight.any():
            raise ValueError("sample_weight is zero for each record, want numbers above 0")
        return frame[weight != 0], y[weight != 0], weight[weight != 0]

    def _train(self, frame, label, weight, **how):
        """Trains on checked records and returns the run. Its model is kept, however little it has learnt."""
        columns = {_free("label", frame): label}
        how["label"] = next(iter(columns))
        if weight is not None:
            how["weight"] = _free("weight", frame)
            columns[how["weight"]] = weight
        changes = {"export.if": "always", **(self.set or {})}
        run = runs.train(data=frame.assign(**columns), kind=self.kind, np=self.np, set=changes, args=["--resume", "never"], progress=False, **how)
        folder = pathlib.Path(run)
        self.bundle_ = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        self.metrics_ = run.metrics
        self.job_ = pathlib.Path(run.job).read_text(encoding="utf-8")
        return run

    def _predictions(self, X):
        """Returns a frame with what the model says of records."""
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        folder = jobs.Folder()
        self.save(folder.path)
        return scores.predict(folder.path, frame)

    def _frame(self, X, reset):
        """Returns X as a data frame. reset notes the number and the names of its columns, else they must be those noted."""
        if frames.is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            frame = X
        else:
            least = 2 if reset else 1  # one trains, one is held out
            frame = pandas.DataFrame(validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan", ensure_min_samples=least)).infer_objects()
        if not hasattr(self, "feature_names_in_"):
            frame = frame.set_axis([f"x{i}" for i in range(frame.shape[1])], axis="columns")
        return frame


class RingtrainClassifier(ClassifierMixin, _Estimator):
    __doc__ = "A classifier: " + _Estimator.__doc__

    def fit(self, X, y, sample_weight=None):
        """Trains on records, an array or a data frame, and their classes."""
        frame, y, weight = self._records(X, y, sample_weight)
        check_classification_targets(y)
        self.classes_, places = numpy.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has 1 class, {self.classes_[0]!r}, want two or more")
        names = _names(self.classes_)
        run = self._train(frame, numpy.array(names, dtype=object)[places], weight)
        self._places = {name: names.index(name) for name in run.classes}
        return self

    def predict(self, X):
        """Returns the class of each record."""
        rows = self._predictions(X)
        return self.classes_[rows["class"].map(self._places).to_numpy()]

    def predict_proba(self, X):
        """Returns the probability of each class, in the order of classes_: float32, as the model has them."""
        rows = self._predictions(X)
        result = numpy.empty((len(rows), len(self.classes_)), numpy.float32)
        if len(self.classes_) == 2:
            at = list(self._places.values())[1]  # the score is that of the model's second class
            result[:, at] = rows["score"]
            result[:, 1 - at] = 1 - rows["score"]
        else:
            for name, at in self._places.items():
                result[:, at] = rows["score_" + name]
        return result


class RingtrainRegressor(RegressorMixin, _Estimator):
    __doc__ = "A regression: " + _Estimator.__doc__

    def fit(self, X, y, sample_weight=None):
        """Trains on records, an array or a data frame, and their numbers."""
        self._train(*self._records(X, y, sample_weight, numpy.float64), regression=True)
        return self

    def predict(self, X):
        """Returns the number of each record: float32, as the model has it."""
        return self._predictions(X)["prediction"].to_numpy(numpy.float32)


def _names(classes):
    """Returns the names of classes in the model: their own if these are plain words, which no reader takes for numbers."""
    if len(classes) <= 20 and all(isinstance(one, str) and re.fullmatch(WORD, one) for one in classes):
        return [str(one) for one in classes]
    return [f"class_{i}" for i in range(len(classes))]


def _free(name, frame):
    """Returns a name that no column has."""
    while name in frame.columns:
        name += "_"
    return name
