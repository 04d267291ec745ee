"""Predictions, metrics and checks: of a run, or of what a path names."""

import os

from . import frames, jobs, program
from .errors import Error

# A number that JSON does not know is one of these texts.
NOT_FINITE = {"NaN", "+Inf", "-Inf"}

# The fields of metrics that are texts.
TEXTS = {"event", "time", "split", "classes"}


def predict(model, data, *, args=()):
    """Returns predictions for records, in their order: `class` and `score`, or `score_NAME` of each class, or `prediction`.

    model is a Run, or the path of a bundle, of a checkpoint or of a job file. data is a data frame, and the result one with
    its index; or data is the path of a file or several, and the result has the key columns of the job, too. Without pandas
    the result is a list of dicts.
    """
    folder = jobs.Folder()
    files, options, frame = _files(data, folder)
    command = program.Command("predict", os.fspath(model), *files, *options, *args, frame=frame)
    found = [event for event in command if event["event"] == "prediction"]
    if not frames.is_frame(data):
        return frames.of_rows(_rows(found, ("event", "time")))
    if len(found) != len(data):
        raise Error(65, f"{len(data) - len(found)} of {len(data)} records have no prediction: {command.said().strip()}", frames.PAGE)
    # Behind the keys, which the frame has. No key is called like the first field of an answer.
    names = list(found[0])
    first = next((i for i, name in enumerate(names) if name in ("class", "prediction")), 0)
    return frames.of_rows(_rows(found, ("event", "time", "record", *names[:first])), data.index)


def evaluate(model, data=None, *, split=None, args=()):
    """Returns the metrics of a model, a dict: on the validation records of its job, or on those of data or of a split."""
    folder = jobs.Folder()
    files, options, frame = ([], [], None) if data is None else _files(data, folder)
    if split is not None:
        options = [*options, "--split", split]
    for event in program.Command("eval", os.fspath(model), *files, *options, *args, frame=frame, **getattr(model, "place", {})):
        if event["event"] == "eval":
            return numbers(event)
    return {}


def check(job, *, args=()):
    """Returns what `ringtrain data check` says of the records of a job: an event of each column, and of each finding. A finding
    whose `ends` is true ends the job.
    """
    found = []
    try:
        for event in program.Command("data", "check", os.fspath(job), *args):
            found.append(event)
    except Error:
        if not any(event["event"] == "finding" for event in found):
            raise
    return [event for event in found if event["event"] != "error"]


def _files(data, folder):
    """Returns the files of data, the options with which a command reads those of a frame, and the file of one."""
    if frames.is_frame(data):
        file, keys = frames.write(data, folder.path, "records")
        return [file], jobs.settings(keys), file
    return jobs.paths(data), [], None


def numbers(value):
    """Returns metrics, or a part of them, whose numbers are numbers, also those that JSON does not know."""
    if isinstance(value, dict):
        return {name: one if name in TEXTS else numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [numbers(one) for one in value]
    return float(value) if value in NOT_FINITE else value


def _rows(events, without):
    """Returns events of predictions as dicts, whose numbers are numbers, too."""
    names = [name for name in events[0] if name not in without] if events else []
    scored = {name for name in names if name.startswith(("score", "prediction"))}
    return [{name: numbers(event[name]) if name in scored else event[name] for name in names} for event in events]
