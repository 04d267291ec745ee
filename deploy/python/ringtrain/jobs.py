"""Job files: one that is given, one made of a dict, and one that `ringtrain init` drafts from records."""

import json
import os
import shutil
import tempfile
import weakref

from . import frames, program
from .errors import Error


class Draft:
    """A job file that init has written. job is its path, columns are what init says of each column.

    It can stand for the job file: train(draft). A data frame's records lie in a folder that goes with the draft.
    """

    def __init__(self, job, columns, label, folder):
        self.job = job
        self.columns = columns
        self.label = label
        self.kept = not job.startswith(folder.path)
        self._folder = folder

    def __fspath__(self):
        return self.job

    def __repr__(self):
        return f"Draft({self.job!r})"

    @property
    def text(self):
        """The text of the job file."""
        with open(self.job, encoding="utf-8") as file:
            return file.read()


class Folder:
    """A temporary folder that goes with the last object that has it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="ringtrain_")
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def init(data, label=None, to=None, **draft_of):
    """Writes a job file from a look at records: `ringtrain init`.

    data is a data frame, or the path of a file or several. to is the job file, which is replaced; without it the job file
    goes with the returned Draft. kind is that of the model, key names the columns that predictions hand on, weight the column
    of what a record counts. With regression the label is a number, also one of few values.
    """
    folder, frame = Folder(), None
    if frames.is_frame(data):
        frame = frames.write(data, folder.path, "records")[0]
    files = [frame] if frame else paths(data)
    job = absolute(to) if to else os.path.join(folder.path, "job.yaml")
    return draft(files, job, folder, label=label, frame=frame, **draft_of)


def draft(files, job, folder, *, label=None, kind=None, key=(), weight=None, regression=False, cwd=None, env=None, frame=None):
    """Runs `ringtrain init` on files."""
    args = ["init", *files, "--to", job, "--force", *(["--regression"] if regression else [])]
    keys = [key] if isinstance(key, str) else key
    for option, value in (("--label", label), ("--kind", kind), ("--weight", weight), *(("--key", one) for one in keys)):
        if value is not None:
            args.append(f"{option}={value}")
    columns, label = [], None
    for event in program.Command(*args, cwd=cwd, env=env, frame=frame):
        if event["event"] == "column":
            columns.append(event)
        elif event["event"] == "init":
            label = event["label"]
    return Draft(job, columns, label, folder)


def paths(data):
    """Returns the absolute paths, or URLs, of data that is the path of a file or several."""
    several = [data] if isinstance(data, (str, os.PathLike)) or not hasattr(data, "__iter__") else list(data)
    if not all(isinstance(one, (str, os.PathLike)) for one in several):
        raise Error(64, f"data is of type {type(data).__name__}, want a data frame of pandas, or the path of a file or several")
    return [absolute(one) for one in several]


def absolute(file):
    """Returns the absolute path of a file, or a URL as it is."""
    file = os.fspath(file)
    return file if "://" in file else os.path.abspath(os.path.expanduser(file))


def settings(changes):
    """Returns --set options for changes, a dict of keys and values."""
    options = []
    for key, value in (changes or {}).items():
        value = value.item() if hasattr(value, "item") else value  # a number of numpy
        options += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"]
    return options


def in_force(job, options, cwd=None, env=None):
    """Returns the text of the job file that a job and options make together."""
    return program.text("run", job, *options, "--print-options", cwd=cwd, env=env)
