"""Train and use models of ringtrain from Python.

The module starts the program ringtrain, which the wheel brings, and reads its events. It computes nothing: metrics,
classes and predictions are those of the program. pandas and pyarrow are used if they are there.

    run = ringtrain.train(data=df, label="churn", np=2)
    run.metrics["auc"], run.classes, run.path
    scores = ringtrain.predict(run, new_df)

`ringtrain help docs/python` prints the manual.
"""

from importlib import metadata

from .errors import Error
from .jobs import Draft, init
from .runs import Run, events, train
from .scores import check, evaluate, predict

__all__ = ["Draft", "Error", "Run", "check", "evaluate", "events", "init", "predict", "train"]

try:
    __version__ = metadata.version("ringtrain")
except metadata.PackageNotFoundError:  # a folder of sources, which no wheel has installed
    __version__ = "0"
