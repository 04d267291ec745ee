"""Training: the events of a run as they come, and the run when it is done."""

import contextlib
import json
import os

from . import frames, jobs, notebook, program, scores
from .errors import Error, warn


class Run:
    """A run that is done. A model, a checkpoint and a job file that were not to be kept go with it.

    job is the path of its job file; path is that of the exported model, else of the folder of checkpoints, None without
    both; metrics are those of the evaluation of the result; events are all events.
    """

    def __init__(self, start, events):
        self.job = start.job
        self.events = events
        self.place = {"cwd": start.base, "env": start.env}  # where the names of the job lead to its records
        self._start = start  # the temporary folder goes with it
        self.checkpoint = self.export = None
        done = {}
        for event in events:
            if event["event"] == "start" and event["checkpoint_dir"]:
                self.checkpoint = os.path.join(start.base, event["checkpoint_dir"])
            elif event["event"] == "export":
                self.export = os.path.join(start.base, event["path"])
            elif event["event"] == "done":
                done = event
        self.path = self.export or self.checkpoint
        self.done = done
        self.metrics = scores.numbers(done.get("eval") or {})

    def __fspath__(self):
        if self.path is None:
            raise Error(66, f"{self.job} has neither checkpoint.dir nor export.savedmodel: want to=FOLDER to keep the model")
        return self.path

    def __repr__(self):
        return f"Run({self.job!r}, path={self.path!r})"

    @property
    def classes(self):
        """The names of the classes, texts; [] of a regression."""
        if "classes" in self.metrics:
            return self.metrics["classes"]
        for event in program.Command("inspect", os.fspath(self)):
            if event["event"] == "classes":
                return event["classes"]
        return []

    def report(self, to="report.html"):
        """Writes the page of the run, one file of HTML, and returns its path."""
        if self.checkpoint is None:
            raise Error(66, f"{self.job} has no checkpoint.dir, where the history is: want to=FOLDER")
        for _ in program.Command("report", self.checkpoint, "-o", os.fspath(to)):
            pass
        return os.path.abspath(to)


def train(job=None, *, on_event=None, progress=None, **how):
    """Trains and returns the Run.

    job is a job file, a Draft, the name of a built-in job, or a dict with the keys of a job file. Or data is given, a data
    frame or paths of files: then `ringtrain init` drafts the job, and label names the column to predict.

    to is a folder that keeps job file, checkpoint and export. np is the number of ranks (1), hosts is -H of `ringtrain run`,
    set a dict of keys and values, args a list of further options. on_event is called with each event, a dict. kind, key, weight
    and regression draft as init does.

    In a notebook a line shows how far the run is, unless there is on_event; progress says otherwise.
    """
    start = _Start(job, **how)
    show = notebook.line() if progress or progress is None and on_event is None else None
    seen = []
    with contextlib.closing(start.events()) as events:
        for event in events:
            seen.append(event)
            if show:
                show(event)
            if on_event:
                on_event(event)
    return Run(start, seen)


def events(job=None, **how):
    """Trains as train does, and yields each event, a dict, as it comes. Closing the iterator ends the ranks."""
    return _Start(job, **how).events()


class _Start:
    """What is to be run, and where."""

    def __init__(self, job=None, *, data=None, label=None, to=None, np=None, hosts=None, set=None, args=(), **draft):
        if (job is None) == (data is None):
            raise Error(64, "want either a job or data")
        if data is None and (label is not None or draft):
            raise Error(64, f"{', '.join(['label', *draft])} draft a job of data, want data with them")
        self.folder = jobs.Folder()
        self.env = {}
        self._set = dict(set or {})
        self._options = list(args)
        if hosts is not None:
            if not isinstance(hosts, str) or frames.is_frame(data):
                raise Error(64, "with hosts want hosts=\"a:2,b:2\", and no data frame: other hosts do not have it")
            if not to and (job is None or isinstance(job, dict) or getattr(job, "kept", True) is False):
                raise Error(64, "with hosts want a job file that each host has, or to=FOLDER that all hosts reach")
            self._options += ["-H", hosts, "--push"]
        if np is not None or hosts is None:
            self._options += ["-np", str(1 if np is None else np)]
        self.kept = bool(to)
        home = jobs.absolute(to) if to else self.folder.path
        self.base = os.getcwd() if data is None else home  # relative outputs mean this folder
        if to:
            os.makedirs(home, exist_ok=True)
            self._options += ["--resume", "never"]
        name = os.path.basename(home) if to else "job"
        if data is not None:
            self._draft(data, home, name, label=label, **draft)
        elif isinstance(job, dict):
            self._write(job, home, name)
        else:
            self.job = os.fspath(job)
            if isinstance(job, jobs.Draft):
                self.draft = job  # its records go with it
            if to or isinstance(job, jobs.Draft) and not job.kept:
                self._keep(home, name)

    def _draft(self, data, home, name, **how):
        """Has init draft the job in home. Its outputs are relative to home, its records to the temporary folder."""
        if frames.is_frame(data):
            files = [os.path.basename(frames.write(data, self.folder.path, name)[0])]
            self.env = {"RINGTRAIN_DATA": self.folder.path}
        else:
            files = jobs.paths(data)
        self.job = os.path.join(home, name + ".yaml")
        columns = jobs.draft(files, self.job, self.folder, cwd=home, env=self.env, **how).columns
        left = [f"{column['column']} ({column['why']})" for column in columns if column["becomes"] == "ignore"]
        if left:
            warn(f"the model does not learn from {', '.join(left)}")
        if self._set:
            self._rewrite(self.job)

    def _write(self, job, home, name):
        """Writes a dict as a job file. Its outputs are in home, unless it names others."""
        outputs = {"checkpoint": ("dir", "ckpt"), "export": ("savedmodel", "export")}
        for group, (key, folder) in outputs.items():
            if self.kept or group == "checkpoint":
                job = {**job, group: {key: os.path.join(home, folder, name), **job.get(group, {})}}
        self.job = os.path.join(home, name + ".yaml")
        with open(self.job, "w", encoding="utf-8") as file:
            json.dump({"name": name, **job}, file, ensure_ascii=False, indent=2)

    def _keep(self, home, name):
        """Writes the job in force into home, with its outputs there."""
        self._set = {"checkpoint.dir": os.path.join(home, "ckpt", name), "export.savedmodel": os.path.join(home, "export", name), **self._set}
        self._rewrite(os.path.join(home, name + ".yaml"))

    def _rewrite(self, to):
        """Writes the job and its settings as one job file."""
        text = jobs.in_force(self.job, jobs.settings(self._set), self.base, self.env)
        with open(to, "w", encoding="utf-8") as file:
            file.write(text)
        self.job, self._set = to, {}

    def events(self):
        """Yields the events of the run."""
        yield from program.Command("run", "--with-parent", self.job, *jobs.settings(self._set), *self._options, cwd=self.base, env=self.env)
