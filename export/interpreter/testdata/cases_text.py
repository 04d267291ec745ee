"""Cases of the operations on texts, patterns, tables and tf.Examples."""
import os
import random
import struct
import tempfile

import numpy as np
import tensorflow as tf

from make_ops import b, d, f, i, l, s

raw = tf.raw_ops


def texts(*values):
    """Texts in UTF-8, or bytes."""
    return s([v if isinstance(v, bytes) else v.encode() for v in values], len(values))


# The wire format of tf.Examples, in all the ways that a peer may write it.

def varint(v):
    v &= (1 << 64) - 1
    out = b""
    while v >= 128:
        out, v = out + bytes([v & 127 | 128]), v >> 7
    return out + bytes([v])


def field(number, body, size=None):
    return varint(number << 3 | 2) + varint(len(body) if size is None else size) + body


def floats(*values, loose=False):
    if loose:
        return field(2, b"".join(b"\x0d" + struct.pack("<f", v) for v in values))
    return field(2, field(1, struct.pack("<%df" % len(values), *values)) if values else b"")


def ints(*values, loose=False):
    if loose:
        return field(3, b"".join(b"\x08" + varint(v) for v in values))
    return field(3, field(1, b"".join(map(varint, values))) if values else b"")


def words(*values):
    return field(1, b"".join(field(1, v) for v in values))


def entry(key, feature):
    return field(1, field(1, key) + field(2, feature))


def example(*entries):
    return field(1, b"".join(entries))


