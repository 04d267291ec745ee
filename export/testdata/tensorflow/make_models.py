"""A graph of every operation that exports use, and a checkpoint of two shards.
Needs TensorFlow 2.x (made with 2.21.0, CPU).

    python make_models.py OUTDIR

Writes OUTDIR/operations/1, a SavedModel whose graph TensorFlow declares, and
OUTDIR/sharded/model.ckpt-7.{index,data-0000?-of-00002} with OUTDIR/sharded/checkpoint.
"""
import os
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
raw = tf.raw_ops


def ramp(*shape):
    """x[k] = (k - 3) / 4, k the row-major index: exact in float32."""
    return ((np.arange(int(np.prod(shape))) - 3) / 4.0).astype(np.float32).reshape(shape)


def sparse_scores(serialized, weights, size):
    """Examples with ids and values, their products summed by example."""
    parsed = raw.ParseExample(serialized=serialized, names=[], sparse_keys=["ids", "values"], dense_keys=["label"],
                              dense_defaults=[np.float32([0])], sparse_types=[tf.int64, tf.float32], dense_shapes=[[1]])
    rows = raw.StridedSlice(input=parsed.sparse_indices[0], begin=[0, 0], end=[0, 1], strides=[1, 1], begin_mask=1,
                            end_mask=1, shrink_axis_mask=2)
    values = raw.ExpandDims(input=parsed.sparse_values[1], axis=1)
    shape = raw.StridedSlice(input=raw.Cast(x=parsed.sparse_shapes[0], DstT=tf.int32), begin=[0], end=[1], strides=[1],
                             shrink_axis_mask=1)
    picked = raw.ResourceGather(resource=weights.handle, indices=parsed.sparse_values[0], dtype=tf.float32)
    sums = raw.UnsortedSegmentSum(data=raw.Mul(x=picked, y=values), segment_ids=rows, num_segments=shape)
    norm = raw.Sqrt(x=raw.Sum(input=raw.Square(x=values), axis=[1], keep_dims=True))
    return raw.DivNoNan(x=sums, y=norm)


