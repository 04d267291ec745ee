"""TensorFlow: fit; an own train step; a loop of steps in one graph; two workers."""
import common
from tensorflow_common import fitted, looped, main, tf


def network(c):
    k = tf.keras
    if c["model"] == "cnn":
        def conv(n):
            return k.layers.Conv2D(n, 5, padding="same", activation="relu")
        layers = [conv(32), k.layers.MaxPool2D(), conv(64), k.layers.MaxPool2D(), k.layers.Flatten()]
        shape = (28, 28, 1)
    else:
        layers, shape = [k.layers.Dense(n, activation="relu", kernel_initializer="he_normal") for n in c["hidden"]], (784,)
    return k.Sequential([k.layers.Input(shape), *layers, k.layers.Dense(10)])


def optimizer(c):
    if c["optimizer"] == "adam":
        return tf.keras.optimizers.Adam(c["rate"])
    return tf.keras.optimizers.SGD(c["rate"], momentum=float(c["momentum"]))


def loss_of(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def tensors(c):
    x, y = common.records(c)
    if c["model"] == "cnn":
        x = x.reshape(x.shape[0], x.shape[1], 28, 28, 1)
    return tf.constant(x), tf.constant(y)


def fit(c):
    net = network(c)
    net.compile(optimizer=optimizer(c), loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return fitted(net, *tensors(c))


def trainer(c):
    """A step without Keras' fit, for tf.function."""
    net, opt = network(c), optimizer(c)
    opt.build(net.trainable_variables)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(net(x, training=True), y)
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return loss
    return step


def by_step(c):
    x, y = tensors(c)
    x, y, step, at = tf.unstack(x), tf.unstack(y), tf.function(trainer(c)), 0

    def run(steps):
        nonlocal at
        for _ in range(steps):
            loss = step(x[at % len(x)], y[at % len(x)])
            at += 1
        return loss
    return run


def by_loop(c):
    return looped(trainer(c), *tensors(c))


def by_workers(c):
    """MultiWorkerMirroredStrategy over TF_CONFIG's workers, each with its share of the batch."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        net, opt = network(c), optimizer(c)
        opt.build(net.trainable_variables)
    x, y = tensors(c)

    def local(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(net(x, training=True), y) / c["ranks"]
        grads = tape.gradient(loss, net.trainable_variables)
        grads = tf.distribute.get_replica_context().all_reduce("sum", grads)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    def step(x, y):
        return strategy.run(local, (x, y))
    run = looped(step, x, y)
    return lambda steps: float(run(steps)) * c["ranks"]


main({"fit": fit, "step": by_step, "loop": by_loop, "workers": by_workers})
