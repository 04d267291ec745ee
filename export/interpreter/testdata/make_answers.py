"""What TensorFlow answers for each signature of the models in export/testdata. Needs TensorFlow 2.x (made with 2.21.0, CPU).

    python make_answers.py OUTDIR

Writes OUTDIR/answers.json, a request a line: the model's folder in export/testdata, the signature, and the inputs and
outputs by key, each as make_ops.py writes tensors. The requests of a model go to one session, in order.
"""
import json
import os
import sys

from make_ops import text

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata")

# The features of examples: the last examples leave features out, where the graph has a default.
EXAMPLES = {
    "serving": [{"x": [1.5], "x2": [4.0]}, {"x": [-3.0], "x2": [0.25]}, {"x": [7.0]}],
    "tensorflow": [{"ids": [3, 1], "values": [0.5, -2.0], "label": [1.0]}, {"ids": [0], "values": [4.0]}, {}],
}


def example(features):
    e = tf.train.Example()
    for key, values in features.items():
        if isinstance(values[0], int):
            e.features.feature[key].int64_list.value.extend(values)
        else:
            e.features.feature[key].float_list.value.extend(values)
    return e.SerializeToString(deterministic=True)


def request(graph, path, info, n):
    """n records for an input."""
    tensor = graph.get_tensor_by_name(info.name)
    if tensor.dtype == tf.string:
        examples = [example(f) for f in EXAMPLES[path.split("/")[0]]]
        return np.array([examples[k % len(examples)] for k in range(n)], dtype=object)
    shape = tensor.shape if tensor.shape.rank is not None else tf.TensorShape(info.tensor_shape)
    shape = [n if d is None else d for d in shape] if shape.rank is not None else []
    values = np.arange(int(np.prod(shape)))
    values = 1 + values if tensor.dtype.is_integer else (values * 7 % 23 - 5) / 4
    return values.reshape(shape).astype(tensor.dtype.as_numpy_dtype)


def answers(path):
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        meta = v1.saved_model.loader.load(session, ["serve"], os.path.join(MODELS, path))
        for name in sorted(meta.signature_def):
            s = meta.signature_def[name]
            if name.startswith("__saved_model"):
                continue
            for n in (1, 3):
                feeds = {k: request(graph, path, i, n) for k, i in sorted(s.inputs.items())}
                out = session.run({k: i.name for k, i in s.outputs.items()}, {s.inputs[k].name: v for k, v in feeds.items()})
                yield {"model": path, "signature": name, "in": {k: text(v) for k, v in feeds.items()},
                       "out": {k: text(out[k]) for k in sorted(out)}}


def main():
    paths = sorted(os.path.relpath(folder, MODELS) for folder, _, files in os.walk(MODELS) if "saved_model.pb" in files)
    lines = [json.dumps(a, separators=(",", ":")) for p in paths if "_mkl" not in p for a in answers(p)]
    with open(os.path.join(sys.argv[1], "answers.json"), "w") as out:
        out.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
