"""Restores a checkpoint of ringtrain into a TensorFlow 1 graph and goes on training.

    check_checkpoint.py DIR --optimizer NAME [--centered]

DIR is the folder of checkpoints: tf.train.latest_checkpoint must find the
newest. The graph has the checkpoint's variables and TensorFlow's own optimizer
of that name, so its Saver asks for every slot by TensorFlow's name. After the
restore each value must be the checkpoint's, to the bit, and one more step must
give finite numbers.

One JSON object is printed; the exit code is 1 if anything differs.
Needs tensorflow-cpu 2.21.0.
"""
import argparse
import json
import os
import re
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
tf.get_logger().setLevel("ERROR")

OPTIMIZERS = {
    "sgd": ("GradientDescent", lambda a: v1.train.GradientDescentOptimizer(0.01)),
    "momentum": ("Momentum", lambda a: v1.train.MomentumOptimizer(0.01, 0.9)),
    "adagrad": ("Adagrad", lambda a: v1.train.AdagradOptimizer(0.01)),
    "adadelta": ("Adadelta", lambda a: v1.train.AdadeltaOptimizer(0.01)),
    "adam": ("Adam", lambda a: v1.train.AdamOptimizer(0.01)),
    "ftrl": ("Ftrl", lambda a: v1.train.FtrlOptimizer(0.01)),
    "rmsprop": ("RMSProp", lambda a: v1.train.RMSPropOptimizer(0.01, centered=a.centered)),
}
OWN = re.compile(r"^(global_step|beta[12]_power|_ringtrain/.*)$")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("dir")
    p.add_argument("--optimizer", required=True, choices=sorted(OPTIMIZERS))
    p.add_argument("--centered", action="store_true")
    args = p.parse_args()
    slot_name, make = OPTIMIZERS[args.optimizer]

    path = tf.train.latest_checkpoint(args.dir)
    if path is None:
        print(json.dumps({"dir": args.dir, "wrong": ["tf.train.latest_checkpoint finds nothing"]}))
        return 1
    shapes = dict(tf.train.list_variables(path))
    slot = re.compile(r"/%s(_\d+)?$" % slot_name)
    names = [n for n in shapes if not OWN.match(n) and not slot.search(n)]
    wrong, unused = [], set(shapes) - set(names)

    with tf.Graph().as_default(), v1.Session() as session:
        variables = [v1.get_variable(n, shape=shapes[n], use_resource=True) for n in names]
        step = v1.train.get_or_create_global_step()
        loss = tf.add_n([tf.reduce_sum(tf.square(v - 0.5)) for v in variables])
        train = make(args).minimize(loss, global_step=step)
        every = {v.op.name: v for v in v1.global_variables()}
        v1.train.Saver().restore(session, path)
        for name, value in session.run(every).items():
            unused.discard(name)
            if not np.array_equal(value, tf.train.load_variable(path, name)):
                wrong.append("%s differs after the restore" % name)
        before = int(session.run(step))
        session.run(train)
        after = session.run(every)
        if int(after["global_step"]) != before + 1:
            wrong.append("global_step is %d after a step from %d" % (after["global_step"], before))
        wrong += ["%s is not finite after a step" % n for n, v in after.items() if not np.all(np.isfinite(v))]

    unused = sorted(n for n in unused if not n.startswith("_ringtrain/"))
    if unused:
        wrong.append("the checkpoint has what the graph does not: %s" % ", ".join(unused))
    print(json.dumps({"checkpoint": path, "tensorflow": tf.__version__, "optimizer": args.optimizer,
                      "step": before, "restored": sorted(every), "wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
