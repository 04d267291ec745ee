"""Golden numbers of Keras's AdamW. Needs TensorFlow 2.x (made with 2.21.0, Keras 3.15.1, CPU).

    python make_adamw.py OUTDIR

Writes OUTDIR/adamw/golden.json and OUTDIR/adamw_defaults/golden.json: the first value and
the gradients of w are those of make_goldens.py.
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
}


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
            o.apply_gradients([(tf.constant(dense_grad(step)), w)])
            if step in KEEP:
                log.append({"step": step, "values": values()})
        d = os.path.join(out, name)
        os.makedirs(d, exist_ok=True)
        with open(os.path.join(d, "golden.json"), "w") as f:
            json.dump({"optimizer": "AdamW", "given": kw, "tensorflow": tf.__version__, "keras": keras.__version__,
                       "snapshots": log}, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
