"""Writes six models of Keras 3 into a folder, as SavedModels, each with requests.

    python make_keras.py FOLDER [NAME...]

A model NAME gets FOLDER/NAME/1 and FOLDER/NAME.json: {"cases": [{"signature": S, "inputs": {KEY: TENSOR}, "outputs":
{KEY: TENSOR}}]}, as answer_requests.py takes it; outputs are the answers of TensorFlow. The cases have 1, 33 and 1,000
records.
"""
import argparse
import base64
import json
import math
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

BATCHES = (1, 33, 1000)


def dense():
    model = keras.Sequential([
        keras.Input((20,)),
        layers.Normalization(mean=np.arange(20.0), variance=np.arange(1.0, 21.0)),
        layers.Dense(32, activation="gelu"),
        layers.LayerNormalization(),
        layers.Dropout(0.5),
        layers.Dense(16, activation="swish"),
        layers.Dense(8, activation="tanh"),
        layers.Dense(5, activation="softmax"),
    ])
    return model, lambda n, r: {"": r.normal(size=(n, 20)).astype("f4") * 10}


def conv():
    model = keras.Sequential([
        keras.Input((17, 15, 3)),
        layers.Rescaling(1 / 255, offset=-0.5),
        layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(8, (3, 1), activation="leaky_relu"),
        layers.AveragePooling2D(2, padding="same"),
        layers.Flatten(),
        layers.Dense(4),
    ])
    shake(model)
    return model, lambda n, r: {"": r.uniform(0, 255, (n, 17, 15, 3)).astype("f4")}


def depthwise():
    inputs = keras.Input((16, 16, 4))
    x = layers.ZeroPadding2D(1)(inputs)
    x = layers.DepthwiseConv2D(3, strides=2, depth_multiplier=2)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU(max_value=6)(x)
    x = layers.SeparableConv2D(12, 3, padding="same", activation="elu")(x)
    y = layers.Conv2D(12, 1, activation="sigmoid")(x)
    x = layers.Multiply()([x, y])
    x = layers.GlobalAveragePooling2D()(x)
    model = keras.Model(inputs, layers.Dense(3, activation="softmax")(x))
    shake(model)
    return model, lambda n, r: {"": r.normal(size=(n, 16, 16, 4)).astype("f4")}


def embedding():
    ids = keras.Input((7,), dtype="int32", name="ids")
    x = layers.Embedding(50, 8)(ids)
    x = layers.Concatenate()([layers.GlobalAveragePooling1D()(x), layers.GlobalMaxPooling1D()(x), layers.Flatten()(x)])
    model = keras.Model(ids, layers.Dense(1, activation="sigmoid", name="click")(x))
    return model, lambda n, r: {"ids": r.integers(0, 50, (n, 7)).astype("i4")}


def wide_and_deep():
    age = keras.Input((1,), name="age")
    city = keras.Input((1,), dtype="int64", name="city")
    hours = keras.Input((1,), name="hours")
    wide = layers.Embedding(12, 1)(city)
    bucket = layers.Embedding(5, 1)(layers.Discretization(bin_boundaries=[18.0, 25.0, 40.0, 65.0])(age))
    deep = layers.Concatenate()([layers.Normalization(mean=38.0, variance=170.0)(age), hours, layers.Flatten()(layers.Embedding(12, 4)(city))])
    deep = layers.Dense(16, activation="relu")(deep)
    out = layers.Concatenate()([layers.Flatten()(wide), layers.Flatten()(bucket)])
    logit = layers.Add()([layers.Dense(1)(out), layers.Dense(1)(deep)])
    model = keras.Model([age, city, hours], {"income": layers.Activation("sigmoid", name="income")(logit), "logit": logit})
    return model, lambda n, r: {
        "age": r.uniform(1, 90, (n, 1)).astype("f4"),
        "city": r.integers(0, 12, (n, 1)).astype("i8"),
        "hours": r.normal(40, 9, (n, 1)).astype("f4"),
    }


def text_vocabulary():
    review = keras.Input((1,), dtype="string", name="review")
    country = keras.Input((1,), dtype="string", name="country")
    words = layers.TextVectorization(max_tokens=40, output_sequence_length=6)
    words.adapt(["the film was good", "The film, was BAD!", "a great film; what a cast", "never again"])
    lookup = layers.StringLookup(vocabulary=["ch", "de", "fr"], output_mode="one_hot")
    x = layers.GlobalAveragePooling1D()(layers.Embedding(40, 8)(words(review)))
    x = layers.Concatenate()([x, lookup(country)])
    model = keras.Model([review, country], layers.Dense(2, activation="softmax")(x))
    texts = ["the film", "", "BAD, bad: bad!", "a great cast was never good again and again and again", "größe ÄRGER", "zzz"]
    return model, lambda n, r: {
        "review": r.choice(texts, (n, 1)).astype(object),
        "country": r.choice(["ch", "de", "fr", "xx", ""], (n, 1)).astype(object),
    }


MODELS = [dense, conv, depthwise, embedding, wide_and_deep, text_vocabulary]


def shake(model):
    """Gives the moving means and variances of batch norms values that a training would give."""
    r = np.random.default_rng(5)
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([r.uniform(0.5, 2, w.shape) for w in layer.get_weights()])


def plain(x):
    if isinstance(x, bytes):
        return base64.b64encode(x).decode()
    if isinstance(x, float) and not math.isfinite(x):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(x, "NaN")
    return x


def tensor(t):
    t = tf.convert_to_tensor(t)
    return {"type": t.dtype.name, "shape": t.shape.as_list(), "values": [plain(v) for v in t.numpy().ravel().tolist()]}


def write(folder, make):
    keras.utils.set_random_seed(7)
    model, draw = make()
    path = os.path.join(folder, make.__name__)
    model.export(os.path.join(path, "1"), verbose=False)
    signature = tf.saved_model.load(os.path.join(path, "1")).signatures["serving_default"]
    names = list(signature.structured_input_signature[1])
    r = np.random.default_rng(3)
    cases = []
    for n in BATCHES:
        inputs = {name or names[0]: tf.constant(x) for name, x in draw(n, r).items()}
        outputs = signature(**inputs)
        cases.append({"signature": "serving_default", "inputs": {k: tensor(v) for k, v in inputs.items()}, "outputs": {k: tensor(v) for k, v in outputs.items()}})
    with open(path + ".json", "w") as f:
        json.dump({"cases": cases}, f)
    print(make.__name__)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("names", nargs="*", metavar="NAME")
    args = p.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    for make in MODELS:
        if not args.names or make.__name__ in args.names:
            write(args.folder, make)


if __name__ == "__main__":
    main()
