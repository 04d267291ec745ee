"""Cases of the operations that compute element by element."""
from make_ops import b, d, f, i, l, s

NAN, INF = float("nan"), float("inf")

FLOATS = "Elu Erf Erfc Expm1 Floor Log1p Relu Relu6 Rsqrt Sigmoid Sqrt Tanh Abs Neg Sign Square".split()


def unary(room):
    for op in FLOATS:
        key = {"Relu": "features", "Relu6": "features", "Elu": "features"}.get(op, "x")
        case = lambda name, x: room.case(op, name, **{key: x})
        case("vector", f([-2.5, -1, -0.5, 0.25, 0.5, 1, 3, 6.5]))
        case("long", f([k / 8 - 1.5 for k in range(21)]))
        case("scalar", f(0.75))
        case("rank=3", f([0.5, 1.5, 2.5, -0.25, 4, 5], 1, 3, 2))
        case("empty", f([], 0, 3))
        case("nan", f([NAN, 1]))
        case("infinite", f([INF, -INF]))
        case("zeros", f([0.0, -0.0]))
        case("large", f([50, 1e4, -1e4, 1e20, -1e20]))
        case("small", f([1e-6, -1e-6, 1e-12, 1e-3]))
        case("double", d([-1.25, 0.1, 0.7, 2.5, 12]))
        if op != "Erf":  # of infinity TensorFlow gives NaN there
            case("double nan and infinite", d([NAN, INF, -INF]))
    for name, x in [("vector", f([NAN, 1, INF])), ("double", d([NAN, 1, -INF])), ("empty", f([])), ("scalar", f(NAN)),
                    ("rank=3", f([NAN, 2, NAN], 1, 3, 1)), ("infinite", f([INF, -INF])), ("zeros", f([0.0, -0.0])), ("double empty", d([], 0, 2)),
                    ("double scalar", d(1.5)), ("large", f([3e38, -3e38]))]:
        room.case("IsNan", name, x=x)
    for name, x in [("vector", b([1, 0, 1])), ("scalar", b(True)), ("false", b(False)), ("empty", b([])), ("empty rank=2", b([], 2, 0)),
                    ("rank=2", b([[1, 0], [0, 0]])), ("rank=3", b([1, 1, 0, 0], 2, 2, 1)), ("one", b([0])), ("all", b([1] * 9)), ("none", b([0] * 9))]:
        room.case("LogicalNot", name, x=x)
    for name, x, alpha in [("vector", f([-2, -0.5, 0, 3]), 0.2), ("alpha", f([-2, -0.5, 0, 3]), 0.01), ("one", f([-2, 3]), 1.0),
                           ("zero", f([-2, 3]), 0.0), ("scalar", f(-4), 0.25), ("empty", f([]), 0.2), ("nan", f([NAN]), 0.2),
                           ("infinite", f([INF, -INF]), 0.5), ("rank=4", f([-1, 2, -3, 4], 1, 2, 2, 1), 0.3),
                           ("long", f([k - 9 for k in range(19)]), 0.125)]:
        room.case("LeakyRelu", name, features=x, alpha=alpha)