def malformed():
    """Examples that a parser of protobuf may take or refuse, by name, of a feature x."""
    one = floats(1)
    yield "no features", field(1, b"")
    yield "nothing", b""
    yield "unknown varint", b"\x10\x05" + example(entry(b"x", one))
    yield "unknown fixed64", b"\x11" + bytes(8) + example(entry(b"x", one))
    yield "unknown fixed32", b"\x15" + bytes(4) + example(entry(b"x", one))
    yield "unknown fixed32 cut", example(entry(b"x", one)) + b"\x15" + bytes(3)
    yield "unknown bytes", example(entry(b"x", one)) + field(7, b"abc")
    yield "unknown bytes cut", example(entry(b"x", one)) + field(7, b"abc", 9)
    yield "unknown bytes of a negative length", field(7, example(entry(b"x", one)), 0xffffffff)
    yield "field 0", b"\x00\x05" + example(entry(b"x", one))
    yield "group", b"\x13\x14" + example(entry(b"x", one))
    yield "end of group", example(entry(b"x", one)) + b"\x14"
    yield "wire type 6", b"\x16" + example(entry(b"x", one))
    yield "features of another wire type", b"\x08\x05" + example(entry(b"x", one))
    yield "features twice", example(entry(b"x", floats(5))) + example(entry(b"x", one))
    yield "features cut", field(1, entry(b"x", one), 99)
    yield "features longer", field(1, entry(b"x", one) + b"\x00")
    yield "long length", b"\x0a" + bytes([len(entry(b"x", one)) | 128, 0]) + entry(b"x", one)
    yield "length of 11 bytes", b"\x0a" + b"\x80" * 10 + b"\x00"
    yield "length of 10 bytes", b"\x0a" + bytes([len(entry(b"x", one)) | 128]) + b"\x80" * 8 + b"\x7f" + entry(b"x", one)
    yield "long tag", b"\x8a\x00" + field(1, entry(b"x", one))[1:]
    yield "long tag of an entry", field(1, b"\x8a\x00" + entry(b"x", one)[1:])
    yield "long tag of a key", example(field(1, b"\x8a\x00\x01x" + field(2, one)))
    yield "entry of another field", example(field(2, field(1, b"x") + field(2, one)))
    yield "value before key", example(field(1, field(2, one) + field(1, b"x")))
    yield "no key", example(field(1, field(2, one)))
    yield "no value", example(field(1, field(1, b"x")))
    yield "two keys", example(field(1, field(1, b"y") + field(1, b"x")))
    yield "two values", example(field(1, field(2, one) + field(2, one)))
    yield "third field", example(field(1, field(1, b"x") + field(2, one) + b"\x18\x01"))
    yield "entry cut", field(1, field(1, field(1, b"x") + field(2, one), 99))
    yield "key cut", example(field(1, field(1, b"x", 99)))
    yield "value cut", example(field(1, field(1, b"x") + field(2, one, 99)))
    yield "empty entry", example(field(1, b""))
    yield "empty feature", example(entry(b"x", b""))
    yield "value and then empty feature", example(entry(b"x", one), entry(b"x", b""))
    yield "empty feature and then value", example(entry(b"x", b""), entry(b"x", one))
    yield "empty list", example(entry(b"x", floats()))
    yield "empty run", example(entry(b"x", field(2, field(1, b""))))
    yield "last of two", example(entry(b"x", floats(7)), entry(b"x", one))
    yield "first of another type", example(entry(b"x", ints(7)), entry(b"x", one))
    yield "last of another type", example(entry(b"x", one), entry(b"x", ints(7)))
    yield "another type", example(entry(b"x", words(b"1")))
    yield "loose", example(entry(b"x", floats(1, loose=True)))
    yield "two runs", example(entry(b"x", field(2, field(1, struct.pack("<f", 1)) + field(1, struct.pack("<f", 2)))))
    yield "run then loose", example(entry(b"x", field(2, field(1, struct.pack("<f", 1)) + b"\x0d" + bytes(4))))
    yield "loose then run", example(entry(b"x", field(2, b"\x0d" + struct.pack("<f", 1) + field(1, bytes(4)))))
    yield "loose cut", example(entry(b"x", field(2, b"\x0d" + bytes(3))))
    yield "run of 3 bytes", example(entry(b"x", field(2, field(1, bytes(3)))))
    yield "run of 6 bytes", example(entry(b"x", field(2, field(1, struct.pack("<f", 1) + bytes(2)))))
    yield "run of 7 bytes, of which 5 are there", example(entry(b"x", field(2, field(1, struct.pack("<f", 1) + bytes(1), 7))))
    yield "run of 9 bytes, of which 4 are there", example(entry(b"x", field(2, field(1, struct.pack("<f", 1), 9))))
    yield "list cut", example(entry(b"x", field(2, field(1, struct.pack("<f", 1)), 99)))
    yield "list of another tag", example(entry(b"x", field(2, b"\x12\x04" + bytes(4))))
    yield "two lists", example(entry(b"x", one + ints(1)))
    yield "list, then bytes", example(entry(b"x", one + b"\xff\xff"))
    yield "fourth list", example(entry(b"x", field(4, b"")))
    yield "unknown list before another", example(entry(b"x", field(4, b"")), entry(b"x", one))
    yield "list without length", example(entry(b"x", b"\x12"))
    yield "list of a bad length", example(entry(b"x", b"\x12" + b"\xff" * 11))
    yield "unknown list of another key", example(entry(b"y", b"\xff"), entry(b"x", one))
    yield "cut in the key of another", example(entry(b"x", one), b"\x0a\x05\x0a\x09y")
    yield "more values", example(entry(b"x", floats(1, 2)))
    yield "denormal", example(entry(b"x", floats(1e-40)))
    yield "nan", example(entry(b"x", floats(float("nan"))))
    yield "key that is not asked for", example(entry(b"", one), entry(b"xx", one))


def parse(room, name, examples, sparse=(), dense=(), ragged=(), names=(), scalar=False, versions="12s", split=tf.int64):
    """A case for each version that can have it. sparse and ragged have (key, type), dense (key, default, shape)."""
    keys = lambda kinds: texts(*[k[0] for k in kinds])
    if "1" in versions and not ragged and not scalar:
        room.case("ParseExample", name, serialized=texts(*examples), names=texts(*names), sparse_keys=[texts(k[0]).reshape(()) for k in sparse],
                  dense_keys=[texts(k[0]).reshape(()) for k in dense], dense_defaults=[k[1] for k in dense], sparse_types=[k[1] for k in sparse],
                  dense_shapes=[k[2] for k in dense])
    if "2" in versions:
        serialized = texts(*examples)
        room.case("ParseExampleV2", name, serialized=serialized.reshape(()) if scalar else serialized, names=texts(*names), sparse_keys=keys(sparse), dense_keys=keys(dense),
                  ragged_keys=keys(ragged), dense_defaults=[k[1] for k in dense], num_sparse=len(sparse), sparse_types=[k[1] for k in sparse],
                  ragged_value_types=[k[1] for k in ragged], ragged_split_types=[split for _ in ragged], dense_shapes=[k[2] for k in dense])
    if "s" in versions and not ragged and len(examples) == 1:
        room.case("ParseSingleExample", name, serialized=texts(*examples).reshape(()), dense_defaults=[k[1] for k in dense], num_sparse=len(sparse),
                  sparse_keys=[k[0] for k in sparse], dense_keys=[k[0] for k in dense], sparse_types=[k[1] for k in sparse], dense_shapes=[k[2] for k in dense])


