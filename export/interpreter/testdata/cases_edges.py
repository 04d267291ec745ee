"""Cases at the edges of operations that other modules have: sizes of 0, the largest numbers, NaN beside numbers."""
import tensorflow as tf

from make_ops import b, f, i, l

NAN, INF = float("nan"), float("inf")
raw = tf.raw_ops


def shapes(room):
    for name, x, to in [
            ("rest beside 0", f([], 0), i([0, -1])), ("rest of nothing beside 0", f([], 0, 3), i([-1, 0])), ("rest of two zeros", f([], 0, 4, 0), i([2, -1, 0, 0])),
            ("error: rest beside 0", f([1, 2]), i([0, -1])), ("error: rest of another size", f([], 0, 3), i([2, 0, -1, 2]))]:
        room.case("Reshape", name, tensor=x, shape=to)
    for name, axes in [("error: axis out of range", [5]), ("error: negative axis out of range", [-3])]:
        room.case("Squeeze", name, input=f([[1], [2]]), axis=axes)
    x, least, most = f([1, 2, 3, 4, 5]), -2**63, 2**63 - 1
    for name, begin, end, stride in [
            ("largest stride", 0, 5, most), ("least stride", 4, -9, least), ("almost least stride", 4, -9, -most), ("least begin", least, most, 2),
            ("largest begin", most, least, -2), ("stride of the size", 0, 5, 5), ("stride of one more", 1, 5, 6), ("stride back of the size", 4, -6, -5)]:
        room.case("StridedSlice", name, input=x, begin=l([begin]), end=l([end]), strides=l([stride]))
    room.case("StridedSlice", "index that masks name too", input=x, begin=i([1]), end=i([2]), strides=i([1]), begin_mask=1, end_mask=1, shrink_axis_mask=1)
    room.case("StridedSlice", "error: index of nothing", input=f([], 0, 3), begin=i([0]), end=i([1]), strides=i([1]), shrink_axis_mask=1)
    room.case("GatherV2", "any index of empty rows", params=f([], 3, 0), indices=i([2, 7]), axis=i(0))
    room.case("GatherV2", "any index of no rows outside", params=f([], 0, 3), indices=i([7]), axis=i(1))


def numbers(room):
    for op in ("FloorDiv", "FloorMod"):
        room.case(op, "nothing by zero", x=i([], 0), y=i(0))
        room.case(op, "nothing by zeros", x=l([], 0, 2), y=l([0, 1]))
        room.case(op, "least and largest", x=l([-2**63, -2**63, 2**63 - 1]), y=l([3, 2**63 - 1, -2]))
    for op in ("Equal", "NotEqual", "Less", "LessEqual", "GreaterEqual"):
        room.case(op, "denormal", x=f([1e-40, -1e-40, 1e-40, 1e-40, 1e-37, 0]), y=f([0, 0, 2e-40, 1e-40, 0, -1e-45]))
    for name, x, axis in [
            ("nan first", f([NAN, 1, 2]), 0), ("nan inside", f([1, NAN, 2, 0]), 0), ("all nan", f([NAN, NAN]), 0), ("all least", f([-INF, -INF]), 0),
            ("nan and least", f([NAN, -INF]), 0), ("least first", f([[-INF, -INF, -1]]), -1), ("nan in columns", f([NAN, 1, 2, 1, NAN, 2, 2, 1, NAN], 3, 3), 0)]:
        room.case("ArgMax", name, input=x, dimension=i(axis), output_type=tf.int64)


def images(room):
    for size, window, stride in [(2, 4, 2), (2, 6, 3), (2, 5, 2), (2, 4, 1), (2, 3, 1), (2, 6, 2)]:
        x, name = f(range(size), 1, size, 1, 1), "size=%d window=%d stride=%d" % (size, window, stride)
        room.case("Conv2D", name, input=x, filter=f([1] * window, window, 1, 1, 1), strides=[1, stride, 1, 1], padding="VALID")
        room.case("MaxPool", name, input=x, ksize=[1, window, 1, 1], strides=[1, stride, 1, 1], padding="VALID")
        room.case("AvgPool", name, value=x, ksize=[1, window, 1, 1], strides=[1, stride, 1, 1], padding="VALID")


def state(room):
    def asserted(condition):
        with tf.control_dependencies([raw.Assert(condition=condition, data=[tf.constant("no")])]):
            return [raw.Identity(input=condition)]

    def reshaped(x):
        variable = raw.VariableV2(shape=[4], dtype=tf.float32, shared_name="v")
        assign = raw.Assign(ref=variable, value=tf.constant([1.0, 2, 3, 4]), validate_shape=False)
        return [raw.Identity(input=raw.Reshape(tensor=variable, shape=[2, 2])), raw.Identity(input=x)], assign.op

    for name, condition in [("vector", b([1])), ("false vector", b([0])), ("two", b([1, 1])), ("nothing", b([], 0))]:
        room.graph("Assert error: " + name, asserted, condition)
    room.graph("reference variable reshaped", reshaped, f(0))


def cases(room):
    shapes(room)
    numbers(room)
    images(room)
    state(room)