def binary(room):
    floats = [
        ("same", f([1, -2, 3.5]), f([0.5, 4, -2])),
        ("long", f([k - 9.5 for k in range(19)]), f([k / 4 + 1 for k in range(19)])),
        ("scalar x", f(3), f([[1, 2], [3, 4]])),
        ("scalar y", f([[1, 2], [3, 4]]), f(-3)),
        ("scalars", f(2), f(5)),
        ("row", f([[1, 2, 3], [4, 5, 6]]), f([10, 20, -30])),
        ("column", f([[1, 2, 3], [4, 5, 6]]), f([[10], [-20]])),
        ("outer", f([[1], [2], [3]]), f([[10, 20]])),
        ("middle", f([1, 2, 3, 4, 5, 6], 2, 1, 3), f([1, -1, 2, -2], 1, 4, 1)),
        ("both", f([1, 2], 2, 1, 1), f([[1, 2, 3], [-4, 5, 6]])),
        ("empty", f([], 0, 2), f([1, 2])),
        ("empty by one", f([], 2, 0), f([[1], [2]])),
        ("nan", f([NAN, 1, NAN]), f([1, NAN, NAN])),
        ("infinite", f([INF, -INF, INF, 1]), f([INF, INF, 0, -INF])),
        ("zeros", f([0, -0.0, 1, -1]), f([0, 1, 0, 0])),
        ("rank=5", f([1, 2, 3, 4], 2, 1, 2, 1, 1), f([1, 3], 1, 1, 1, 2)),
        ("error: shapes", f([1, 2]), f([1, 2, 3])),
        ("error: inner shapes", f([[1, 2]]), f([[1, 2, 3]])),
        ("double", d([1.5, 2.25, 1e100]), d([3, -0.125, 1e10])),
    ]
    integers = [
        ("int32", i([[7, -7, 2]]), i([[2], [-3], [5]])),
        ("int32 wraps", i([2**31 - 1, -2**31]), i([2, 3])),
        ("int64", l([7, -7, 3000000000]), l([2, 2, -4])),
        ("int64 scalar", l([7, -7, 5]), l(3)),
        ("int64 empty", l([], 0, 1), l([1, 2])),
    ]
    some = [c for c in floats if c[0] in ("nan", "infinite", "zeros", "outer", "row", "scalar y", "long", "error: shapes", "double", "empty")]
    for op in "Add AddV2 Sub Mul RealDiv DivNoNan Maximum SquaredDifference".split():
        for name, x, y in (floats if op == "AddV2" else some) + (integers if op not in ("RealDiv", "DivNoNan", "SquaredDifference") else []):
            room.case(op, name, x=x, y=y)
    for op in "FloorDiv FloorMod".split():
        for name, x, y in integers + [
                ("signs", l([7, 7, -7, -7, 6, -6]), l([2, -2, 2, -2, 3, 3])),
                ("row", l([[9, 10, 11], [12, 13, -14]]), l([4, 5, 6])),
                ("column", i([[9, 10], [-12, 13]]), i([[4], [5]])),
                ("error: zero", l([1, 2]), l([1, 0])),
                ("error: scalar zero", i([1, 2]), i(0)),
                ("error: shapes", l([1, 2]), l([1, 2, 3]))]:
            room.case(op, name, x=x, y=y)
    for op in "Equal NotEqual Less LessEqual GreaterEqual".split():
        more = [("equal", f([1, 2, 2]), f([1, 1, 3])), ("int64", l([1, 2, 3]), l([1, 3, 2]))]
        if op in ("Equal", "NotEqual"):
            more += [("strings", s(["a", "", "ab"]), s(["a", "b", "abc"])), ("strings by scalar", s([["a", "b"]]), s("b")),
                     ("no strings", s([], 0), s("b"))]
        for name, x, y in (floats if op == "Less" else some) + integers + more:
            if name.startswith("error") and op in ("Equal", "NotEqual"):
                continue
            room.case(op, name, x=x, y=y)
    for op in "LogicalAnd LogicalOr".split():
        for name, x, y in [
                ("table", b([1, 1, 0, 0]), b([1, 0, 1, 0])), ("scalar", b([1, 0]), b(True)), ("scalar x", b(False), b([1, 0])),
                ("scalars", b(True), b(False)), ("row", b([[1, 0], [0, 1]]), b([1, 0])), ("column", b([[1, 0], [0, 1]]), b([[1], [0]])),
                ("outer", b([[1], [0]]), b([[1, 0, 1]])), ("empty", b([], 0, 2), b([1, 0])), ("empty scalar", b([]), b(True)),
                ("long", b([k % 3 == 0 for k in range(19)]), b([k % 2 == 0 for k in range(19)])), ("error: shapes", b([1, 0]), b([1, 0, 1]))]:
            room.case(op, name, x=x, y=y)


