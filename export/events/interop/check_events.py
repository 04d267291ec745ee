"""Reads the event files of a folder with both of TensorBoard's loaders: the one in
Python, and the data server behind the page's HTTP API. Prints one JSON object with the
curves of each, as lists of [step, value].

    python check_events.py FOLDER
"""

import json
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder = sys.argv[1]


def by_python():
    accumulator = EventAccumulator(folder, size_guidance={"scalars": 0})
    accumulator.Reload()
    return {tag: [[e.step, e.value] for e in accumulator.Scalars(tag)] for tag in accumulator.Tags()["scalars"]}


def get(address, path, **query):
    with urllib.request.urlopen(address + path + "?" + urllib.parse.urlencode(query), timeout=30) as answer:
        return json.load(answer)


def by_page(address):
    for _ in range(120):  # the server loads in the background
        runs = get(address, "data/plugin/scalars/tags")
        if runs:
            break
        time.sleep(0.5)
    (run, tags), = runs.items()
    return {tag: [[step, value] for _, step, value in get(address, "data/plugin/scalars/scalars", run=run, tag=tag)] for tag in tags}


command = [sys.executable, "-m", "tensorboard.main", "--logdir", folder, "--port", "0", "--host", "127.0.0.1", "--samples_per_plugin", "scalars=100000"]
server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
try:
    said = ""
    for line in server.stderr:
        said += line
        found = re.search(r"http://[^ ]+", line)
        if found:
            break
    else:
        sys.exit("tensorboard has not started: " + said)
    page = by_page(found.group())
finally:
    server.terminate()
    server.wait()
print(json.dumps({"python": by_python(), "page": page}))
