"""Cases of the operations that move values and compute none."""
import tensorflow as tf

from make_ops import b, d, f, i, l, s

NAN, INF = float("nan"), float("inf")


def shapes(room):
    some = [("vector", f([1, 2, 3])), ("scalar", f(1)), ("matrix", d([[1, 2]])), ("empty", i([], 0, 3)), ("rank=4", l(range(6), 1, 2, 3, 1)),
            ("strings", s(["a", "b"])), ("bool", b([[1], [0]])), ("nan", f([NAN])), ("infinite", f([INF, -INF])), ("empty inside", f([], 2, 0, 2))]
    for name, x in some:
        room.case("Shape", name, input=x, out_type=tf.int32)
        room.case("ZerosLike", name, x=x)
    room.case("Shape", "int64", input=some[2][1], out_type=tf.int64)
    for name, x, to in [
            ("matrix", f(range(6)), i([2, 3])), ("rest", f(range(6)), i([-1, 2])), ("rest in the middle", f(range(6), 3, 2), i([2, -1, 1])),
            ("scalar", f([5]), i([])), ("from a scalar", f(5), i([1, 1])), ("strings", s(["a", "b"]), i([2, 1])), ("empty", f([], 0, 3), i([3, 0])),
            ("rest of nothing", f([], 0, 3), i([-1, 3])), ("int64", l(range(4)), l([2, 2])), ("nan", f([NAN, INF]), i([2, 1])),
            ("error: sizes", f(range(6)), i([4, 2])), ("error: rest", f(range(6)), i([-1, 4])), ("error: two rests", f(range(6)), i([-1, -1])),
            ("error: negative", f(range(6)), i([-2, 3]))]:
        room.case("Reshape", name, tensor=x, shape=to)
    for name, x, axis in [
            ("front", f([1, 2]), i(0)), ("back", f([1, 2]), i(-1)), ("last", f([1, 2]), i(1)), ("first of all", f([[1, 2]]), i(-3)), ("middle", f([[1, 2]]), i(1)),
            ("scalar", f(1), i(0)), ("strings", s(["a"]), i(1)), ("int64", l([1]), l(0)), ("empty", f([], 0), i(0)), ("nan", f([NAN, INF]), i(0)),
            ("vector of one", f([1, 2]), i([0])), ("error: axis", f([1, 2]), i(2)), ("error: negative axis", f([1, 2]), i(-3))]:
        room.case("ExpandDims", name, input=x, axis=axis)
    for name, x, axes in [
            ("all", f([1, 2], 1, 2, 1), []), ("one", f([1, 2], 1, 2, 1), [0]), ("negative", f([1, 2], 1, 2, 1), [-1]), ("both", f([1, 2], 1, 2, 1), [2, 0]),
            ("none to drop", f([[1, 2], [3, 4]]), []), ("to a scalar", f([[7]]), []), ("strings", s([["a", "b"]]), [0]), ("int64", l([[1]]), [1]),
            ("empty", f([], 0, 1), []), ("nan", f([[NAN, INF]]), [0]), ("error: size", f([[1, 2]]), [1]), ("error: negative size", f([[1, 2]]), [-1])]:
        room.case("Squeeze", name, input=x, axis=axes)


