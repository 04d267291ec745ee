"""TensorFlow on a click log: fm, wide-deep and deepfm, with adagrad, over batches in memory.

Ways: fit (Keras: Embedding layers, its Adagrad), loop (many steps in one graph; the
batch's distinct ids are found first, and the kernel for sparse adagrad updates their
rows alone). One table holds weight and factors of an id.
"""
import clicks
from tensorflow_common import fitted, looped, main, tf

EPSILON = 1e-7


def head_of(c):
    """Layers from rows [n, fields, 1+k] to logits [n]."""
    k = tf.keras.layers
    layers = [k.Dense(n, activation="relu") for n in c["hidden"]] + ([k.Dense(1)] if c["hidden"] else [])

    def head(rows, bias):
        z = tf.reduce_sum(rows[:, :, 0], 1) + bias
        v = rows[:, :, 1:]
        if c["model"] in ("fm", "deepfm"):
            s = tf.reduce_sum(v, 1)
            z += 0.5 * tf.reduce_sum(s * s - tf.reduce_sum(v * v, 1), 1)
        if layers:
            a = tf.reshape(v, (-1, c["fields"] * c["factors"]))
            for layer in layers:
                a = layer(a)
            z += a[:, 0]
        return z
    return head, layers


def table_values(c):
    v = tf.random.normal((c["features"], c["factors"]), stddev=0.01)
    return tf.concat([tf.zeros((c["features"], 1)), v], 1)


def loss_of(z, y):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z))


def by_loop(c):
    x, y = (tf.constant(a) for a in clicks.records(c))
    x = tf.cast(x, tf.int32)
    table = tf.Variable(table_values(c))
    squares = tf.Variable(tf.zeros_like(table))
    bias = tf.Variable(0.0)
    head, layers = head_of(c)
    head(tf.gather(table, x[0]), bias)
    dense = [bias] + [w for layer in layers for w in layer.trainable_variables]
    slots = [tf.Variable(tf.zeros_like(w)) for w in dense]
    raw = tf.raw_ops

    def step(x, y):
        ids, places = tf.unique(tf.reshape(x, [-1]))
        rows = tf.gather(table, ids)
        with tf.GradientTape() as tape:
            tape.watch(rows)
            looked_up = tf.reshape(tf.gather(rows, places), (c["local"], c["fields"], 1 + c["factors"]))
            loss = loss_of(head(looked_up, bias), y)
        g, *gs = tape.gradient(loss, [rows, *dense])
        g = tf.math.unsorted_segment_sum(g.values, g.indices, tf.shape(ids)[0])
        raw.ResourceSparseApplyAdagradV2(
            var=table.handle, accum=squares.handle, lr=c["rate"], epsilon=EPSILON, grad=g, indices=ids)
        for w, s, d in zip(dense, slots, gs):
            w = getattr(w, "value", w) if not hasattr(w, "handle") else w
            raw.ResourceApplyAdagradV2(var=w.handle, accum=s.handle, lr=c["rate"], epsilon=EPSILON, grad=d)
        return loss
    return looped(step, x, y)


def by_fit(c):
    k = tf.keras
    head, layers = head_of(c)

    class Net(k.Model):
        def __init__(self):
            super().__init__()
            self.table = k.layers.Embedding(c["features"], 1 + c["factors"], embeddings_initializer=lambda *a, **b: table_values(c))
            self.bias = self.add_weight(shape=(), initializer="zeros", name="bias")
            self.dense = layers

        def call(self, x):
            return head(self.table(x), self.bias)[:, None]
    net = Net()
    net.compile(optimizer=k.optimizers.Adagrad(c["rate"], initial_accumulator_value=0.0),
                loss=k.losses.BinaryCrossentropy(from_logits=True))
    x, y = clicks.records(c)
    return fitted(net, tf.cast(x, tf.int32), y[:, :, None])


main({"fit": by_fit, "loop": by_loop})
