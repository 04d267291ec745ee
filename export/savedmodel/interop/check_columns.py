"""Runs an export of a model with columns in real TensorFlow, on raw records.

    check_columns.py BUNDLE ROWS --predictions FILE [--key NAME …] [--refused FILE] [--says TEXT]

ROWS are JSON lines, a mapping of columns each: a text becomes a bytes list, a number a float
list, {"b64": TEXT} a bytes list of any bytes, a list a list of its kind; a column that is not there is missing. Both loaders call every signature that takes examples; all scores must be
those of the predictions within 1e-5, and the key that of the record. predict_sparse gets the
ids that the bundle itself makes of the records. The rows of --refused come in pairs; each pair
is a request that must fail, and say TEXT, else that ids and values differ in number.

One JSON object is printed; the exit code is 1 if anything differs.
Needs tensorflow-cpu 2.21.0.
"""
import argparse
import base64
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np
import tensorflow as tf

import check_bundle as cb


def text(v):
    return v.encode() if isinstance(v, str) else base64.b64decode(v["b64"])


def example(row):
    e = tf.train.Example()
    f = e.features.feature
    for name, v in row.items():
        if isinstance(v, (str, dict)):
            f[name].bytes_list.value.append(text(v))
        elif isinstance(v, list) and all(isinstance(x, (str, dict)) for x in v):
            f[name].bytes_list.value.extend(text(x) for x in v)
        elif isinstance(v, list) and all(isinstance(x, int) for x in v):
            f[name].int64_list.value.extend(v)
        else:
            f[name].float_list.value.extend(v if isinstance(v, list) else [v])
    return e.SerializeToString()


def sparse_inputs(path, examples):
    """What predict_sparse takes, as the bundle itself makes it of the examples."""
    with tf.compat.v1.Session(graph=tf.Graph()) as session:
        meta = tf.compat.v1.saved_model.load(session, ["serve"], path)
        d = meta.signature_def["predict_sparse"]
        return session.run({k: t.name for k, t in d.inputs.items()}, {"tf_example:0": examples})


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("bundle")
    p.add_argument("rows")
    p.add_argument("--predictions", required=True)
    p.add_argument("--key", action="append", default=[])
    p.add_argument("--trim", action="store_true", help="keys come back without the blanks around them")
    p.add_argument("--refused")
    p.add_argument("--says", default="differ in number")
    args = p.parse_args()
    path = cb.version_folder(args.bundle)
    rows = [json.loads(line) for line in open(args.rows)]
    examples = np.array([example(r) for r in rows], dtype=object)
    want = cb.read_predictions(args.predictions, len(rows))
    wrong, worst, ways = [], 0.0, []
    for loader, load in (("v2", cb.load_v2), ("v1", cb.load_v1)):
        call, signatures = load(path)
        binary = "regression" in signatures
        for s in signatures:
            if s == "predict_sparse":
                out = call(s, sparse_inputs(path, examples))
            elif s == "predict":
                out = call(s, {"examples": examples})
            else:
                out = call(s, {"inputs": examples})
            for key in args.key:
                keys = out.pop("key" if len(args.key) == 1 else key, None)
                sent = [r.get(key, "") for r in rows]
                if args.trim:
                    sent = [k.strip() for k in sent]
                if s.startswith("predict") and (keys is None or [k.decode() for k in keys] != sent):
                    wrong.append("%s %s: %s is %s" % (loader, s, key, keys))
            if "outputs" in out:
                scores = out["outputs"].reshape(-1, 1)
            elif "classes" in out:
                scores = cb.by_class(out)
                scores = scores[:, 1:] if binary else scores
            else:
                scores = out.get("probability", out.get("scores", out.get("y")))
            difference = float(np.abs(scores - want).max())
            worst, _ = max(worst, difference), ways.append(loader + " " + s)
            if not difference <= cb.TOLERANCE:
                wrong.append("%s %s: scores differ by %g" % (loader, s, difference))
        refused = [example(json.loads(line)) for line in open(args.refused)] if args.refused else []
        for at in range(0, len(refused), 2):
            try:
                call("predict", {"examples": np.array(refused[at:at + 2], dtype=object)})
                wrong.append("%s: request %d is answered" % (loader, at))
            except tf.errors.InvalidArgumentError as e:
                if args.says not in str(e):
                    wrong.append("%s: request %d: %s" % (loader, at, e))
    print(json.dumps({"bundle": path, "records": len(rows), "ways": ways, "max_difference": worst, "wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
