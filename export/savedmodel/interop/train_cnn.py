"""Goes on training a checkpoint of ringtrain's cnn in TensorFlow.

    train_cnn.py DIR --images FILE --labels FILE [--steps 10] [--batch 100]

The graph is written here by hand from TensorFlow's layers, with Adam; its Saver restores
variables and slots of the newest checkpoint in DIR by their names. Then it trains on the first
records of the files (IDX). The loss of each step is printed as one JSON object. The exit code
is 1 unless the first one is far below that of an untrained model, log 10, all are finite, and
the step is counted on.
Needs tensorflow-cpu 2.21.0.
"""
import argparse
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

from check_bundle import read_idx

v1 = tf.compat.v1
tf.get_logger().setLevel("ERROR")


def network(x):
    """The logits of images [n, 28, 28, 1]."""
    def variable(name, shape):
        return v1.get_variable(name, shape=shape, use_resource=True)

    def conv(x, name, channels, filters):
        x = tf.nn.conv2d(x, variable(name + "/kernel", [5, 5, channels, filters]), 1, "SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, variable(name + "/bias", [filters])))
        return tf.nn.max_pool2d(x, 2, 2, "VALID")

    x = tf.reshape(conv(conv(x, "conv_1", 1, 32), "conv_2", 32, 64), [-1, 7 * 7 * 64])
    x = tf.nn.dropout(x, rate=0.4)
    return tf.matmul(x, variable("softmax/kernel", [7 * 7 * 64, 10])) + variable("softmax/bias", [10])


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--images", required=True)
    p.add_argument("--labels", required=True)
    p.add_argument("--steps", type=int, default=10)
    p.add_argument("--batch", type=int, default=100)
    args = p.parse_args()
    n = args.steps * args.batch
    images = read_idx(args.images)[:n].astype(np.float32)[..., None] / np.float32(255)
    labels = read_idx(args.labels)[:n].astype(np.int64)

    path = tf.train.latest_checkpoint(args.dir)
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = v1.placeholder(tf.float32, [None, 28, 28, 1]), v1.placeholder(tf.int64, [None])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=network(x)))
        step = v1.train.get_or_create_global_step()
        train = v1.train.AdamOptimizer(0.001).minimize(loss, global_step=step)
        v1.train.Saver().restore(session, path)
        before = int(session.run(step))
        losses = []
        for i in range(0, n, args.batch):
            feed = {x: images[i:i + args.batch], y: labels[i:i + args.batch]}
            losses.append(float(session.run([loss, train], feed)[0]))
        after = int(session.run(step))

    wrong = []
    if not losses[0] < 1.2:
        wrong.append("the first loss is that of an untrained model")
    if not np.all(np.isfinite(losses)):
        wrong.append("a loss is not finite")
    if after != before + args.steps:
        wrong.append("global_step is %d after %d steps from %d" % (after, args.steps, before))
    print(json.dumps({"checkpoint": path, "tensorflow": tf.__version__, "step": before, "losses": losses, "wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