def fills(room):
    for name, dims, value in [
            ("vector", i([3]), f(2)), ("matrix", i([2, 3]), f(-1)), ("scalar", i([]), f(5)), ("empty", i([0, 3]), f(1)), ("strings", i([2]), s("a")),
            ("int64", l([2, 1]), l(7)), ("bool", i([2]), b(True)), ("double", i([2]), d(0.1)), ("nan", i([2]), f(NAN)), ("infinite", i([2]), f(-INF)),
            ("int32", i([5]), i(3)), ("error: negative", i([-1]), f(1)), ("error: value", i([2]), f([1])),]:
        room.case("Fill", name, dims=dims, value=value)
    for name, x, times in [
            ("vector", f([1, 2]), i([3])), ("matrix", f([[1, 2], [3, 4]]), i([2, 2])), ("rows", f([[1, 2], [3, 4]]), i([2, 1])), ("columns", f([[1, 2], [3, 4]]), i([1, 3])),
            ("scalar", f(1), i([])), ("strings", s([["a", "b"]]), i([2, 1])), ("zero", f([1, 2]), i([0])), ("empty", f([], 0, 2), i([2, 2])), ("int64", l([[1], [2]]), l([1, 2])),
            ("rank=3", f(range(4), 2, 1, 2), i([1, 2, 2])), ("nan", f([NAN, INF]), i([2])), ("bool", b([1, 0]), i([2])),
            ("error: length", f([1, 2]), i([1, 1])), ("error: negative", f([1, 2]), i([-1]))]:
        room.case("Tile", name, input=x, multiples=times)
    for name, x, by in [
            ("vector", f([1, 2]), i([[1, 2]])), ("matrix", f([[1, 2], [3, 4]]), i([[1, 0], [0, 1]])), ("images", f(range(8), 1, 2, 2, 2), i([[0, 0], [1, 1], [1, 0], [0, 0]])),
            ("nothing", f([1, 2]), i([[0, 0]])), ("empty", f([], 0, 2), i([[1, 0], [0, 1]])), ("int64", l([1]), l([[2, 1]])), ("int32", i([1]), i([[2, 1]])),
            ("double", d([0.5]), i([[0, 2]])), ("nan", f([NAN, INF]), i([[1, 1]])), ("scalar", f(3), i([], 0, 2)), ("bool", b([1]), i([[1, 1]])),
            ("error: rank", f([1, 2]), i([[0, 0], [1, 1]])), ("error: negative", f([1, 2]), i([[-1, 0]])), ("error: width", f([1, 2]), i([[1, 1, 1]]))]:
        room.case("Pad", name, input=x, paddings=by)
    for name, x, depth, on, off, axis in [
            ("last", l([0, 2, 1]), i(3), f(1), f(0), -1), ("first", l([0, 2, 1]), i(3), f(1), f(0), 0), ("matrix", i([[0, 1], [2, 0]]), i(3), f(5), f(-1), -1),
            ("middle", l([[0, 1], [2, 0]]), i(3), f(1), f(0), 1), ("out of range", l([-1, 3, 7]), i(3), f(1), f(0), -1), ("scalar", l(1), i(3), l(1), l(0), -1),
            ("strings", l([1]), i(2), s("y"), s("n"), -1), ("empty", l([], 0), i(3), f(1), f(0), -1), ("depth=0", l([0, 1]), i(0), f(1), f(0), -1),
            ("nan", l([1, 0]), i(2), f(NAN), f(INF), -1), ("int32", i([1]), i(2), i(4), i(3), 0), ("bool", i([1]), i(2), b(True), b(False), 0),
            ("error: axis", l([1]), i(2), f(1), f(0), 2), ("error: on", l([1]), i(2), f([1]), f(0), -1), ("error: depth", l([1]), i(-2), f(1), f(0), -1)]:
        room.case("OneHot", name, indices=x, depth=depth, on_value=on, off_value=off, axis=axis)


def joins(room):
    for name, values, axis in [
            ("vectors", [f([1, 2]), f([3, 4])], 0), ("columns", [f([1, 2]), f([3, 4]), f([5, 6])], 1), ("negative", [f([1, 2]), f([3, 4])], -1), ("scalars", [f(1), f(2), f(3)], 0),
            ("one", [f([1, 2])], 0), ("middle", [f([[1, 2], [3, 4]]), f([[5, 6], [7, 8]])], 1), ("strings", [s(["a"]), s(["b"])], 0), ("int64", [l(1), l(2)], 0),
            ("bool", [b([1]), b([0])], 0), ("empty", [f([], 0, 2), f([], 0, 2)], 0), ("empty columns", [f([], 0), f([], 0)], 1), ("nan", [f([NAN]), f([INF])], 0),
            ("error: shapes", [f([1, 2]), f([3])], 0), ("error: axis", [f([1]), f([2])], 2), ("error: negative axis", [f([1]), f([2])], -3)]:
        room.case("Pack", name, values=values, axis=axis)
    for name, values, axis in [
            ("vectors", [f([1, 2]), f([3])], i(0)), ("rows", [f([[1, 2]]), f([[3, 4], [5, 6]])], i(0)), ("columns", [f([[1], [2]]), f([[3, 4], [5, 6]])], i(1)),
            ("negative", [f([[1], [2]]), f([[3], [4]])], i(-1)), ("middle", [f(range(4), 1, 2, 2), f(range(2), 1, 1, 2)], i(1)), ("one", [f([1]), f([], 0)], i(0)),
            ("strings", [s(["a"]), s(["b", "c"])], i(0)), ("int64", [l([1]), l([2])], l(0)), ("int32", [i([1]), i([2]), i([3])], i(0)), ("bool", [b([1]), b([0])], i(0)),
            ("empty", [f([], 0, 2), f([[1, 2]])], i(0)), ("empty columns", [f([], 2, 0), f([], 2, 0)], i(1)), ("nan", [f([NAN]), f([INF])], i(0)),
            ("error: shapes", [f([[1, 2]]), f([[1, 2, 3]])], i(0)), ("error: axis", [f([1]), f([2])], i(1)), ("error: negative axis", [f([1]), f([2])], i(-2)),
            ("error: rank", [f([1]), f([[2]])], i(0)), ("error: scalars", [f(1), f(2)], i(0))]:
        room.case("ConcatV2", name, values=values, axis=axis)


