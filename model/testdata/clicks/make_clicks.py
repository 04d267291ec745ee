"""Golden numbers of models of ids: scores, losses, gradients, and the variables after three
steps of gradient descent. Needs TensorFlow 2.x (made with 2.21.0, CPU).

    python make_clicks.py OUTDIR

Writes OUTDIR/NAME.json for each model below. The formulas are those of the papers, written
with TensorFlow's operations: fields are joined by embedding_lookup_sparse, and the second
order of a factorization machine is the sum over all pairs of two ids. Variables have the
names of ringtrain's presets.
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

BATCH, RATE, STEPS = 7, 0.1, 3
ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.tanh}

# Options of the presets; size is that of an embedding, for each class.
MODELS = {
    "linear": dict(kind="sparse-linear", ids=9, fields=2, columns=3, loss="squared"),
    "fm": dict(kind="fm", ids=11, fields=1, size=8, loss="sigmoid"),
    "fm-columns": dict(kind="fm", ids=11, fields=3, columns=2, size=3, loss="squared"),
    "fm-classes": dict(kind="fm", ids=11, fields=2, size=4, loss="softmax", classes=3),
    "wide-deep": dict(kind="wide-deep", ids=12, fields=3, size=8, hidden=[6, 4], pooling="mean", loss="sigmoid"),
    "wide-deep-classes": dict(kind="wide-deep", ids=12, fields=2, columns=2, size=3, hidden=[5], loss="softmax", classes=3),
    "deepfm": dict(kind="deepfm", ids=12, fields=3, size=8, hidden=[6, 4], loss="sigmoid"),
    "deepfm-sqrtn": dict(kind="deepfm", ids=12, fields=2, columns=3, size=5, hidden=[4], pooling="sqrtn", activation="tanh", loss="squared"),
    "deepfm-classes": dict(kind="deepfm", ids=12, fields=2, size=2, hidden=[4], loss="softmax", classes=3),
    "dcn": dict(kind="dcn", ids=12, fields=3, columns=2, size=4, hidden=[6, 4], cross=3, loss="sigmoid"),
    "dcn-classes": dict(kind="dcn", ids=12, fields=2, size=4, hidden=[5], pooling="mean", loss="softmax", classes=3),
}


class Bags:
    """Bags of (id, weight) by example and field; some are empty, and an id may come twice."""

    def __init__(self, random, n, fields, ids):
        counts = random.integers(0, 4, n * fields)
        self.start = np.concatenate([[0], np.cumsum(counts)])
        self.ids = random.integers(0, ids, self.start[-1])
        self.weights = random.uniform(0.25, 2, self.start[-1]).astype(np.float32)
        self.n, self.fields = n, fields

    def sparse(self, values):
        """A row for each bag."""
        rows = np.repeat(np.arange(self.n * self.fields), np.diff(self.start))
        cols = np.arange(len(rows)) - self.start[rows]
        return tf.SparseTensor(np.stack([rows, cols], 1), values, [self.n * self.fields, 4])

    def pooled(self, table, how):
        out = tf.nn.embedding_lookup_sparse(table, self.sparse(self.ids), self.sparse(self.weights), combiner=how, allow_fast_lookup=True)
        have = tf.constant(np.diff(self.start) > 0)[:, None]
        # Bags at the end that are empty have no row.
        out = tf.pad(out, [[0, self.n * self.fields - tf.shape(out)[0]], [0, 0]])
        return tf.reshape(tf.where(have, out, tf.zeros_like(out)), [self.n, -1])

    def example(self, i):
        at = slice(self.start[i * self.fields], self.start[(i + 1) * self.fields])
        return self.ids[at], self.weights[at]


def first_order(v, bags, x):
    rows = []
    for i in range(bags.n):
        ids, weights = bags.example(i)
        rows.append(tf.reduce_sum(tf.gather(v["linear/weights"], ids) * weights[:, None], 0))
    z = tf.stack(rows) + v["linear/bias"]
    return z + x @ v["linear_dense/kernel"] if x is not None else z


def second_order(table, bags, units):
    """The products of all pairs of two ids, summed one by one."""
    rows = []
    for i in range(bags.n):
        ids, weights = bags.example(i)
        e = tf.reshape(tf.gather(table, ids) * weights[:, None], [len(ids), units, -1])
        sums = tf.zeros([units])
        for a in range(len(ids)):
            for b in range(a):
                sums += tf.reduce_sum(e[a] * e[b], 1)
        rows.append(sums)
    return tf.stack(rows)


def hidden(v, x, o):
    for i in range(len(o["hidden"])):
        name = "dnn/hidden_%d/" % (i + 1)
        x = ACTIVATIONS[o.get("activation", "relu")](x @ v[name + "kernel"] + v[name + "bias"])
    return x


def logits(v, bags, x, o):
    kind, units = o["kind"], o.get("classes", 1)
    z = first_order(v, bags, x) if kind != "dcn" else 0
    if kind in ("fm", "deepfm"):
        z += second_order(v["embedding/embeddings"], bags, units)
    if kind in ("sparse-linear", "fm"):
        return z
    features = bags.pooled(v["embedding/embeddings"], o.get("pooling", "sum"))
    if x is not None:
        features = tf.concat([features, x], 1)
    deep = hidden(v, features, o)
    if kind == "dcn":
        cross = features
        for i in range(o.get("cross", 2)):
            cross = features * (cross @ v["cross_%d/kernel" % (i + 1)] + v["cross_%d/bias" % (i + 1)]) + cross
        return tf.concat([cross, deep], 1) @ v["logits/kernel"] + v["logits/bias"]
    return z + deep @ v["dnn/logits/kernel"] + v["dnn/logits/bias"]


def shapes(o):
    units, kind, columns = o.get("classes", 1), o["kind"], o.get("columns", 0)
    s = {}
    if kind != "dcn":
        s["linear/weights"], s["linear/bias"] = [o["ids"], units], [units]
        if columns:
            s["linear_dense/kernel"] = [columns, units]
    if kind == "sparse-linear":
        return s
    size = o["size"] * (units if kind in ("fm", "deepfm") else 1)
    s["embedding/embeddings"] = [o["ids"], size]
    if kind == "fm":
        return s
    width = before = o["fields"] * size + columns
    for i in range(o.get("cross", 2) if kind == "dcn" else 0):
        s["cross_%d/kernel" % (i + 1)], s["cross_%d/bias" % (i + 1)] = [width, width], [width]
    for i, n in enumerate(o["hidden"]):
        s["dnn/hidden_%d/kernel" % (i + 1)], s["dnn/hidden_%d/bias" % (i + 1)] = [before, n], [n]
        before = n
    last = "logits" if kind == "dcn" else "dnn/logits"
    s[last + "/kernel"], s[last + "/bias"] = [before + (width if kind == "dcn" else 0), units], [units]
    return s


def loss(z, y, kind):
    """Scores and the loss of each example."""
    if kind == "softmax":
        return tf.nn.softmax(z), tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y.astype(np.int64), logits=z)
    if kind == "sigmoid":
        return tf.sigmoid(z), tf.nn.sigmoid_cross_entropy_with_logits(labels=y[:, None], logits=z)[:, 0]
    return z, (z[:, 0] - y) ** 2


def flat(t):
    return [float(v) for v in np.asarray(tf.convert_to_tensor(t), np.float32).reshape(-1)]


def run(name, o):
    random = np.random.default_rng(len(name))
    bags = Bags(random, BATCH, o["fields"], o["ids"])
    x = random.normal(0, 1, (BATCH, o["columns"])).astype(np.float32) if o.get("columns") else None
    y = random.integers(0, o.get("classes", 2), BATCH).astype(np.float32)
    v = {n: tf.Variable(random.normal(0, 0.4, s).astype(np.float32)) for n, s in shapes(o).items()}
    out = {"options": o, "x": [] if x is None else flat(x), "y": flat(y), "rate": RATE, "steps": STEPS,
           "start": bags.start.tolist(), "ids": bags.ids.tolist(), "weights": flat(bags.weights),
           "variables": [{"name": n, "shape": list(t.shape), "value": flat(t)} for n, t in v.items()]}
    for step in range(STEPS):
        with tf.GradientTape() as tape:
            scores, losses = loss(logits(v, bags, x, o), y, o["loss"])
            mean = tf.reduce_mean(losses)
        grads = tape.gradient(mean, v)
        if step == 0:
            out["scores"], out["losses"] = flat(scores), flat(losses)
            for entry in out["variables"]:
                entry["gradient"] = flat(grads[entry["name"]])
        for n, t in v.items():
            t.assign_sub(RATE * tf.convert_to_tensor(grads[n]))
    for entry in out["variables"]:
        entry["after"] = flat(v[entry["name"]])
    return out


if __name__ == "__main__":
    to = sys.argv[1] if len(sys.argv) > 1 else "."
    for name, o in MODELS.items():
        with open(os.path.join(to, name + ".json"), "w") as f:
            json.dump(run(name, o), f, separators=(",", ":"))
            f.write("\n")