FLOAT, INT, TEXT = tf.float32, tf.int64, tf.string


def examples_cases(room):
    fixed, required, varied = [("x", f(9), [])], [("x", f([]), [])], [("x", f(9), [None])]
    for k, (name, e) in enumerate(malformed()):
        parse(room, name, [e], dense=fixed, versions="12s"[k % 3])
        parse(room, name + ", list", [e], sparse=[("x", FLOAT)], versions="12s"[(k + 1) % 3])
    full = example(entry(b"x", floats(1.5)), entry(b"n", ints(3, -4)), entry(b"t", words(b"a", b"")))
    other = example(entry(b"t", words(b"\xff")), entry(b"n", ints(2**63 - 1, -2**63, 0, 1, loose=True)), entry(b"z", floats()))
    rows = [full, b"", other]
    parse(room, "three types", rows[:1], dense=[("x", f(9), []), ("n", l([7, 8]), [2]), ("t", s(["", "d"]), [2])])
    parse(room, "defaults", [b"", example(entry(b"x", floats(2)))], dense=[("x", f(9), []), ("n", l([7, 8]), [2]), ("t", s([["", "d"]]), [1, 2])])
    parse(room, "required and missing", [b""], dense=required)
    parse(room, "required", rows[:1], dense=required)
    parse(room, "required and empty feature", [example(entry(b"x", b""))], dense=required)
    parse(room, "lists", rows, sparse=[("x", FLOAT), ("n", INT), ("t", TEXT)])
    parse(room, "lists of one", rows[:1], sparse=[("x", FLOAT), ("n", INT), ("t", TEXT)])
    parse(room, "lists and fixed", rows[:1], sparse=[("n", INT)], dense=fixed)
    parse(room, "varied", rows, dense=[("n", l(-1), [None]), ("t", s("pad"), [None]), ("x", f([9]), [None])])
    parse(room, "varied by two", [full, b"", example(entry(b"n", ints(1, 2, 3, 4)))], dense=[("n", l(-1), [None, 2])])
    parse(room, "varied by two, one", [full], dense=[("n", l(-1), [None, 2])])
    parse(room, "varied, no multiple", [example(entry(b"n", ints(1, 2, 3)))], dense=[("n", l(-1), [None, 2])])
    parse(room, "varied, all missing", [b"", b""], dense=varied)
    parse(room, "varied, missing", [b""], dense=varied)
    parse(room, "ragged", rows, ragged=[("x", FLOAT), ("n", INT), ("t", TEXT)])
    parse(room, "ragged, small splits", rows, ragged=[("n", INT)], split=tf.int32)
    parse(room, "all kinds", rows, sparse=[("t", TEXT)], dense=varied, ragged=[("n", INT)])
    parse(room, "no example", [], sparse=[("t", TEXT)], dense=fixed + [("n", l(0), [None])])
    parse(room, "no example, ragged", [], ragged=[("n", INT)])
    for ragged in [], [("n", INT)]:
        parse(room, "scalar" + " ragged" * len(ragged), [full], sparse=[("t", TEXT)], dense=fixed + [("m", l(0), [None])], ragged=ragged, scalar=True, versions="2")
    parse(room, "scalar, missing", [b""], sparse=[("t", TEXT)], dense=fixed + [("n", l(0), [None, 3])], ragged=[("r", FLOAT)], scalar=True, versions="2")
    parse(room, "key twice", rows[:1], dense=fixed + [("n", l([7, 8]), [2])] + fixed)
    parse(room, "key twice, required", rows[:1], dense=required * 2)
    parse(room, "key as two kinds", rows[:1], sparse=[("x", FLOAT)], dense=fixed)
    parse(room, "names", rows[:1], dense=fixed, names=["a"], versions="12")
    parse(room, "nothing asked", rows, versions="2")
    parse(room, "empty shape", [example(entry(b"x", floats()))], dense=[("x", f([], 0), [0])])
    parse(room, "matrix", [example(entry(b"x", floats(*range(6)))), b""], dense=[("x", f([[9] * 3] * 2), [2, 3])], versions="12")
    parse(room, "loose matrix", [example(entry(b"x", floats(*range(6), loose=True)))], dense=[("x", f([[9] * 3] * 2), [2, 3])])
    parse(room, "fewer values", [example(entry(b"x", floats(1)))], dense=[("x", f([9, 9]), [2])])
    parse(room, "second fails", [full, example(entry(b"x", ints(1)))], dense=fixed)
    for name, e in (("cut varint", field(3, field(1, b"\x80"))), ("varint of 11 bytes", field(3, field(1, b"\xff" * 10 + b"\x01"))),
                    ("run cut", field(3, field(1, b"\x01\x02", 9))), ("two runs", field(3, field(1, b"\x01") + field(1, b"\x02"))),
                    ("loose and run", field(3, b"\x08\x01" + field(1, b"\x02"))), ("run and loose", field(3, field(1, b"\x01") + b"\x08\x02")),
                    ("another tag", field(3, b"\x10\x01")), ("long varint", field(3, field(1, b"\x81\x80\x00")))):
        parse(room, "integers, " + name, [example(entry(b"n", e))], sparse=[("n", INT)])
    for name, e in (("cut text", field(1, field(1, b"a", 2))), ("another tag", field(1, b"\x12\x01a")), ("list cut", field(1, field(1, b"a"), 9)), ("one more", words(b"a", b"b"))):
        parse(room, "texts, " + name, [example(entry(b"t", e))], sparse=[("t", TEXT)])
        parse(room, "fixed texts, " + name, [example(entry(b"t", e))], dense=[("t", s(""), [])])


