"""Shared parts of the drivers of a training step: the case, its records, the clock.

    DRIVER.py CASE.json RANK RANKS

CASE.json holds the model, the batch over all ranks, the optimizer and the IDX
files of the records. After a warm-up rank 0 prints {"library": its version}. Each line of
rank 0's standard input is a number of seconds. All ranks train for about that time, and
rank 0 prints one JSON object: examples_per_s, loss (of the last step), steps. All ranks
end at the end of the input.
"""
import gzip
import json
import os
import sys
import time

import numpy as np

FIRST_STEPS = 4  # before the first measurement of a step
PAUSE_S = 0.002  # polling interval of a rank that waits for its turn


def case():
    with open(sys.argv[1]) as f:
        c = json.load(f)
    c["rank"], c["ranks"] = int(sys.argv[2]), int(sys.argv[3])
    c["local"] = c["batch"] // c["ranks"]
    return c


def idx(path, header):
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with opened as f:
        return np.frombuffer(f.read(), np.uint8, offset=header)


def records(c):
    """This rank's part of each batch, in memory: float32 [batches, local, 784], int64 labels."""
    x = idx(c["images"], 16).reshape(-1, 784)
    y = idx(c["labels"], 8)
    batches = len(x) // c["batch"]
    n = batches * c["batch"]
    mine = slice(c["rank"] * c["local"], (c["rank"] + 1) * c["local"])
    x = x[:n].reshape(batches, c["batch"], 784)[:, mine]
    y = y[:n].reshape(batches, c["batch"])[:, mine]
    return np.ascontiguousarray(x.astype(np.float32) / 255), np.ascontiguousarray(y.astype(np.int64))


class Agreement:
    """Rank 0 sends the other ranks a number in a file beside the case.

    A library's own communication may busy-wait and take a core from the contender whose
    turn it is.
    """

    def __init__(self, c):
        self.c, self.count = c, 0

    def of(self, n):
        if self.c["ranks"] == 1:
            return n
        path = "%s.number-%d" % (sys.argv[1], self.count)
        self.count += 1
        if self.c["rank"] == 0:
            with open(path + ".new", "w") as f:
                f.write(str(n))
            os.rename(path + ".new", path)
            return n
        while not os.path.exists(path):
            time.sleep(PAUSE_S)
        with open(path) as f:
            return int(f.read())


def serve(c, library, run):
    """Answers turns. run(steps) trains and returns the loss of its last step."""
    agree = Agreement(c).of

    def timed(steps):
        start = time.perf_counter()
        loss = run(steps)
        return loss, time.perf_counter() - start

    def steps_of(seconds, steps, took):
        return max(FIRST_STEPS, int(steps * seconds / took))

    run(FIRST_STEPS)
    steps = FIRST_STEPS
    _, took = timed(steps)
    for seconds in (c["warm_s"] / 4, c["warm_s"]):
        steps = agree(steps_of(seconds, steps, took))
        _, took = timed(steps)
    turns = turns_of_input(library) if c["rank"] == 0 else iter(lambda: 1.0, None)
    for seconds in turns:
        steps = agree(0 if seconds == 0 else steps_of(seconds, steps, took))
        if steps == 0:
            return
        loss, took = timed(steps)
        if c["rank"] == 0:
            say({"examples_per_s": steps * c["batch"] / took, "loss": float(loss), "steps": steps})


def turns_of_input(library):
    """The seconds of each turn; 0 at the end."""
    say({"library": library})
    for line in sys.stdin:
        yield float(line)
    yield 0.0


def say(answer):
    print(json.dumps(answer), flush=True)
