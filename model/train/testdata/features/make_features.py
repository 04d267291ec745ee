"""Golden numbers of training features. Needs TensorFlow (made with 2.21.0, Keras 3.15.1).

    python make_features.py OUTDIR

Inputs are multiples of 1/64, exact in float32.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras

F = np.float32


def numbers(shape, seed):
    n = int(np.prod(shape))
    return (((np.arange(n) * 37 + seed * 101 + np.arange(n) ** 2 * 11) % 129 - 64) / 64).astype(F).reshape(shape)


def flat(x):
    return [float(v) for v in np.asarray(x, F).reshape(-1)]


def average():
    """tf.train.ExponentialMovingAverage over six values of a variable."""
    v = tf.Variable(numbers([7], 1))
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply([v])
    steps, values = [], []
    for step in range(6):
        v.assign(numbers([7], 2 + step))
        ema.apply([v])
        steps.append(flat(v))
        values.append(flat(ema.average(v)))
    return {"decay": 0.9, "first": flat(numbers([7], 1)), "values": steps, "averages": values}


def clip():
    """tf.clip_by_value, and then tf.clip_by_global_norm."""
    grads = [numbers([4, 3], 3), numbers([5], 4)]
    by_value = [tf.clip_by_value(g, -0.5, 0.5) for g in grads]
    by_norm, norm = tf.clip_by_global_norm(by_value, 0.75)
    small, _ = tf.clip_by_global_norm(by_value, 100.0)
    return {"gradients": [flat(g) for g in grads], "value": 0.5, "norm": 0.75, "global_norm": float(norm),
            "clipped": [flat(g) for g in by_norm], "below": [flat(g) for g in small]}


def network(weights, smoothing):
    """One step of keras.Model.fit: softmax regression, SGD 0.5, with class weights."""
    x, y = numbers([6, 4], 5), np.array([0, 2, 1, 2, 2, 0])
    kernel, bias = numbers([4, 3], 6), numbers([3], 7)
    layer = keras.layers.Dense(3)
    model = keras.Sequential([keras.Input([4]), layer])
    layer.set_weights([kernel, bias])
    model.compile(keras.optimizers.SGD(0.5), keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=smoothing))
    one_hot = np.eye(3, dtype=F)[y]
    evaluated = model.evaluate(x, one_hot, verbose=0)
    history = model.fit(x, one_hot, batch_size=6, epochs=1, shuffle=False, verbose=0,
                        class_weight=dict(enumerate(weights)) if weights else None)
    return {"x": flat(x), "y": [int(v) for v in y], "kernel": flat(kernel), "bias": flat(bias), "rate": 0.5,
            "class_weights": weights, "smoothing": smoothing, "loss": float(history.history["loss"][0]), "evaluated": float(evaluated),
            "kernel_after": flat(layer.get_weights()[0]), "bias_after": flat(layer.get_weights()[1])}


if __name__ == "__main__":
    golden = {"versions": {"tensorflow": tf.__version__, "keras": keras.__version__}, "average": average(), "clip": clip(),
              "networks": [network([], 0.0), network([1.0, 2.5, 0.25], 0.0), network([], 0.125), network([0.5, 4.0, 1.0], 0.25)]}
    with open(os.path.join(sys.argv[1], "features.json"), "w") as out:
        json.dump(golden, out, indent=1)
        out.write("\n")