def slices(room):
    m = f(range(12), 3, 4)
    for name, x, begin, end, strides, masks in [
            ("rows", m, [0], [2], [1], {}), ("column", m, [0, 1], [0, 2], [1, 1], dict(begin_mask=1, end_mask=1, shrink_axis_mask=2)), ("index", m, [1, 2], [2, 3], [1, 1], dict(shrink_axis_mask=3)),
            ("negative index", m, [-1], [0], [1], dict(shrink_axis_mask=1)), ("steps", m, [0, 0], [3, 4], [2, 3], {}), ("backwards", m, [2, 3], [0, 0], [-1, -2], {}),
            ("backwards whole", m, [0, 0], [0, 0], [-1, -1], dict(begin_mask=3, end_mask=3)), ("beyond", m, [-9, 1], [9, 99], [1, 1], {}), ("empty range", m, [2, 0], [1, 4], [1, 1], {}),
            ("shape's first", i([5, 7]), [0], [1], [1], dict(shrink_axis_mask=1)),
            ("strings", s(["a", "b", "c"]), [1], [3], [1], {}), ("int64", l([[1, 2], [3, 4]]), [0, 0], [0, 1], [1, 1], dict(begin_mask=1, end_mask=1)), ("bool", b([1, 0, 1]), [0], [3], [2], {}),
            ("empty", f([], 0, 2), [0], [1], [1], {}), ("nan", f([NAN, INF, 1]), [0], [2], [1], {}), ("nothing named", m, [], [], [], {}), ("scalar", f(3), [], [], [], {}),
            ("negative steps in part", m, [-1, -4], [-3, 4], [-1, 1], {}),
            ("error: index", m, [3], [4], [1], dict(shrink_axis_mask=1)), ("error: negative index", m, [-4], [0], [1], dict(shrink_axis_mask=1)), ("error: stride", m, [0], [1], [0], {}),
            ("error: rank", f([1, 2]), [0, 0], [1, 1], [1, 1], {}), ("error: lengths", m, [0, 0], [1], [1, 1], {}),
            ("error: backwards index", m, [1], [0], [-1], dict(shrink_axis_mask=1))]:
        whole = lambda v: i(v, len(v)) if v else i([], 0)
        room.case("StridedSlice", name, input=x, begin=whole(begin), end=whole(end), strides=whole(strides), **masks)


def gathers(room):
    m = f(range(12), 3, 4)
    for name, params, indices, axis in [
            ("rows", m, i([2, 0, 2]), i(0)), ("columns", m, i([3, 1]), i(1)), ("negative axis", m, i([0]), i(-1)), ("one", m, i(1), i(0)), ("matrix", f([1, 2, 3]), l([[0, 1], [2, 2]]), i(0)),
            ("middle", f(range(12), 2, 3, 2), l([[2], [0]]), i(1)), ("strings", s(["a", "b", "c"]), l([2, 0]), i(0)), ("int64", l([5, 6]), l([1, 1]), l(0)), ("bool", b([1, 0]), i([1]), i(0)),
            ("empty", m, i([], 0), i(0)), ("of nothing", f([], 0, 3), i([], 0), i(0)), ("empty rows", f([], 2, 0), i([1]), i(0)), ("nan", f([NAN, INF]), i([1, 0]), i(0)),
            ("error: index", m, i([3]), i(0)), ("error: negative index", m, i([-1]), i(0)), ("error: axis", m, i([0]), i(2)), ("error: negative axis", m, i([0]), i(-3)),
            ("error: scalar", f(1), i([0]), i(0))]:
        room.case("GatherV2", name, params=params, indices=indices, axis=axis)
        if params.dtype == "float32" and name not in ("columns", "negative axis", "middle", "error: axis", "error: negative axis"):
            def build(params, indices):
                handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=None, shared_name="v")
                assign = tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant(value))
                return tf.raw_ops.ResourceGather(name="n", resource=handle, indices=indices, dtype=tf.float32), assign
            value = params
            room.graph("ResourceGather " + name, build, params, indices)
    for name, params, indices in [
            ("elements", m, i([[0, 1], [2, 3]])), ("rows", m, i([[2], [0]])), ("one", m, i([1, 1])), ("deep", f(range(8), 2, 2, 2), l([[[0, 1]], [[1, 0]]])), ("strings", s(["a", "b"]), l([[1], [0]])),
            ("int64", l([5, 6, 7]), l([[2]])), ("whole", f([1, 2]), i([], 2, 0)), ("empty", m, i([], 0, 2)), ("of nothing", f([], 0, 2), i([], 0, 1)), ("nan", f([NAN, INF]), i([[1], [0]])), ("bool", b([1, 0]), i([[1]])),
            ("error: index", m, i([[3, 0]])), ("error: negative index", m, i([[0, -1]])), ("error: depth", m, i([[0, 0, 0]])), ("error: scalar", f([1]), i(0))]:
        room.case("GatherNd", name, params=params, indices=indices)
    for name, x in [("vector", b([1, 0, 1])), ("matrix", b([[1, 0], [0, 1]])), ("rank=3", b([0, 1, 1, 0, 0, 1], 1, 3, 2)), ("scalar", b(True)), ("none", b([0, 0])), ("empty", b([], 0, 2)), ("all", b([1] * 5)),
                    ("false", b(False)), ("one", b([[1]])), ("last", b([0] * 8 + [1]))]:
        room.case("Where", name, condition=x)


def cases(room):
    shapes(room)
    fills(room)
    joins(room)
    slices(room)
    gathers(room)