def image_layers():
    """The operations of convolutional models, on no particular data."""
    image = v1.placeholder(tf.float32, [None, 4, 4, 2], name="image")
    y = raw.Conv2D(input=image, filter=ramp(2, 2, 2, 3), strides=[1, 1, 1, 1], padding="SAME")
    y = raw.MaxPool(input=raw.LeakyRelu(features=y, alpha=0.1), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    y = raw.AvgPool(value=raw.Tanh(x=y), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
    centered = raw.Sub(x=y, y=raw.Mean(input=y, axis=[3], keep_dims=True))
    scale = raw.Rsqrt(x=raw.AddV2(x=raw.Square(x=centered), y=0.001))
    flat = raw.Reshape(tensor=raw.Erf(x=raw.Mul(x=centered, y=scale)), shape=[-1, 12])
    return raw.Shape(input=flat)


def columns():
    """The operations that raw records go through, on no particular data."""
    number = v1.placeholder(tf.float32, [None], name="number")
    text = v1.placeholder(tf.string, [None], name="text")
    listed = v1.placeholder(tf.int64, [None], name="listed")
    missing = raw.IsNan(x=number)
    known = raw.SelectV2(condition=missing, t=0.0, e=number)
    scaled = raw.Mul(x=raw.Sign(x=known), y=raw.Log1p(x=raw.Abs(x=known)))
    bucket = raw.Bucketize(input=known, boundaries=[0.0, 1.0])
    there = raw.LogicalOr(x=raw.LogicalNot(x=missing), y=raw.NotEqual(x=text, y=""))
    hashed = raw.StringToHashBucketFast(input=raw.StringJoin(inputs=[text, text], separator="-"), num_buckets=10)
    table = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64, shared_name="texts")
    raw.LookupTableImportV2(table_handle=table, keys=["a"], values=np.array([0], np.int64))
    found = raw.LookupTableFindV2(table_handle=table, keys=text, default_value=np.int64(1))
    taken = raw.GatherNd(params=raw.Pack(values=[hashed, found], axis=1), indices=raw.Where(condition=raw.Pack(values=[there, there], axis=1)))
    inside = raw.LogicalAnd(x=raw.Less(x=listed, y=np.int64(9)), y=raw.GreaterEqual(x=listed, y=np.int64(0)))
    parsed = raw.StringToNumber(string_tensor=text, out_type=tf.float64)
    same = raw.All(input=raw.Equal(x=listed, y=np.int64(1)), axis=[0])
    raw.Assert(condition=same, data=["said"])
    return scaled, bucket, taken, inside, raw.ZerosLike(x=listed), parsed


def texts():
    """The operations that lists of texts and words go through, on no particular data."""
    text = raw.UnicodeTranscode(input=v1.placeholder(tf.string, [None], name="words"), input_encoding="UTF-8", output_encoding="UTF-8",
                                errors="replace", replacement_char=32)
    text = raw.StringLower(input=raw.RegexReplace(input=text, pattern="[^a-z]+", rewrite=" "), encoding="utf-8")
    split = raw.StringSplitV2(input=raw.StringStrip(input=text), sep="|")
    ends = raw.Cumsum(x=split.shape, axis=0)
    grams = raw.StringNGrams(data=split.values, data_splits=ends, separator=" ", ngram_widths=[1, 2], left_pad="", right_pad="", pad_width=0,
                             preserve_short_sequences=False)
    return raw.RaggedTensorToSparse(rt_nested_splits=[grams.ngrams_splits], rt_dense_values=grams.ngrams)


def cells():
    """The operations of numbers and dates that are texts, on no particular data."""
    text = raw.StringStrip(input=v1.placeholder(tf.string, [None], name="cell"))
    year = raw.StringToNumber(string_tensor=raw.RegexReplace(input=text, pattern="-.*", rewrite=""), out_type=tf.int64)
    raw.FloorMod(x=raw.FloorDiv(x=year, y=np.int64(4)), y=np.int64(7))
    raw.LessEqual(x=year, y=np.int64(9999))
    raw.Floor(x=raw.Cast(x=year, DstT=tf.float64))
    return raw.StaticRegexFullMatch(input=text, pattern="NA")


def label():
    y = v1.placeholder(tf.float64, [None, 1])
    raw.Mul(x=raw.Sign(x=y), y=raw.Expm1(x=raw.Abs(x=y)))


def operations(out):
    shutil.rmtree(out, ignore_errors=True)
    with tf.Graph().as_default(), v1.Session() as sess:
        kernel = v1.get_variable("kernel", initializer=ramp(2, 3), use_resource=True)
        bias = v1.get_variable("bias", initializer=ramp(3), use_resource=True)
        weights = v1.get_variable("weights", initializer=ramp(5, 1), use_resource=True)
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        k = v1.placeholder_with_default(np.int32(2), [], name="k")
        hidden = raw.Relu(features=raw.BiasAdd(value=raw.MatMul(a=x, b=kernel), bias=bias))
        scores = raw.Softmax(logits=hidden)
        top = raw.TopKV2(input=scores, k=k)
        names = raw.GatherV2(params=["a", "b", "c"], indices=top.indices, axis=0)
        serialized = v1.placeholder(tf.string, [None], name="tf_example")
        margin = sparse_scores(serialized, weights, 5)
        positive = raw.Sigmoid(x=margin)
        both = raw.ConcatV2(values=[raw.Sub(x=raw.Fill(dims=raw.Cast(x=tf.shape(positive), DstT=tf.int32), value=1.0), y=positive), positive], axis=1)
        pair = raw.Tile(input=raw.Pack(values=["no", "yes"]), multiples=[2])
        image_layers()
        columns()
        texts()
        cells()
        label()
        v1.global_variables_initializer().run()
        info = v1.saved_model.build_tensor_info
        sign = v1.saved_model.build_signature_def
        builder = v1.saved_model.Builder(out)
        builder.add_meta_graph_and_variables(sess, ["serve"], strip_default_attrs=True, saver=v1.train.Saver(), signature_def_map={
            "serving_default": sign({"x": info(x), "k": info(k)}, {"scores": info(top.values), "classes": info(names)}, "tensorflow/serving/predict"),
            "examples": sign({"inputs": info(serialized)}, {"scores": info(both), "names": info(pair)}, "tensorflow/serving/predict"),
        })
        builder.save()


def sharded(out):
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    with tf.Graph().as_default(), v1.Session(config=v1.ConfigProto(device_count={"CPU": 2})) as sess:
        for device, name, shape in (("/cpu:0", "b", (2, 3)), ("/cpu:1", "a", (4,)), ("/cpu:0", "c", (1,))):
            with tf.device(device):
                v1.get_variable(name, initializer=ramp(*shape), use_resource=True)
        v1.global_variables_initializer().run()
        v1.train.Saver(sharded=True, save_relative_paths=True).save(sess, os.path.join(out, "model.ckpt"), global_step=7, write_meta_graph=False)


if __name__ == "__main__":
    o = sys.argv[1] if len(sys.argv) > 1 else "."
    operations(os.path.join(o, "operations", "1"))
    sharded(os.path.join(o, "sharded"))
