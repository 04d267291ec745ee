"""Runs an export of ringtrain in real TensorFlow and compares the numbers.

    check_bundle.py images  BUNDLE --images FILE --labels FILE    IDX, for softmax and mlp
    check_bundle.py records BUNDLE FILE... [--ids ids ...]        TFRecords of tf.Example
    check_bundle.py rows    BUNDLE FILE                           JSON lines {"x": [..]} or {"ids": [..], "values": [..]},
                                                                  or both, with "fields": [..] where ids have several

BUNDLE is a version folder, or a base, of which the highest version is taken.
The bundle is loaded by tf.saved_model.load and by the V1 loader, and every
signature is called with every record. All ways must give the same scores
within 1e-5. With --predictions FILE the scores must also be those of
`ringtrain predict --json` (fields record, and scores, score, score_0 and on, or prediction), and with --correct N as
many records must be classified rightly, give or take one. A warm-up file must be one of TensorFlow Serving's, and its
answers those of the bundle.

One JSON object is printed; the exit code is 1 if anything differs.
Needs tensorflow-cpu 2.21.0.
"""
import argparse
import gzip
import json
import os
import struct
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
tf.get_logger().setLevel("ERROR")
TOLERANCE = 1e-5
BATCH = 1000


class Records:
    """Dense features [n, d], lists of ids and values, or both; fields and labels may be None."""

    def __init__(self, x=None, ids=None, values=None, labels=None, examples=None, fields=None):
        self.x, self.ids, self.values, self.labels = x, ids, values, labels
        self.examples, self.fields = examples, fields

    def __len__(self):
        return len(self.x) if self.x is not None else len(self.ids)

    def serialized(self, names, start, stop):
        """The records as tf.Examples: those of the file, or made from the features."""
        if self.examples is not None:
            return np.array(self.examples[start:stop], dtype=object)
        out = []
        for i in range(start, stop):
            example = tf.train.Example()
            f = example.features.feature
            if self.x is not None:
                f[names.dense].float_list.value.extend(self.x[i])
            if self.ids is not None:
                f[names.ids].int64_list.value.extend(self.ids[i])
                f[names.values].float_list.value.extend(self.values[i])
            if self.fields is not None:
                f[names.fields].int64_list.value.extend(self.fields[i])
            out.append(example.SerializeToString())
        return np.array(out, dtype=object)

    def sparse(self, start, stop):
        """The inputs of predict_sparse."""
        ids, values = self.ids[start:stop], self.values[start:stop]
        indices = [[row, col] for row, r in enumerate(ids) for col in range(len(r))]
        inputs = {
            "indices": np.array(indices, np.int64).reshape(-1, 2),
            "ids": np.array([i for r in ids for i in r], np.int64),
            "values": np.array([v for r in values for v in r], np.float32),
            "shape": np.array([len(ids), max([len(r) for r in ids], default=0)], np.int64),
        }
        if self.fields is not None:
            inputs["fields"] = np.array([f for r in self.fields[start:stop] for f in r], np.int64)
        if self.x is not None:
            inputs["x"] = self.x[start:stop]
        return inputs


def read_idx(path):
    opener = gzip.open if open(path, "rb").read(2) == b"\x1f\x8b" else open
    with opener(path, "rb") as f:
        data = f.read()
    rank = data[3]
    dims = struct.unpack(">%dI" % rank, data[4:4 + 4 * rank])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(dims)


def read_images(args):
    images = read_idx(args.images)
    x = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
    return Records(x=x, labels=read_idx(args.labels).astype(np.int64))


def read_records(args):
    x, ids, values, labels, examples = [], [], [], [], []
    for raw in tf.data.TFRecordDataset(args.files, args.compression):
        f = tf.train.Example.FromString(raw.numpy()).features.feature
        if args.dense in f:
            x.append(list(f[args.dense].float_list.value))
        ids.append(list(f[args.ids].int64_list.value))
        values.append(list(f[args.values].float_list.value))
        label = list(f[args.label].int64_list.value) + list(f[args.label].float_list.value)
        labels.append(max(int(label[0]), 0))
        examples.append(raw.numpy())
    if x:
        return Records(x=np.array(x, np.float32), labels=np.array(labels), examples=examples)
    return Records(ids=ids, values=values, labels=np.array(labels), examples=examples)


def read_rows(args):
    rows = [json.loads(line) for line in open(args.file)]
    x = np.array([r["x"] for r in rows], np.float32) if "x" in rows[0] else None
    if rows[0]["ids"] is None:
        return Records(x=x)
    fields = [r["fields"] for r in rows]
    return Records(x=x, ids=[r["ids"] for r in rows], values=[r["values"] for r in rows], fields=None if fields[0] is None else fields)


