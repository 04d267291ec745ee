"""Cases of reductions and of the operations of layers."""
import numpy as np
import tensorflow as tf

from make_ops import b, d, f, i, l

NAN, INF = float("nan"), float("inf")


def ramp(*shape):
    """Small numbers that are exact in float32."""
    k = np.arange(int(np.prod(shape)))
    return (((k * 7) % 11 - 5) / 4.0).astype(np.float32).reshape(shape)


def reductions(room):
    m = f([[1, -2, 3], [4, 5, -6]])
    for op in "Sum Mean Max".split():
        for name, x, axes, keep in [
                ("columns", m, i([0]), False), ("rows", m, i([1]), False), ("kept", m, i([1]), True), ("negative", m, i([-1]), True), ("all", m, i([0, 1]), False), ("all kept", m, i([1, 0]), True),
                ("scalar axis", m, i(0), False), ("no axis", m, i([], 0), False), ("middle", ramp(2, 3, 2), i([1]), False), ("outer and inner", ramp(2, 3, 2), i([0, 2]), False), ("images", ramp(2, 3, 2, 3), i([1, 2]), False),
                ("scalar", f(3), i([], 0), False), ("empty", f([], 0, 3), i([0]), False), ("empty rows", f([], 2, 0), i([1]), False), ("empty kept", f([], 0, 3), i([1]), False), ("nan", f([[NAN, 1], [2, 3]]), i([1]), False),
                ("infinite", f([[INF, 1], [INF, -INF]]), i([1]), False), ("double", d([[0.1, 0.2], [0.3, 0.4]]), i([1]), False), ("int64 axes", m, l([1]), False), ("long", ramp(2, 200), i([1]), False),
                ("error: axis", m, i([2]), False), ("error: negative axis", m, i([-3]), False), ("error: twice", m, i([1, 1]), False)]:
            room.case(op, name, input=x, axis=axes, keep_dims=keep)
        if op == "Sum":
            room.case(op, "int32", input=i([[1, 2], [3, -4]]), axis=i([1]), keep_dims=False)
            room.case(op, "int64", input=l([[1, 2], [3, -4]]), axis=i([0]), keep_dims=True)
            room.case(op, "int64 empty", input=l([], 0, 2), axis=i([0]), keep_dims=False)
    for name, x, axes, keep in [
            ("columns", b([[1, 0], [1, 1]]), i([0]), False), ("rows", b([[1, 0], [1, 1]]), i([1]), False), ("kept", b([[1, 0], [1, 1]]), i([1]), True), ("negative", b([[1, 0], [1, 1]]), i([-1]), False),
            ("all", b([[1, 1], [1, 1]]), i([0, 1]), False), ("scalar axis", b([1, 0]), i(0), False), ("no axis", b([1, 0]), i([], 0), False), ("empty", b([], 0, 2), i([0]), False), ("empty rows", b([], 2, 0), i([1]), False),
            ("scalar", b(False), i([], 0), False), ("middle", b([1, 0, 1, 1, 1, 1, 1, 1], 2, 2, 2), i([1]), False), ("error: axis", b([1]), i([1]), False)]:
        room.case("All", name, input=x, axis=axes, keep_dims=keep)
    for name, x, axis, to in [
            ("rows", m, i(1), tf.int64), ("columns", m, i(0), tf.int64), ("negative", m, i(-1), tf.int64), ("ties", f([2, 3, 3, 1]), i(0), tf.int64), ("int32", m, i(1), tf.int32), ("middle", ramp(2, 3, 2), i(1), tf.int64), ("infinite", f([-INF, INF, 1]), i(0), tf.int64), ("all least", f([-INF, -INF]), i(0), tf.int64),
            ("empty", f([], 0, 3), i(1), tf.int64), ("one", f([[4]]), i(1), tf.int64), ("int64 axis", m, l(1), tf.int64), ("error: axis", m, i(2), tf.int64), ("error: no values", f([], 2, 0), i(1), tf.int64),
            ("error: scalar", f(1), i(0), tf.int64)]:
        room.case("ArgMax", name, input=x, dimension=axis, output_type=to)
    for name, x, k in [
            ("one", m, 1), ("two", m, 2), ("whole", m, 3), ("zero", m, 0), ("ties", f([2, 3, 3, 1, 3]), 4), ("vector", f([5, 1, 4]), 2),
            ("infinite", f([INF, -INF, 1]), 3), ("empty", f([], 0, 3), 2), ("long", ramp(1, 40), 15), ("rank=3", ramp(2, 2, 3), 2), ("error: k", m, 4), ("error: negative", m, -1), ("error: scalar", f(1), 1)]:
        room.case("TopKV2", name, input=x, k=np.array(k, np.int32), sorted=True)
    for name, x, axis, more in [
            ("vector", l([1, 2, 3]), 0, {}), ("rows", l([[1, 2], [3, 4]]), 1, {}), ("columns", l([[1, 2], [3, 4]]), 0, {}), ("negative", l([[1, 2], [3, 4]]), -1, {}), ("int32", i([1, 2]), 0, {}), ("middle", l(range(12), 2, 3, 2), 1, {}), ("scalar axis -2", l([[1], [2]]), -2, {}),
            ("empty", l([], 0), 0, {}), ("empty rows", l([], 2, 0), 0, {}),
            ("error: axis", l([1]), 1, {}), ("error: negative axis", l([1]), -2, {})]:
        room.case("Cumsum", name, x=x, axis=np.array(axis, np.int32), **more)


