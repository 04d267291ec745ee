"""Golden numbers of small networks of Keras layers: logits, loss, gradients, and the variables
after three steps of gradient descent. Needs TensorFlow 2.x (made with 2.21.0, CPU).

    python make_networks.py OUTDIR

Writes OUTDIR/NAME.json for each network below. Layers have the names that networks_test.go
gives them; options that are left out here are left out there, so that defaults are compared.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

K = tf.keras.layers
CLASSES, BATCH, RATE, STEPS = 3, 4, 0.1, 3


def logits(x):
    return K.Dense(CLASSES, name="logits")(x)


def strided(x):
    x = K.Conv2D(3, (3, 2), strides=(2, 1), padding="same", activation="relu", name="conv")(x)
    return logits(K.Flatten(name="flatten")(x))


def pooled(x):
    x = K.Conv2D(4, 2, activation="tanh", name="conv")(x)
    return logits(K.Flatten(name="flatten")(K.MaxPooling2D(name="pool")(x)))


def padded(x):
    x = K.Conv2D(2, 3, padding="same", name="conv")(x)
    x = K.MaxPooling2D(3, strides=2, padding="same", name="pool")(x)
    return logits(K.Flatten(name="flatten")(x))


def residual(x):
    stem = K.Conv2D(4, 3, padding="same", activation="leaky_relu", name="stem")(x)
    x = K.LayerNormalization(name="norm")(stem)
    x = K.Conv2D(4, 3, padding="same", use_bias=False, activation="gelu", name="b")(x)
    x = K.Add(name="sum")([stem, x])
    x = K.AveragePooling2D((3, 2), strides=(1, 2), padding="same", name="mean")(x)
    return logits(K.GlobalAveragePooling2D(name="all")(x))


def branches(x):
    x = K.Dense(6, name="hidden")(x)
    a, b, c = K.LeakyReLU(name="a")(x), K.Activation("tanh", name="b")(x), K.Activation("gelu", name="c")(x)
    x = K.Dense(5, activation="sigmoid", name="narrow")(K.Concatenate(name="all")([a, b, c]))
    return logits(K.LayerNormalization(epsilon=1e-5, name="norm")(x))


NETWORKS = {
    "strided": (strided, (7, 6, 2)), "pooled": (pooled, (7, 6, 2)), "padded": (padded, (7, 6, 2)),
    "residual": (residual, (7, 6, 2)), "branches": (branches, (5,)),
}


def flat(t):
    return [float(v) for v in np.asarray(t, np.float32).reshape(-1)]


def run(name, build, shape):
    tf.keras.utils.set_random_seed(7)
    random = np.random.default_rng(len(name))
    entry = tf.keras.Input(shape)
    net = tf.keras.Model(entry, build(entry))
    names = ["%s/%s" % (v.path.split("/")[-2], v.path.split("/")[-1]) for v in net.trainable_variables]
    for v in net.trainable_variables:
        v.assign(random.normal(0.5 if "gamma" in v.path else 0, 0.5, v.shape).astype(np.float32))
    x = random.normal(0, 1, (BATCH,) + shape).astype(np.float32)
    y = random.integers(0, CLASSES, BATCH)
    out = {"shape": list(shape), "x": flat(x), "y": [float(c) for c in y], "rate": RATE, "steps": STEPS,
           "variables": [{"name": n, "shape": list(v.shape), "value": flat(v)} for n, v in zip(names, net.trainable_variables)]}
    for step in range(STEPS):
        with tf.GradientTape() as tape:
            z = net(x)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=z)
            loss = tf.reduce_mean(losses)
        grads = tape.gradient(loss, net.trainable_variables)
        if step == 0:
            out["probabilities"], out["losses"] = flat(tf.nn.softmax(z)), flat(losses)
            for v, g in zip(out["variables"], grads):
                v["gradient"] = flat(g)
        for v, g in zip(net.trainable_variables, grads):
            v.assign_sub(RATE * g)
    for v, t in zip(out["variables"], net.trainable_variables):
        v["after"] = flat(t)
    return out


if __name__ == "__main__":
    o = sys.argv[1] if len(sys.argv) > 1 else "."
    for name, (build, shape) in NETWORKS.items():
        with open(os.path.join(o, name + ".json"), "w") as f:
            json.dump(run(name, build, shape), f, separators=(",", ":"))
            f.write("\n")