def bias(room):
    for name, x, y in [
            ("matrix", f([[1, 2], [3, 4]]), f([10, 20])), ("rank=3", f([1, 2, 3, 4], 1, 2, 2), f([10, 20])),
            ("images", f(range(12), 1, 2, 2, 3), f([1, -1, 0.5])), ("one", f([[5]]), f([1])), ("empty", f([], 0, 2), f([1, 2])),
            ("no channels", f([], 2, 0), f([])), ("nan", f([[NAN, 1]]), f([1, NAN])), ("infinite", f([[INF, -INF]]), f([-INF, 1])),
            ("double", d([[1, 2]]), d([0.1, 0.2])), ("int32", i([[1, 2]]), i([3, 4])), ("wide", f(range(40), 2, 20), f(range(20))),
            ("error: size", f([[1, 2]]), f([1, 2, 3])), ("error: one", f([[1, 2]]), f([1])), ("error: rank of the bias", f([[1, 2]]), f([[1, 2]])),
            ("error: rank of the value", f([1, 2]), f([1, 2]))]:
        room.case("BiasAdd", name, value=x, bias=y)


def cast(room):
    import tensorflow as tf
    sources = {"float": f([-1.5, 0, 0.4, 2.9, 100]), "double": d([-1.5, 0, 0.4, 2.9, 1e6]), "int32": i([-3, 0, 7, 2**31 - 1]),
               "int64": l([-3, 0, 7, 2**40 + 1]), "bool": b([1, 0])}
    for name, x in sources.items():
        for to in (tf.float32, tf.float64, tf.int32, tf.int64):
            room.case("Cast", "%s to %s" % (name, to.name), x=x, DstT=to)
    for to in (tf.int32, tf.int64, tf.float64):
        room.case("Cast", "not finite to " + to.name, x=f([NAN, INF, -INF]), DstT=to)
        room.case("Cast", "double not finite to " + to.name, x=d([NAN, INF, -INF, 3e9, -3e9]), DstT=to)
    room.case("Cast", "too large", x=f([3e9, -3e9, 1e20, -1e20]), DstT=tf.int32)
    room.case("Cast", "too large for int64", x=f([3e9, 1e20, -1e20]), DstT=tf.int64)
    room.case("Cast", "empty", x=f([], 0, 2), DstT=tf.int64)
    room.case("Cast", "scalar", x=l(5), DstT=tf.float32)
    room.case("Cast", "double to a small float", x=d([1e-40, 1e300, 0.1]), DstT=tf.float32)


def select(room):
    for name, c, t, e in [
            ("same", b([1, 0]), f([1, 2]), f([3, 4])), ("scalar condition", b(True), f([1, 2]), f([3, 4])),
            ("scalar choice", b([1, 0, 1]), f(1), f([3, 4, 5])), ("row", b([1, 0]), f([[1, 2], [3, 4]]), f(0)),
            ("column", b([[1], [0]]), f([[1, 2], [3, 4]]), f([[5, 6], [7, 8]])), ("outer", b([[1], [0]]), f([1, 2, 3]), f(9)),
            ("strings", b([1, 0]), s(["a", "b"]), s("")), ("int64", b([0, 1]), l([1, 2]), l([3, 4])), ("int32", b([0, 1]), i(1), i([3, 4])),
            ("bool", b([0, 1]), b([1, 1]), b([0, 0])), ("double", b([0, 1]), d([0.1, 0.2]), d(0.3)), ("empty", b([], 0, 2), f([1, 2]), f(0)),
            ("nan is not mixed in", b([1, 0]), f([1, NAN]), f([NAN, 2])), ("infinite", b([1, 0]), f([INF, 1]), f([1, -INF])),
            ("error: shapes", b([1, 0]), f([1, 2, 3]), f(0)), ("error: choices", b(True), f([1, 2, 3]), f([1, 2]))]:
        room.case("SelectV2", name, condition=c, t=t, e=e)


def cases(room):
    unary(room)
    binary(room)
    bias(room)
    cast(room)
    select(room)