def counts(room):
    for name, data, ids, n in [
            ("vector", f([1, 2, 3]), l([0, 1, 0]), 2), ("rows", f([[1, 2], [3, 4], [5, 6]]), l([1, 1, 0]), 3), ("dropped", f([1, 2, 3]), l([-1, 0, -5]), 1), ("matrix of segments", f([[1, 2], [3, 4]]), l([[0, 1], [1, 1]]), 2),
            ("int32 segments", f([1, 2]), i([1, 1]), 2), ("int64", l([1, 2, 3]), l([0, 0, 2]), 3), ("int32", i([1, 2]), l([0, 0]), 1), ("double", d([0.1, 0.2]), l([0, 0]), 1), ("empty", f([], 0, 2), l([], 0), 2),
            ("no segments", f([], 0), l([], 0), 0), ("scalar", f(5), l(1), 2), ("nan", f([NAN, 1]), l([0, 1]), 2), ("infinite", f([INF, -INF]), l([0, 0]), 1),
            ("error: segment", f([1, 2]), l([0, 2]), 2), ("error: shapes", f([1, 2]), l([0, 1, 0]), 2), ("error: number", f([1]), l([0]), -1)]:
        room.case("UnsortedSegmentSum", name, data=data, segment_ids=ids, num_segments=np.array(n, np.int32))
    for name, x, bounds in [
            ("vector", f([-1, 0, 0.5, 1, 5]), [0, 1, 2]), ("on a bound", f([2, 2.0000002]), [2]), ("none", f([1]), []),
            ("empty", f([], 0, 2), [1]), ("nan", f([NAN]), [0, 1]), ("infinite", f([INF, -INF]), [0, 1]), ("matrix", f([[1, 2], [3, 4]]), [1.5, 3.5]), ("scalar", f(3), [1, 2, 3, 4]), ("equal bounds", f([1, 2]), [1, 1, 2]), ("rank=3", f([1, 2], 1, 2, 1), [2])]:
        room.case("Bucketize", name, input=x, boundaries=[float(v) for v in bounds])


def matrices(room):
    for name, x, y, a, t in [
            ("small", f([[1, 2], [3, 4]]), f([[5, 6], [7, 8]]), 0, 0), ("transposed a", ramp(3, 2), ramp(3, 4), 1, 0), ("transposed b", ramp(2, 3), ramp(4, 3), 0, 1),
            ("one row", ramp(1, 20), ramp(20, 3), 0, 0), ("one column", ramp(4, 9), ramp(9, 1), 0, 0), ("wide", ramp(2, 3), ramp(3, 17), 0, 0), ("deep", ramp(2, 100), ramp(100, 2), 0, 0), ("inner=0", f([], 2, 0), f([], 0, 3), 0, 0),
            ("no rows", f([], 0, 2), ramp(2, 3), 0, 0), ("no columns", ramp(2, 2), f([], 2, 0), 0, 0), ("no rows transposed", f([], 2, 0), ramp(2, 3), 1, 0), ("nan", f([[NAN, 1]]), f([[1], [2]]), 0, 0), ("infinite", f([[INF, 1]]), f([[1], [-INF]]), 0, 0),
            ("error: inner", ramp(2, 3), ramp(2, 3), 0, 0), ("error: rank", ramp(2, 3), ramp(3), 0, 0), ("error: transposed", ramp(2, 3), ramp(3, 2), 1, 0)]:
        room.case("MatMul", name, a=x, b=y, transpose_a=bool(a), transpose_b=bool(t))
    for name, x in [
            ("row", f([[1, 2, 3]])), ("rows", ramp(3, 4)), ("vector", f([0, 1])), ("rank=3", ramp(2, 2, 3)), ("one", f([[5], [7]])), ("wide", ramp(2, 40)), ("large", f([[1000, 1001, -1000]])), ("empty", f([], 0, 3)), ("no classes", f([], 2, 0)),
            ("nan", f([[NAN, 1], [1, 2]])), ("infinite", f([[INF, 1], [-INF, 0]])), ("all least", f([[-INF, -INF]])), ("error: scalar", f(1))]:
        room.case("Softmax", name, logits=x)


