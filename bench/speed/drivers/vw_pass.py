"""Vowpal Wabbit's linear learner over a whole file, from text or from its cache.

    DRIVER.py CASE.json RANK RANKS

Each line of the standard input of rank 0 is a turn: one pass, from the opening of the
file to the end of learning. Two ranks have half of the text each, and sum their weights
over VW's spanning tree at the end of the pass. The clock starts in a Python that has
loaded VW already. The way noop parses alone; its figure is of CPU seconds.
"""
import contextlib
import multiprocessing
import os
import socket
import struct
import sys
import time

import vowpalwabbit

import common


def arguments(c, path, port):
    words = ["-d", path, "--quiet"]
    if c["way"] == "noop":
        return words + ["--noop"]
    words += ["-b", str(c["bits"]), "--loss_function", "logistic", "-l", str(c["vw_rate"])]
    if c["way"] == "cache":
        words += ["--cache_file", path + ".cache"]
    if c["ranks"] > 1:
        words += ["--span_server", "127.0.0.1", "--span_server_port", str(port), "--unique_id", "1",
                  "--total", str(c["ranks"]), "--node", str(c["rank"])]
    return words


def one_pass(words):
    """Seconds of the clock and of the CPU, mean loss, examples of this rank."""
    wall, cpu = time.perf_counter(), time.process_time()
    learner = vowpalwabbit.Workspace(arg_list=words, enable_logging=False)
    learner.finish()
    took = time.perf_counter() - wall, time.process_time() - cpu
    return took, learner.get_sum_loss() / max(learner.get_weighted_examples(), 1)


def half(c):
    """The text of this rank: the whole file, or lines of one half of its bytes."""
    if c["ranks"] == 1:
        return c["text"]
    path = "%s.part-%d" % (sys.argv[1], c["rank"])
    size = os.path.getsize(c["text"])
    with open(c["text"], "rb") as f, open(path, "wb") as out:
        last = line_start(f, size * (c["rank"] + 1) // c["ranks"], size)
        first = line_start(f, size * c["rank"] // c["ranks"], size)
        f.seek(first)
        out.write(f.read(last - first))
    return path


def line_start(f, at, size):
    if at == 0 or at >= size:
        return min(at, size)
    f.seek(at - 1)
    f.readline()
    return f.tell()


class Tree:
    """The coordinator of two VW processes: whoever comes first is the root, the other its child.

    A client sends an id, the number of processes and its own, 8 bytes each. It is told
    that it is welcome (4 bytes) and how many children it has (2), sends the port that it
    listens on (2), and is told the address of its parent (4 and 2; of none: all ones).
    """

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(8)
        self.port = self.listener.getsockname()[1]
        self.process = multiprocessing.get_context("fork").Process(target=self.serve, daemon=True)
        self.process.start()

    def serve(self):
        while True:
            clients = [self.listener.accept()[0] for _ in range(2)]
            for c in clients:
                read(c, 24)
                c.sendall(struct.pack("<i", 1))
            for c, children in zip(clients, (1, 0)):
                c.sendall(struct.pack("<H", children))
            ports = [read(c, 2) for c in clients]
            clients[0].sendall(b"\xff" * 6)
            clients[1].sendall(socket.inet_aton("127.0.0.1") + ports[0])
            for c in clients:
                c.close()


def read(client, n):
    data = b""
    while len(data) < n:
        more = client.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def main():
    c = common.case()
    path, agree = half(c), common.Agreement(c).of
    tree = Tree() if c["ranks"] > 1 and c["rank"] == 0 else None
    words = arguments(c, path, agree(tree.port if tree else 0))
    if c["way"] == "cache":
        one_pass(words)  # writes the cache
    turns = common.turns_of_input("Vowpal Wabbit %s" % vowpalwabbit.__version__) if c["rank"] == 0 else iter(lambda: 1.0, None)
    for seconds in turns:
        if agree(1 if seconds > 0 else 0) == 0:
            return
        (wall, cpu), loss = one_pass(words)
        if c["rank"] == 0:
            common.say({"examples_per_s": c["rows"] / (cpu if c["way"] == "noop" else wall), "loss": loss})


with contextlib.suppress(KeyboardInterrupt):
    main()
