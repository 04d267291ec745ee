"""Golden numbers of Keras's AdamW. Needs TensorFlow 2.x (made with 2.21.0, Keras 3.15.1, CPU).

    python make_adamw.py OUTDIR

Writes OUTDIR/CASE/golden.json for each case: the first value and the gradients of w are
those of make_goldens.py. With a penalty the gradient is that of w's regularizer too, by
TensorFlow's tape: L1L2(l1, l2/2) is the penalty of model.l1 and model.l2.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import keras
import numpy as np
import tensorflow as tf

from make_goldens import KEEP, STEPS, dense_grad, text, w0

CASES = {
    "adamw": dict(learning_rate=0.01, weight_decay=0.1, beta_1=0.8, beta_2=0.95, epsilon=1e-5),
    "adamw_defaults": dict(),
    "adamw_l2": dict(learning_rate=0.2, weight_decay=0.5),
    "adamw_l1_l2_clipped": dict(learning_rate=0.1, weight_decay=0.5, global_clipnorm=0.75),
}
PENALTIES = {"adamw_l2": dict(l2=1.0), "adamw_l1_l2_clipped": dict(l1=0.25, l2=0.5)}


def gradient(w, step, penalty):
    """The gradient of w, and of its penalty, at the current weights."""
    if not penalty:
        return tf.constant(dense_grad(step))
    regularizer = keras.regularizers.L1L2(l1=penalty.get("l1", 0.0), l2=penalty["l2"] / 2)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.constant(dense_grad(step)) * w.value) + regularizer(w)
    return tape.gradient(loss, w.value)


def main(out):
    for name, kw in CASES.items():
        w = keras.Variable(w0(), name="w")
        o = keras.optimizers.AdamW(**kw)
        o.build([w])

        def values():
            m, v = o._momentums[0], o._velocities[0]
            return {"w": text(np.asarray(w)), "w/AdamW": text(np.asarray(m)), "w/AdamW_1": text(np.asarray(v))}

        log = [{"step": 0, "values": values()}]
        for step in range(1, STEPS + 1):
            o.apply_gradients([(gradient(w, step, PENALTIES.get(name)), w)])
            if step in KEEP:
                log.append({"step": step, "values": values()})
        d = os.path.join(out, name)
        os.makedirs(d, exist_ok=True)
        with open(os.path.join(d, "golden.json"), "w") as f:
            json.dump({"optimizer": "AdamW", "given": kw, "penalty": PENALTIES.get(name, {}), "tensorflow": tf.__version__, "keras": keras.__version__,
                       "snapshots": log}, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