def version_folder(path):
    if os.path.exists(os.path.join(path, "saved_model.pb")):
        return path
    return os.path.join(path, str(max(int(n) for n in os.listdir(path) if n.isdigit())))


def load_v2(path):
    """Returns call(signature, inputs) by tf.saved_model.load, and the signatures."""
    loaded = tf.saved_model.load(path)

    def call(name, inputs):
        f = loaded.signatures[name]
        out = f(**{k: tf.constant(v) for k, v in inputs.items()})
        return {k: v.numpy() for k, v in out.items()}
    call.keep = loaded
    return call, sorted(loaded.signatures)


def save_again(session, meta, prefix):
    """Saves through the graph's own saver, which must write all but the step, and with a
    global step of TensorFlow's beside it: then it must write the bytes that we wrote."""
    with tempfile.TemporaryDirectory() as tmp:
        own = os.path.join(tmp, "own")
        v1.train.Saver(saver_def=meta.saver_def).save(session, own, write_meta_graph=False, write_state=False)
        ours, theirs = tf.train.load_checkpoint(prefix), tf.train.load_checkpoint(own)
        names = sorted(theirs.get_variable_to_shape_map())
        if sorted(names + ["global_step"]) != sorted(ours.get_variable_to_shape_map()):
            raise AssertionError("the graph saves %s, want all but global_step" % names)
        for name in names:
            if ours.get_tensor(name).tobytes() != theirs.get_tensor(name).tobytes():
                raise AssertionError("the graph saves another %s" % name)
        step = v1.train.create_global_step()  # int64: another type in the file is an error
        v1.train.Saver([step]).restore(session, prefix)
        again = os.path.join(tmp, "variables")
        v1.train.Saver(v1.global_variables()).save(session, again, write_meta_graph=False, write_state=False)
        for suffix in (".index", ".data-00000-of-00001"):
            if open(prefix + suffix, "rb").read() != open(again + suffix, "rb").read():
                raise AssertionError("TensorFlow saves another %s%s" % (prefix, suffix))
        return int(session.run(step))


def load_v1(path):
    """Returns call(signature, inputs) by the V1 loader, and the signatures."""
    session = v1.Session(graph=tf.Graph())
    with session.graph.as_default():
        meta = v1.saved_model.load(session, ["serve"], path)
        step = save_again(session, meta, os.path.join(path, "variables", "variables"))
        with v1.Session() as other:  # what a program that builds on the graph does
            other.run(v1.global_variables_initializer())
            v1.train.Saver(v1.trainable_variables()).restore(other, os.path.join(path, "variables", "variables"))
    defs = {k: v for k, v in meta.signature_def.items() if not k.startswith("__")}

    def call(name, inputs):
        d = defs[name]
        feed = {d.inputs[k].name: v for k, v in inputs.items()}
        return session.run({k: t.name for k, t in d.outputs.items()}, feed)
    call.step = step
    return call, sorted(defs)


def by_class(out):
    """Scores of classify, in the order of the classes."""
    classes = np.char.decode(out["classes"].astype("S")).astype(np.int64)
    scores = np.empty_like(out["scores"])
    np.put_along_axis(scores, classes, out["scores"], axis=1)
    return scores


def scores_of(call, signature, records, names, start, stop, binary):
    """Scores [n, k] as `ringtrain predict` gives them, by one signature."""
    examples = lambda: records.serialized(names, start, stop)
    if signature == "predict_images":
        return call(signature, {"images": records.x[start:stop]})["scores"]
    if signature == "predict":
        dense = records.ids is None
        out = call(signature, {"x": records.x[start:stop]} if dense else {"examples": examples()})
        for key in ("y", "scores"):
            if key in out:
                return out[key]
        odds = 1 / (1 + np.exp(-out["logits"].astype(np.float64)))
        if np.abs(odds - out["probability"]).max() > TOLERANCE:
            raise AssertionError("predict: probability is not the sigmoid of logits")
        return out["probability"]
    if signature == "predict_sparse":
        return next(iter(call(signature, records.sparse(start, stop)).values()))
    out = call(signature, {"inputs": examples()})
    if "outputs" in out:  # regress
        return out["outputs"].reshape(-1, 1)
    scores = by_class(out)
    return scores[:, 1:] if binary else scores


def run(path, records, names):
    """Scores by each loader and signature, and the step."""
    result = {}
    for loader, load in (("v2", load_v2), ("v1", load_v1)):
        call, signatures = load(path)
        binary = "regression" in signatures
        for s in signatures:
            parts = [scores_of(call, s, records, names, i, min(i + BATCH, len(records)), binary)
                     for i in range(0, len(records), BATCH)]
            result[loader + " " + s] = np.concatenate(parts).astype(np.float64)
    return result, call.step


