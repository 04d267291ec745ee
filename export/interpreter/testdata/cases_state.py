"""Cases of variables and of the operations that hand values on."""
import tensorflow as tf

from make_ops import b, d, f, i, l, s

raw = tf.raw_ops

VALUES = [
    ("float", f([1, 2, 3])), ("scalar", f(4)), ("matrix", f([[1, 2], [3, 4]])), ("double", d([0.1, 0.2])), ("int32", i([1, -2])),
    ("int64", l([[5], [6]])), ("strings", s(["a", ""])), ("bool", b([1, 0])), ("empty", f([], 0, 2)), ("nan", f([float("nan"), float("inf")])),
]


def resource(x, value):
    handle = raw.VarHandleOp(dtype=x.dtype, shape=None, shared_name="v")
    assign = raw.AssignVariableOp(resource=handle, value=value)
    read = raw.ReadVariableOp(resource=handle, dtype=x.dtype)
    return [raw.Identity(input=read), *raw.IdentityN(input=[x, read]), raw.StopGradient(input=x), raw.PlaceholderWithDefault(input=read, shape=None)], assign


def reference(x, value):
    variable = raw.VariableV2(shape=value.shape, dtype=x.dtype, shared_name="v")
    assign = raw.Assign(ref=variable, value=value, validate_shape=False)
    return [raw.Identity(input=variable), raw.Identity(input=x)], assign.op


def added(x, value):
    """The variable keeps what a run has added, so a case reads only what it assigns itself."""
    variable = raw.VariableV2(shape=value.shape, dtype=x.dtype, shared_name="v")
    with tf.control_dependencies([raw.Assign(ref=variable, value=x, validate_shape=False)]):
        return [raw.AssignAdd(ref=variable, value=tf.constant(value))]


def asserted(condition, x):
    with tf.control_dependencies([raw.Assert(condition=condition, data=[x])]):
        return [raw.Identity(input=x)]


def cases(room):
    for name, value in VALUES:
        const = lambda: tf.constant(value, tf.string if value.dtype == object else None)
        room.graph("resource variable " + name, lambda x: resource(x, const()), value[::-1] if value.ndim else value)
        room.graph("reference variable " + name, lambda x: reference(x, const()), value[::-1] if value.ndim else value)
        room.graph("Assert " + name, asserted, b(True), value)
        room.graph("Assert fails " + name, asserted, b(False), value)
        if value.dtype not in (object, bool):
            room.graph("AssignAdd " + name, lambda x: added(x, value), value)
    room.graph("AssignAdd one by one", lambda x: added(x, f([1, 1])), f([5, 6]))
    room.graph("AssignAdd small", lambda x: added(x, f(1e-3)), f(2))
