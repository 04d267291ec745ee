"""Training loops and settings that the TensorFlow drivers share."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

import common

CHUNK = 50  # steps of one call of the graph's loop


def looped(step, x, y):
    """Returns run(steps): many steps in one graph. step(x, y) trains on a batch and returns its loss."""
    @tf.function
    def loop(first, steps):
        loss = 0.0
        for i in tf.range(first, first + steps):
            loss = step(x[i % len(x)], y[i % len(x)])
        return loss
    at = 0

    def run(steps):
        nonlocal at
        while steps > 0:
            n = min(steps, CHUNK)
            loss = loop(tf.constant(at), tf.constant(n))
            at, steps = at + n, steps - n
        return loss
    return run


def fitted(net, x, y):
    """Returns run(steps) with Keras' fit over batches in memory."""
    data = tf.data.Dataset.from_tensor_slices((x, y)).cache().repeat().prefetch(2)

    def run(steps):
        return net.fit(data, epochs=1, steps_per_epoch=steps, verbose=0).history["loss"][-1]
    return run


def main(variants):
    """Serves turns with one of the variants, functions from a case to run(steps)."""
    c = common.case()
    tf.random.set_seed(1)
    tf.config.threading.set_intra_op_parallelism_threads(c["threads"])
    tf.config.threading.set_inter_op_parallelism_threads(c["threads"])
    common.serve(c, "TensorFlow " + tf.__version__, variants[c["way"]](c))