TEXTS = texts("", " ", "a", "NA", " a b ", "ÄÖ ΑΣ", "Straße", b"\xff", b"a\xe4\xb8", b"\xf0\x9f\x98x", "\t\r\n\v\f x", "\u00a0x", "x\x00", "I\u0130", "a,b,,c", "\ufffd")


def words_cases(room):
    for name, x in (("texts", TEXTS), ("matrix", texts("A", "b", "C", "d").reshape(2, 2)), ("empty", texts()), ("scalar", texts("Ab").reshape(()))):
        room.case("StringStrip", name, input=x)
        room.case("StringStrip", name + " between blanks", input=s([b"\v " + v + b"\r\n " for v in x.ravel()], *x.shape))
        room.case("StringStrip", name + " before NUL", input=s([b" " + v + b" \0 " for v in x.ravel()], *x.shape))
        room.case("StringLower", name, input=x, encoding="")
        room.case("StringLower", name + " utf-8", input=x, encoding="utf-8")
        room.case("UnicodeTranscode", name, input=x, input_encoding="UTF-8", output_encoding="UTF-8", errors="replace", replacement_char=32)
        room.case("UnicodeTranscode", name + " U+FFFD", input=x, input_encoding="UTF-8", output_encoding="UTF-8", errors="replace", replacement_char=0xfffd)
        room.case("StringToHashBucketFast", name, input=x, num_buckets=1000003)
        room.case("StringToHashBucketFast", name + ", one bucket", input=x, num_buckets=1)
        room.case("StringToNumber", "error " + name, string_tensor=x, out_type=tf.float64)
        for pattern in () if name == "matrix" else ("", "|a|NA", r"a\.b|\||", "a.*|", "[^a]*", "(?i)na", "(?:a|b)?", "^a$", ".", "a|ab"):
            room.case("StaticRegexFullMatch", name + " " + pattern, input=x, pattern=pattern)
        for pattern, by in () if name in ("matrix", "scalar") else (("a", "b"), ("[ab]", ""), (r"[^\pL\p{Nd}]+", " "), ("a*", "-"), ("(a)|(N)", r"[\2\1\0]"), ("", "!"), (".", r"$\\"), (r"\s", "$1"), ("^.|.$", "x"), (r"\bb", "_")):
            room.case("StaticRegexReplace", name + " " + pattern, input=x, pattern=pattern, rewrite=by)
            room.case("RegexReplace", name + " " + pattern, input=x, pattern=texts(pattern).reshape(()), rewrite=texts(by).reshape(()))
    room.case("RegexReplace", "error of the pattern", input=TEXTS, pattern=texts("(").reshape(()), rewrite=texts("").reshape(()))
    room.case("RegexReplace", "error of vectors", input=TEXTS, pattern=texts("a", "b"), rewrite=texts("").reshape(()))
    room.case("StringLower", "letters", input=texts("".join(c for c in map(chr, range(0x530)) if c.lower() != c), "ΣΑΣ ΑΣ. Σ ΑΣΒ"), encoding="utf-8")
    broken = [bytes(random.Random(k).choices(b"a\x7f\x80\xbf\xc2\xe0\xa0\xed\x9f\xf0\x90\xf4\x8f", k=6)) for k in range(40)]
    for replacement in (32, 0xfffd):
        room.case("UnicodeTranscode", "broken %d" % replacement, input=texts(*broken), input_encoding="UTF-8", output_encoding="UTF-8", errors="replace", replacement_char=replacement)
    room.case("StringLower", "broken", input=texts(*broken), encoding="utf-8")
    for n in range(0, 90, 11):
        room.case("StringToHashBucketFast", "of %d bytes" % n, input=texts("x" * n, bytes(range(n)), "é" * n), num_buckets=2**62)
    whole = ["1", "+1", "-1", " 1 ", "\t7\n", "00012", "9223372036854775807", "-9223372036854775808"]
    real = ["1e5", "1e400", "-1e400", "1e-400", "inf", "-Infinity", "NaN", "-nan", "+nan", "0x1A", "-0X1a.8", "0x1p3", "1.", ".5", "0.1", "2147483648.5", "0" * 40 + "1"]
    room.case("StringToNumber", "of doubles", string_tensor=texts(*whole, *real), out_type=tf.float64)
    room.case("StringToNumber", "of integers", string_tensor=texts(*whole), out_type=tf.int64)
    for x in ("--1", "+-1", "0x", "0x1_0", "1_000", ".", "1e", "1 2", "", "1\x00", "1,5", "\u00a01", "x", "infin"):
        room.case("StringToNumber", "error %r" % x, string_tensor=texts(x), out_type=tf.float64)
    for x in ("1.0", "1e5", "9223372036854775808", "0x1A", "inf", "", "+", "1_0", "- 1"):
        room.case("StringToNumber", "error of integers %r" % x, string_tensor=texts(x), out_type=tf.int64)
    for t in (tf.float64, tf.int64):
        room.case("StringToNumber", "matrix " + t.name, string_tensor=texts("1", "2", "3", "4").reshape(2, 2), out_type=t)
        room.case("StringToNumber", "empty " + t.name, string_tensor=texts(), out_type=t)
    scalar = texts("s").reshape(())
    for name, inputs in (("one", [texts("a", "b")]), ("scalar", [texts("a", "b"), scalar]), ("scalar first", [scalar, texts("a", "b")]), ("scalars", [scalar, scalar, scalar]), ("empty", [texts(), scalar]),
                         ("error of shapes", [texts("a"), texts("b", "c")]), ("error of ranks", [texts("a"), texts("b").reshape(1, 1)]), ("matrices", [texts("a", "b").reshape(2, 1)] * 2)):
        for separator in ("", "\x1f-"):
            room.case("StringJoin", name + " " + repr(separator), inputs=inputs, separator=separator)
    for separator in ("", " ", ",", "ab", "  "):
        room.case("StringSplitV2", "by " + repr(separator), input=texts("a b  c", " a ", "", "a,b, c,", "aabab", "\ta\nb\v", ",", ", ", "  x  y  ", "\u00a0a\u2003b", b"\xff \xff"), sep=texts(separator).reshape(()))
        room.case("StringSplitV2", "nothing by " + repr(separator), input=texts(), sep=texts(separator).reshape(()))
    room.case("StringSplitV2", "error of rank", input=texts("a").reshape(1, 1), sep=texts("").reshape(()))
    room.case("StringSplitV2", "error of separators", input=texts("a"), sep=texts("a", "b"))


