"""The program ringtrain: where it is, and one run of a command."""

import collections
import json
import os
import queue
import shutil
import signal
import subprocess
import sysconfig
import threading
import weakref

from .errors import Error, warn

NAME = "ringtrain"

# The launcher kills its ranks 10 s after the first of them has obeyed, and gives up after 10 s more.
ENDS_WITHIN_S = 30


def path():
    """Returns the program that came with this module, else the one in PATH."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [os.path.join(site, "bin")]  # of pip install --target
    for paths in (sysconfig.get_paths(), sysconfig.get_paths("posix_user")):
        if site in (paths["platlib"], paths["purelib"]):
            folders.insert(0, paths["scripts"])
    for folder in folders:
        found = os.path.join(folder, NAME)
        if os.access(found, os.X_OK):
            return found
    found = shutil.which(NAME)
    if found is None:
        raise Error(127, f"the program {NAME} is neither in {' nor in '.join(folders)}, nor in PATH: install the wheel again")
    return found


def text(*args, cwd=None, env=None):
    """Returns what a command prints on standard output."""
    done = subprocess.run([path(), *args], cwd=cwd, env=_environment(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"event":"error"')]
        raise _error(done.returncode, events[-1] if events else {}, done.stderr)
    return done.stdout


def _environment(env):
    """Returns the environment of a command, which writes events."""
    return {**os.environ, **(env or {}), "RINGTRAIN_JSON": "1"}


def _error(code, failure, said):
    """Returns the error of a command that ended with a code, an event of its first cause, {} for none, and words for people."""
    code = 128 - code if code < 0 else code
    cause = failure.get("cause") or said.strip().rpartition("\n")[2] or f"{NAME} ended with exit code {code}"
    return Error(code, cause, failure.get("doc", ""), said)


class Command:
    """One run of a command that writes events. Iterate over it to get its events; close it to end the program.

    Both pipes are read as the program writes, whoever reads the events and when. The program is in the process group of
    Python: Ctrl-C on a terminal and the interrupt of a notebook reach it, too.
    """

    def __init__(self, *args, cwd=None, env=None, frame=None):
        """frame is the file of a data frame, of which nobody has heard: messages name the frame."""
        self._named = (lambda line: line.replace(frame, "the data frame")) if frame else lambda line: line
        self._events = queue.SimpleQueue()
        self._said = collections.deque(maxlen=1000)
        self._process = subprocess.Popen(
            [path(), *args],
            cwd=cwd,
            env=_environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        self.close = weakref.finalize(self, _end, self._process)
        self._readers = []
        for read, pipe, to in ((_events, self._process.stdout, self._events.put), (_lines, self._process.stderr, self._said.append)):
            self._readers.append(threading.Thread(target=read, args=(pipe, to, self._named), daemon=True))
            self._readers[-1].start()

    def __iter__(self):
        """Yields each event as it comes. Raises Error if the program ends with another code than 0. Its warnings are Python's."""
        failure = {}
        try:
            for event in iter(self._events.get, None):
                if event["event"] == "error":
                    failure = event
                elif event["event"] == "warning":
                    warn(event["cause"])
                yield event
            code = self._process.wait()
        finally:
            self.close()
        for reader in self._readers:
            reader.join()
        if code != 0:
            raise _error(code, failure, self.said())

    def said(self):
        """Returns what the program has said to people, the last lines of it."""
        return "".join(self._said)


def _events(pipe, put, named):
    """Reads the lines of standard output to their end."""
    with pipe:
        for line in pipe:
            try:
                put(json.loads(named(line)))
            except ValueError:
                continue  # no event, or the last line of a program that was killed
    put(None)


def _lines(pipe, put, named):
    """Reads the lines of standard error to their end."""
    with pipe:
        for line in pipe:
            put(named(line))


def _end(process):
    """Ends a program as Ctrl-C does, waits for it, and kills it if it does not end. No rank is left."""
    while process.poll() is None:
        try:
            process.send_signal(signal.SIGINT)
            process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()  # its guard ends the ranks
        except KeyboardInterrupt:
            continue  # the launcher hurries on a second signal