def images(room):
    for op in ("Conv2D", "DepthwiseConv2dNative"):
        depth = 4 if op == "Conv2D" else 2
        for name, x, k, stride, padding in [
                ("valid", ramp(1, 4, 4, 2), ramp(3, 3, 2, depth), 1, "VALID"), ("same", ramp(1, 4, 4, 2), ramp(3, 3, 2, depth), 1, "SAME"), ("stride=2", ramp(2, 5, 5, 1), ramp(3, 3, 1, depth), 2, "SAME"),
                ("stride=2 valid", ramp(1, 5, 6, 1), ramp(2, 2, 1, depth), 2, "VALID"), ("1x1", ramp(2, 3, 2, 3), ramp(1, 1, 3, depth), 1, "SAME"), ("even kernel", ramp(1, 3, 3, 1), ramp(2, 2, 1, depth), 1, "SAME"),
                ("kernel beyond", ramp(1, 2, 2, 1), ramp(5, 5, 1, depth), 1, "SAME"), ("wide", ramp(1, 1, 7, 2), ramp(1, 3, 2, 1), 1, "VALID"), ("no images", f([], 0, 3, 3, 1), ramp(2, 2, 1, depth), 1, "SAME"),
                ("one multiplier", ramp(1, 3, 3, 4), ramp(2, 2, 4, 1), 1, "SAME"), ("nan", f([NAN, 1, 2, 3], 1, 2, 2, 1), ramp(1, 1, 1, depth), 1, "VALID"), ("infinite", f([INF, 1, 2, 3], 1, 2, 2, 1), f([1, 2], 1, 1, 1, 2), 1, "VALID"),
                ("error: channels", ramp(1, 3, 3, 2), ramp(2, 2, 3, depth), 1, "SAME"), ("error: rank", ramp(3, 3, 2), ramp(2, 2, 2, depth), 1, "SAME"), ("error: too small", ramp(1, 1, 1, 1), ramp(3, 3, 1, depth), 1, "VALID"),
                ("rows only", ramp(1, 6, 2, 2), ramp(3, 1, 2, depth), 2, "SAME")]:
            key = dict(input=x, filter=k) if op == "Conv2D" else dict(input=x, filter=k)
            room.case(op, name, strides=[1, stride, stride, 1], padding=padding, **key)
    for op, key in (("MaxPool", "input"), ("AvgPool", "value")):
        for name, x, size, stride, padding in [
                ("2x2", ramp(1, 4, 4, 2), (2, 2), 2, "VALID"), ("same", ramp(1, 3, 3, 1), (2, 2), 2, "SAME"), ("overlapping", ramp(1, 4, 4, 1), (3, 3), 1, "SAME"), ("overlapping valid", ramp(2, 4, 4, 1), (3, 3), 1, "VALID"),
                ("rows", ramp(1, 4, 2, 3), (2, 1), 2, "VALID"), ("whole", ramp(1, 3, 3, 2), (3, 3), 1, "VALID"), ("1x1", ramp(1, 2, 2, 1), (1, 1), 1, "VALID"), ("beyond", ramp(1, 2, 2, 1), (3, 3), 1, "SAME"),
                ("no images", f([], 0, 4, 4, 1), (2, 2), 2, "VALID"), ("wide", ramp(1, 2, 2, 17), (2, 2), 2, "SAME"), ("infinite", f([INF, 1, -INF, 3], 1, 2, 2, 1), (1, 2), 1, "VALID"), ("cut off", ramp(1, 5, 5, 1), (2, 2), 2, "VALID"),
                ("error: rank", ramp(4, 4, 1), (2, 2), 2, "VALID"), ("error: too small", ramp(1, 1, 1, 1), (3, 3), 1, "VALID")]:
            room.case(op, name, ksize=[1, *size, 1], strides=[1, stride, stride, 1], padding=padding, **{key: x})


def cases(room):
    reductions(room)
    counts(room)
    matrices(room)
    images(room)
