"""TensorFlow answers requests by a signature of an exported model; see common.py.

The figure of a turn is the records of a request by the median time of a request.
"""
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

import common


def request(c):
    if c["texts"]:
        return tf.constant([t.numpy() for t in tf.data.TFRecordDataset(c["request"])])
    return tf.constant(np.fromfile(c["request"], "<f4").reshape(c["batch"], -1))


def main():
    c = common.case()
    tf.config.threading.set_intra_op_parallelism_threads(c["threads"])
    tf.config.threading.set_inter_op_parallelism_threads(c["threads"])
    model = tf.saved_model.load(c["bundle"])
    signature, inputs = model.signatures[c["signature"]], {c["input"]: request(c)}

    def ask():
        start = time.perf_counter()
        for out in signature(**inputs).values():
            out.numpy()
        return time.perf_counter() - start

    for _ in range(20):
        ask()
    for seconds in common.turns_of_input("TensorFlow " + tf.__version__):
        took, end = [], time.perf_counter() + seconds
        while seconds > 0 and time.perf_counter() < end:
            took.append(ask())
        if took:
            common.say({"examples_per_s": c["batch"] / statistics.median(took), "loss": 0})


main()