def rows_cases(room):
    for data, splits in (("abcd", [0, 1, 1, 4]), ("", [0, 0]), ("a", [0, 1]), ("", [0]), ("ab", [0, 1]), ("ab", [0, 3]), ("ab", [1, 2]), ("ab", [0, 2, 1, 2]), ("ab", [0, -1, 2])):
        for widths in ([1], [1, 2], [3, 2]):
            room.case("StringNGrams", "%s %s %s" % (data, splits, widths), data=texts(*data), data_splits=l(splits), separator=" ", ngram_widths=widths, left_pad="", right_pad="",
                      pad_width=0, preserve_short_sequences=False)
        room.case("StringNGrams", "%s %s of int32" % (data, splits), data=texts(*data), data_splits=i(splits), separator="", ngram_widths=[2], left_pad="", right_pad="",
                  pad_width=0, preserve_short_sequences=False)
        room.case("RaggedTensorToSparse", "%s %s" % (data, splits), rt_nested_splits=[l(splits)], rt_dense_values=texts(*data))
        room.case("RaggedTensorToSparse", "%s %s of int32" % (data, splits), rt_nested_splits=[i(splits)], rt_dense_values=texts(*data))
    room.case("RaggedTensorToSparse", "error of no splits", rt_nested_splits=[l([])], rt_dense_values=texts())
    for shape in ([-1, -1], [2, 2], [4, 4], [-1, 1], [3, -1], [-1], [-1, -1, -1]):
        for height, rows in ((3, [0, 0, 2, 2]), (3, []), (0, []), (3, [0, 3])):
            room.case("RaggedTensorToTensor", "%s %d %s" % (shape, height, rows), shape=l(shape), values=l(range(1, len(rows) + 1)), default_value=l(9),
                      row_partition_tensors=[l(height), l(rows)], row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"])


def table(mutable, name):
    make = raw.MutableHashTableV2 if mutable else raw.HashTableV2
    return make(key_dtype=tf.string, value_dtype=tf.int64, shared_name=name)


def tables_cases(room):
    def found(mutable, fill, keys, default=-1, value=None):
        t = table(mutable, "t")
        done = fill(t)
        return ([raw.LookupTableFindV2(table_handle=t, keys=keys, default_value=tf.constant(default, tf.int64) if value is None else value)], done)

    def of(keys, values):
        return lambda t: raw.LookupTableImportV2(table_handle=t, keys=tf.constant(keys, tf.string), values=tf.constant(values, tf.int64))

    queries = texts("a", "b", "", "c", b"\xff", "a")
    for mutable in False, True:
        kind = "mutable " if mutable else ""
        for name, fill in (("of three", of(["a", "", b"\xff"], [5, 6, 7])), ("empty", of([], [])), ("same twice", of(["a", "a"], [5, 5])),
                           ("two values", of(["a", "a"], [5, 6])), ("error of lengths", of(["a", "b"], [5]))):
            for shape in ((6,), (2, 3)):
                room.graph(name + ", %stable %s" % (kind, shape), lambda keys: found(mutable, fill, keys), queries.reshape(shape))
        room.graph(kind + "table, nothing asked", lambda keys: found(mutable, of(["a"], [1]), keys), texts())
        room.graph("error of the default, %stable" % kind, lambda keys: found(mutable, of(["a"], [1]), keys, [1, 2]), queries)
        room.graph(kind + "table, not filled", lambda keys: found(mutable, lambda t: t.op, keys), queries)


def cases(room):
    examples_cases(room)
    words_cases(room)
    rows_cases(room)
    tables_cases(room)
