"""Predictions, metrics and checks: of a run, or of what a path names."""

import os

from . import frames, jobs, program
from .errors import Error

# A number that JSON does not know is one of these texts.
NOT_FINITE = {"NaN", "+Inf", "-Inf"}


def predict(model, data, *, args=()):
    """Returns predictions for records, in their order: `class` and `score`, or `score_NAME` of each class, or `prediction`.

    model is a Run, or the path of a bundle, of a checkpoint or of a job file. data is a data frame, and the result one with
    its index; or data is the path of a file or several, and the result has the key columns of the job, too. Without pandas
    the result is a list of dicts.
    """
    folder = jobs.Folder()
    files, options = _files(data, folder)
    rows = []
    command = program.Command("predict", os.fspath(model), *files, *options, *args)
    for event in command:
        if event["event"] == "prediction":
            rows.append(_row(event, frames.is_frame(data)))
    if not frames.is_frame(data):
        return frames.of_rows(rows)
    if len(rows) != len(data):
        raise Error(65, f"{len(data) - len(rows)} of {len(data)} records have no prediction: {command.said().strip()}", frames.PAGE)
    return frames.of_rows(rows, data.index)


def evaluate(model, data=None, *, split=None, args=()):
    """Returns the metrics of a model, a dict: on the validation records of its job, or on those of data or of a split."""
    folder = jobs.Folder()
    files, options = ([], []) if data is None else _files(data, folder)
    if split is not None:
        options = [*options, "--split", split]
    for event in program.Command("eval", os.fspath(model), *files, *options, *args):
        if event["event"] == "eval":
            return event
    return {}


def check(job, *, args=()):
    """Returns what `ringtrain data check` says of the records of a job: events of columns, and findings."""
    return list(program.Command("data", "check", os.fspath(job), *args))


def _files(data, folder):
    """Returns the files of data, and the options with which a command reads those of a frame."""
    if frames.is_frame(data):
        file, keys = frames.write(data, folder.path, "records")
        return [file], jobs.settings(keys)
    return [jobs.absolute(one) for one in ([data] if isinstance(data, (str, os.PathLike)) else data)], []


def _row(event, answer_only):
    """Returns a prediction as a dict. answer_only leaves out what the frame has: keys, and the number of the record."""
    row = {name: value for name, value in event.items() if name not in ("event", "time")}
    if answer_only:
        names = list(row)
        first = next((i for i, name in enumerate(names) if name in ("class", "prediction")), 0)
        row = {name: row[name] for name in names[first:] if name != "record"}
    for name, value in row.items():
        if value in NOT_FINITE and name.startswith(("score", "prediction")):
            row[name] = float(value)
    return row