def read_predictions(path, n):
    got = {}
    for line in open(path):
        o = json.loads(line)
        if "record" in o:
            scores = o["scores"] if "scores" in o else [v for k, v in o.items() if k.startswith("score") or k == "prediction"]
            got[o["record"]] = [float(s) for s in scores]
    missing = [i for i in range(n) if i not in got]
    if missing or len(got) != n:
        raise AssertionError("%s has %d predictions, want %d" % (path, len(got), n))
    return np.array([got[i] for i in range(n)])


def check_warm_up(path):
    """Returns the number of requests of the warm-up file, and the largest difference of its answers."""
    from tensorflow_serving.apis import prediction_log_pb2

    signatures, worst, n = tf.saved_model.load(path).signatures, 0.0, 0
    name = os.path.join(path, "assets.extra", "tf_serving_warmup_requests")
    for record in tf.compat.v1.io.tf_record_iterator(name):
        log = prediction_log_pb2.PredictionLog.FromString(record).predict_log
        inputs = {k: tf.constant(tf.make_ndarray(v)) for k, v in log.request.inputs.items()}
        got = signatures[log.request.model_spec.signature_name](**inputs)
        if set(log.request.output_filter) != set(log.response.outputs):
            raise AssertionError("request %d has the outputs %s" % (n, list(log.response.outputs)))
        for key, value in log.response.outputs.items():
            want, have = tf.make_ndarray(value), got[key].numpy()
            if want.shape != have.shape or want.dtype == object and not (want == have).all():
                raise AssertionError("%s of request %d is %s, want %s" % (key, n, want, have))
            if want.dtype != object:
                worst = max(worst, float(np.abs(want - have).max()))
        n += 1
    return n, worst


def correct(scores, labels):
    if scores.shape[1] == 1:
        return int(((scores[:, 0] > 0.5) == (labels == 1)).sum())
    return int((scores.argmax(axis=1) == labels).sum())


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sub = p.add_subparsers(dest="command", required=True)
    images = sub.add_parser("images")
    images.add_argument("bundle")
    images.add_argument("--images", required=True)
    images.add_argument("--labels", required=True)
    images.set_defaults(read=read_images)
    records = sub.add_parser("records")
    records.add_argument("bundle")
    records.add_argument("files", nargs="+")
    records.add_argument("--label", default="label")
    records.add_argument("--compression", default="", choices=["", "GZIP", "ZLIB"])
    records.set_defaults(read=read_records)
    rows = sub.add_parser("rows")
    rows.add_argument("bundle")
    rows.add_argument("file")
    rows.set_defaults(read=read_rows)
    for s in (images, records, rows):
        s.add_argument("--dense", default="x", help="feature that the bundle reads")
        s.add_argument("--ids", default="ids")
        s.add_argument("--values", default="values")
        s.add_argument("--fields", default="fields")
        s.add_argument("--predictions", help="output of ringtrain predict --json")
        s.add_argument("--correct", type=int, help="records that training classified rightly")
    return p.parse_args()


def main():
    args = arguments()
    path = version_folder(args.bundle)
    records = args.read(args)
    result, step = run(path, records, args)
    first = next(iter(result.values()))
    report = {
        "bundle": path, "step": step, "tensorflow": tf.__version__, "records": len(records), "ways": sorted(result),
        "max_difference": max(float(np.abs(r - first).max()) for r in result.values()),
    }
    wrong = []
    if report["max_difference"] > TOLERANCE:
        wrong.append("signatures or loaders differ by more than %g" % TOLERANCE)
    if records.labels is not None:
        report["correct"] = correct(first, records.labels)
        report["accuracy"] = report["correct"] / len(records)
        if args.correct is not None and abs(report["correct"] - args.correct) > 1:
            wrong.append("correct is %d, want %d" % (report["correct"], args.correct))
    if args.predictions:
        want = read_predictions(args.predictions, len(records))
        report["max_difference_to_predictions"] = float(np.abs(first - want).max())
        if not report["max_difference_to_predictions"] <= TOLERANCE:
            wrong.append("scores differ from the predictions by more than %g" % TOLERANCE)
    if os.path.exists(os.path.join(path, "assets.extra", "tf_serving_warmup_requests")):
        report["warm_up"], report["warm_up_difference"] = check_warm_up(path)
        if not report["warm_up_difference"] <= TOLERANCE:
            wrong.append("answers of the warm-up file differ by more than %g" % TOLERANCE)
    report["wrong"] = wrong
    print(json.dumps(report))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
