"""Answers requests to models by each of TensorFlow's ways.

    python answer_requests.py FOLDER [--grpc HOST:PORT]

FOLDER/NAME/VERSION is a SavedModel and FOLDER/NAME.json has {"cases": [{"signature": S, "inputs": {KEY: TENSOR}}]}, where
TENSOR is {"type", "shape", "values"}, strings in base64. FOLDER/NAME.answers.json becomes {"v2": [ANSWER…], "v1": [ANSWER…]},
and with --grpc also "grpc": the answers of a server, asked by TensorFlow Serving's own client. ANSWER is
{"outputs": {KEY: TENSOR}} or {"error": TEXT}. A loader that refuses the model is left out. Prints one JSON object: for
each model the number of its cases, and what the loaders that refuse it say.
"""
import argparse
import base64
import glob
import json
import math
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
SECONDS = 60


def array(t):
    dtype = tf.as_dtype(t["type"])
    values = t["values"]
    if dtype == tf.string:
        values = [base64.b64decode(v) for v in values]
        return np.array(values, dtype=object).reshape(t["shape"])
    return np.array([float(v) if isinstance(v, str) else v for v in values], dtype.as_numpy_dtype).reshape(t["shape"])


def plain(x):
    if isinstance(x, (bytes, str)):
        return base64.b64encode(x if isinstance(x, bytes) else x.encode()).decode()
    if isinstance(x, float) and not math.isfinite(x):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(x, "NaN")
    return x


def tensor(a):
    a = np.asarray(a)
    return {"type": tf.as_dtype(a.dtype).name, "shape": list(a.shape), "values": [plain(v) for v in a.ravel().tolist()]}


def load_v2(path):
    loaded = tf.saved_model.load(path)

    def call(signature, inputs):
        f = loaded.signatures[signature]
        return {k: v.numpy() for k, v in f(**{k: tf.constant(v) for k, v in inputs.items()}).items()}
    return call


def load_v1(path):
    session = v1.Session(graph=tf.Graph())
    with session.graph.as_default():
        meta = v1.saved_model.load(session, ["serve"], path)

    def call(signature, inputs):
        d = meta.signature_def[signature]
        return session.run({k: t.name for k, t in d.outputs.items()}, {d.inputs[k].name: v for k, v in inputs.items()})
    return call


def client(address, name):
    import grpc
    from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc
    stub = prediction_service_pb2_grpc.PredictionServiceStub(grpc.insecure_channel(address, [("grpc.max_receive_message_length", -1)]))

    def call(signature, inputs):
        request = predict_pb2.PredictRequest()
        request.model_spec.name = name
        request.model_spec.signature_name = signature
        for k, v in inputs.items():
            request.inputs[k].CopyFrom(tf.make_tensor_proto(v))
        return {k: tf.make_ndarray(v) for k, v in stub.Predict(request, SECONDS).outputs.items()}
    return call


def answers(call, cases):
    out = []
    for case in cases:
        try:
            outputs = call(case["signature"], {k: array(t) for k, t in case["inputs"].items()})
            out.append({"outputs": {k: tensor(v) for k, v in outputs.items()}})
        except Exception as e:
            out.append({"error": str(e).splitlines()[0][:300]})
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("--grpc")
    args = p.parse_args()
    counts = {}
    for questions in sorted(glob.glob(os.path.join(args.folder, "*.json"))):
        name = os.path.basename(questions)[:-len(".json")]
        if name.endswith(".answers"):
            continue
        with open(questions) as f:
            cases = json.load(f)["cases"]
        path = os.path.join(args.folder, name, max(os.listdir(os.path.join(args.folder, name)), key=int))
        ways, refused = {}, []
        for way, load in (("v2", load_v2), ("v1", load_v1)):
            try:
                ways[way] = load(path)
            except Exception as e:
                refused.append("%s: %s" % (way, str(e).splitlines()[0][:300]))
        if args.grpc:
            ways["grpc"] = client(args.grpc, name)
        with open(os.path.join(args.folder, name + ".answers.json"), "w") as f:
            json.dump({way: answers(call, cases) for way, call in ways.items()}, f)
        counts[name] = [len(cases)] + refused
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
