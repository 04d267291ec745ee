"""Records of a regression: dense features and a label that is no whole number.
Needs TensorFlow 2.x (made with 2.21.0).

    python make_records.py OUTDIR

Writes OUTDIR/regression/train.tfrecords: 50 examples with the features "features",
three floats, and "label", one. All are multiples of 1/8, exact in float32.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf


def floats(*values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


if __name__ == "__main__":
    out = os.path.join(sys.argv[1] if len(sys.argv) > 1 else ".", "regression")
    os.makedirs(out, exist_ok=True)
    with tf.io.TFRecordWriter(os.path.join(out, "train.tfrecords")) as w:
        for i in range(50):
            x = [(i * k % 17 - 8) / 8 for k in (3, 5, 7)]
            example = tf.train.Example(features=tf.train.Features(feature={
                "features": floats(*x), "label": floats(10 + 2 * x[0] - x[1] + x[2] / 2 - 0.125 * (i % 3))}))
            w.write(example.SerializeToString(deterministic=True))
