"""What TensorFlow answers for each operation of the interpreter. Needs TensorFlow 2.x (made with 2.21.0, CPU).

    python make_ops.py OUTDIR [ROOM…]

For each module cases_ROOM.py beside this file it writes OUTDIR/ops/ROOM.json, a case a line: the nodes of the
graph as TensorFlow declares them, what the placeholders x0, x1, … are fed, and the outputs, or the class of the
error. A module has a function cases(room), which calls

    room.case("AddV2", "row", x=f([[1, 2]]), y=f([3]))          arrays are fed, all else are attributes
    room.graph("lookup", build, s(["a"]))                       build(placeholders…) returns the fetches,
                                                                or (fetches, the operation that runs before)
"""
import importlib
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from google.protobuf import json_format

v1 = tf.compat.v1


def f(values, *shape):
    return array(values, np.float32, shape)


def d(values, *shape):
    return array(values, np.float64, shape)


def i(values, *shape):
    return array(values, np.int32, shape)


def l(values, *shape):
    return array(values, np.int64, shape)


def b(values, *shape):
    return array(values, np.bool_, shape)


def s(values, *shape):
    """Strings; a character is a byte."""
    a = np.array(values, dtype=object)
    flat = np.array([v if isinstance(v, bytes) else v.encode("latin-1") for v in a.ravel()] + [None], dtype=object)[:-1]
    return flat.reshape(shape or a.shape)


def array(values, dtype, shape):
    a = np.array(values, dtype=dtype)
    return a.reshape(shape) if shape else a


NAMES = {"float32": "float", "float64": "double", "int32": "int32", "int64": "int64", "bool": "bool"}


def text(a):
    """A tensor as JSON, [type, shape, values]: NaN and infinity are words, and a byte of a string is a character."""
    a = np.asarray(a)
    if a.dtype == object or a.dtype.kind == "S":
        return ["string", list(a.shape), [bytes(v).decode("latin-1") for v in a.ravel()]]
    if a.dtype.kind == "f":
        values = [float(str(v)) if np.isfinite(v) else str(v) for v in a.ravel()]
        values = [int(v) if not isinstance(v, str) and v == int(v) and abs(v) < 1e6 and str(v) != "-0.0" else v for v in values]
    else:
        values = a.ravel().tolist()
    return [NAMES[a.dtype.name], list(a.shape), values]


def flat(out):
    """The tensors of what a function of tf.raw_ops returns."""
    if isinstance(out, tf.Operation):
        return list(out.outputs)
    if isinstance(out, (list, tuple)):
        return [t for part in out for t in flat(part)]
    return [out]


class Room:
    def __init__(self):
        self.written = []

    def case(self, op, name, **args):
        feeds = []
        spread = {}
        for key, value in args.items():
            many = isinstance(value, list) and value and all(isinstance(v, np.ndarray) for v in value)
            if many or isinstance(value, np.ndarray):
                first = len(feeds)
                feeds += value if many else [value]
                spread[key] = (first, len(feeds), many)

        def build(*placeholders):
            given = {k: v for k, v in args.items() if k not in spread}
            for key, (lo, hi, many) in spread.items():
                given[key] = list(placeholders[lo:hi]) if many else placeholders[lo]
            return getattr(tf.raw_ops, op)(name="n", **given)

        self.graph(name, build, *feeds, op=op)

    def graph(self, name, build, *feeds, op=None):
        try:
            self.run(name, build, feeds, op, lambda x: None)
        except ValueError:  # the operation wants to know a shape
            try:
                self.run(name, build, feeds, op, lambda x: x.shape)
            except ValueError:  # no graph can have the case
                if not name.startswith("error"):
                    raise

    def run(self, name, build, feeds, op, shape):
        graph = tf.Graph()
        with graph.as_default():
            xs = [v1.placeholder(tf.string if x.dtype == object else tf.as_dtype(x.dtype), shape(x), name="x%d" % k) for k, x in enumerate(feeds)]
            out = build(*xs)
            before = None
            if isinstance(out, tuple) and len(out) == 2 and isinstance(out[1], tf.Operation):
                out, before = out
            fetches = flat(out)
            case = {"case": (op + " " if op else "") + name, "nodes": [self.node(o, len(feeds)) for o in graph.get_operations() if o.type != "Placeholder"],
                    "in": [text(x) for x in feeds]}
            if [t.name for t in fetches] != ["n:0"]:
                case["fetch"] = [t.name for t in fetches]
            with v1.Session(graph=graph) as session:
                try:
                    if before is not None:
                        case["init"] = before.name
                        session.run(before)
                    case["out"] = [text(v) for v in session.run(fetches, dict(zip(xs, feeds)))]
                except (tf.errors.OpError, UnicodeDecodeError) as e:  # the message of an error has the bytes of an example
                    case["error"] = type(e).__name__
        if os.environ.get("VERBOSE"):
            print(case["case"], flush=True)
        self.written.append(case)

    @staticmethod
    def node(o, feeds):
        """A node without what goes without saying: the name n, the inputs x0, x1, … and "type" of a type."""
        n = {"op": o.type}
        inputs = list(o.node_def.input)
        if o.name != "n":
            n["name"] = o.name
        if inputs != ["x%d" % k for k in range(feeds)]:
            n["input"] = inputs
        attrs = json_format.MessageToDict(o.node_def).get("attr", {})
        attrs = {k: v.get("type", v) for k, v in sorted(attrs.items()) if not k.startswith("_")}
        if attrs:
            n["attr"] = attrs
        return n


def main():
    out = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    sys.modules.setdefault("make_ops", sys.modules["__main__"])
    os.makedirs(os.path.join(out, "ops"), exist_ok=True)
    rooms = sys.argv[2:] or sorted(n[len("cases_"):-len(".py")] for n in os.listdir(here) if n.startswith("cases_"))
    for name in rooms:
        np.random.seed(1)
        room = Room()
        importlib.import_module("cases_" + name).cases(room)
        with open(os.path.join(out, "ops", name + ".json"), "w") as file:
            file.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in room.written) + "\n]\n")


if __name__ == "__main__":
    main()
