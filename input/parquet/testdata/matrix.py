"""Writes Parquet files of all types by pyarrow into a folder, and the texts of their cells as pandas writes them into CSV."""
import datetime, decimal, io, itertools, json, random, sys, uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 700
random.seed(35)


def ints(bits, signed=True):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda i: [low, high, 0, 1, i % 100][i % 5] if i % 7 else random.randint(low, high)


def floats(dtype, largest):
    special = [0.0, -0.0, 1.0, 0.1, 1e-5, min(1e16, largest), min(123456.0, largest), largest, float("inf"), float("nan"), 1 / 3]
    return lambda i: dtype(special[i % 11] if i % 3 else random.gauss(0, 1000))


def texts(i):
    return ["", "a", "Zürich", "a|b", 'x "y"', "line\nend", "prefix-%d" % i, "prefix-%d-more" % i][i % 8]


def decimals(precision, scale):
    def value(i):
        digits = random.randrange(10 ** (1 + i % precision))
        return decimal.Decimal((i % 2 if digits else 0, tuple(int(d) for d in str(digits)), -scale))
    return value


def stamps(unit, tz=None):
    per = {"s": 1, "ms": 10 ** 3, "us": 10 ** 6, "ns": 10 ** 9}[unit]
    return lambda i: random.randrange(-2 * 10 ** 9, 4 * 10 ** 9) * per + (0 if i % 3 else random.randrange(per))


def stamp_text(unit, tz=None):
    per = {"s": 1, "ms": 10 ** 3, "us": 10 ** 6, "ns": 10 ** 9}[unit]

    def text(v):
        t = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=v // per)
        return t.strftime("%Y-%m-%d %H:%M:%S") + fraction(v % per * (10 ** 9 // per)) + ("+00:00" if tz else "")
    return text


def fraction(ns):
    for digits, step in ((0, 10 ** 9), (3, 10 ** 6), (6, 10 ** 3), (9, 1)):
        if ns % step == 0:
            return "." + ("%09d" % ns)[:digits] if digits else ""


def times(per):
    return lambda i: random.randrange(86400) * per + (0 if i % 3 else random.randrange(per))


def time_text(per):
    def text(v):
        s = v // per
        return "%02d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60) + fraction(v % per * (10 ** 9 // per))
    return text


def number_text(dtype):
    return lambda v: "" if np.isnan(v) else str(dtype(v))


def raw(v):
    return v.decode("latin-1") if isinstance(v, bytes) else v


DELTA, LENGTH, BYTES, SPLIT = "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"
days = lambda i: random.randrange(-700000, 2900000) if i % 2 else i
bits = lambda n: lambda i: bytes(random.randrange(256) for _ in range(n))
blobs = lambda i: bytes(random.randrange(256) for _ in range(i % 9))
# name: type, value of a row, text of a value, encodings beside PLAIN and the dictionary
TYPES = {
    "bool": (pa.bool_(), lambda i: i % 3 == 0 or random.random() < 0.3, lambda v: str(v).lower(), ["RLE"]),
    **{"int%d" % n: (pa.int64() if n == 64 else getattr(pa, "int%d" % n)(), ints(n), str, [DELTA, SPLIT]) for n in (8, 16, 32, 64)},
    **{"uint%d" % n: (getattr(pa, "uint%d" % n)(), ints(n, False), str, [DELTA, SPLIT]) for n in (8, 16, 32, 64)},
    "float16": (pa.float16(), floats(np.float16, 65504.0), lambda v: "" if np.isnan(v) else repr(float(str(np.float16(v)))), [SPLIT]),
    "float32": (pa.float32(), floats(np.float32, 3.4028235e38), number_text(np.float32), [SPLIT]),
    "float64": (pa.float64(), floats(np.float64, 1.7976931348623157e308), number_text(np.float64), [SPLIT]),
    "string": (pa.string(), texts, str, [LENGTH, BYTES]),
    "large_string": (pa.large_string(), texts, str, [LENGTH, BYTES]),
    "category": (pa.dictionary(pa.int32(), pa.string()), lambda i: "abc"[i % 3], str, []),
    "json": (pa.string(), lambda i: json.dumps({"i": i}), str, [BYTES]),
    "binary": (pa.binary(), blobs, raw, [LENGTH, BYTES]),
    "fixed": (pa.binary(5), bits(5), raw, [BYTES, SPLIT]),
    "uuid": (pa.uuid(), lambda i: uuid.UUID(int=random.getrandbits(128)), str, [BYTES, SPLIT]),
    "decimal9": (pa.decimal128(9, 2), decimals(9, 2), str, [SPLIT]),
    "decimal18": (pa.decimal128(18, 4), decimals(18, 4), str, [SPLIT]),
    "decimal38": (pa.decimal128(38, 10), decimals(38, 10), str, [BYTES]),
    "decimal76": (pa.decimal256(60, 0), decimals(60, 0), str, [SPLIT]),
    "date32": (pa.date32(), days, lambda v: (datetime.date(1970, 1, 1) + datetime.timedelta(days=v)).isoformat(), [DELTA, SPLIT]),
    "date64": (pa.date64(), lambda i: days(i) * 86400000, lambda v: (datetime.date(1970, 1, 1) + datetime.timedelta(days=v // 86400000)).isoformat(), [DELTA]),
    "time_s": (pa.time32("s"), times(1), time_text(1), [DELTA]),
    "time_ms": (pa.time32("ms"), times(10 ** 3), time_text(10 ** 3), [DELTA]),
    "time_us": (pa.time64("us"), times(10 ** 6), time_text(10 ** 6), [DELTA]),
    "time_ns": (pa.time64("ns"), times(10 ** 9), time_text(10 ** 9), [SPLIT]),
    **{"stamp_%s%s" % (u, "_utc" if tz else ""): (pa.timestamp(u, tz), stamps(u, tz), stamp_text(u, tz), [DELTA, SPLIT])
       for u in ("s", "ms", "us", "ns") for tz in (None, "Europe/Zurich")},
    "midnight": (pa.timestamp("us"), lambda i: (i - 300) * 86400 * 10 ** 6, lambda v: (datetime.date(1970, 1, 1) + datetime.timedelta(seconds=v // 10 ** 6)).isoformat(), [DELTA]),
    "null": (pa.null(), lambda i: None, str, []),
}
LISTS = {
    "list_int64": (pa.list_(pa.int64()), ints(64), str, [DELTA]),
    "list_string": (pa.list_(pa.string()), lambda i: "t%d" % (i % 9), str, [BYTES]),
    "list_bool": (pa.list_(pa.bool_()), lambda i: i % 2 == 0, lambda v: str(v).lower(), []),
    "large_list": (pa.large_list(pa.float64()), floats(np.float64, 1.0), number_text(np.float64), [SPLIT]),
    "fixed_list": (pa.list_(pa.int32(), 2), ints(32), str, [DELTA]),
    "list_date": (pa.list_(pa.date32()), days, TYPES["date32"][2], []),
}


def column(name, nulls):
    """The array of a type, and its texts: a list of a list, nothing where it is missing."""
    if name in TYPES:
        kind, value, text, _ = TYPES[name]
        values = [None if kind == pa.null() or missing(i, nulls) else value(i) for i in range(ROWS)]
        if name == "float16":
            array = pa.array([None if v is None else np.float16(v) for v in values], kind)
        elif name == "uuid":
            array = pa.ExtensionArray.from_storage(kind, pa.array([None if v is None else v.bytes for v in values], pa.binary(16)))
        elif name == "category":
            array = pa.array(values, pa.string()).dictionary_encode()
        else:
            array = pa.array(values, kind)
        return array, ["" if v is None else text(v) for v in values]
    kind, value, text, _ = LISTS[name]
    values = []
    for i in range(ROWS):
        items = [None if missing(i + k, nulls) and k % 2 else value(i + k) for k in range(2 if name == "fixed_list" else [0, 1, 3, 40][i % 4])]
        values.append(None if missing(i, nulls) else items)
    return pa.array(values, kind), [[text(v) for v in items or [] if v is not None] for items in values]


def missing(i, nulls):
    return nulls == "all" or nulls == "some" and (i * 7919 % 11 < 3 or 100 < i < 180)


def struct_of(arrays, nulls):
    """A struct with a struct, and the texts of s.int64 and s.in.string."""
    mask = pa.array([nulls == "some" and i % 5 == 0 for i in range(ROWS)])
    (a, at), (b, bt) = arrays["int64"], arrays["string"]
    inner = pa.StructArray.from_arrays([b], fields=[pa.field("string", b.type, nulls != "none")])
    outer = pa.StructArray.from_arrays([a, inner], fields=[pa.field("int64", a.type, nulls != "none"), pa.field("in", inner.type, nulls != "none")], mask=mask if nulls != "none" else None)
    gone = mask.to_pylist()
    return outer, ["" if gone[i] else t for i, t in enumerate(at)], ["" if gone[i] else t for i, t in enumerate(bt)]


def as_pandas(table, expected):
    """Checks the texts of types that to_csv writes alike whatever other cells their column has."""
    same = [n for n in table.column_names if n in expected and n.startswith(("int", "uint", "float32", "float64", "string", "large_string", "category", "decimal", "date", "uuid", "midnight"))]
    frame = table.select(same).to_pandas(types_mapper={getattr(pa, k)(): getattr(pd, k[0].upper() + "I" + k[2:] + "Dtype" if k[0] == "u" else "I" + k[1:] + "Dtype")() for k in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}.get)
    got = pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str, keep_default_na=False)
    for n in same:
        for i, (a, b) in enumerate(zip(got[n], expected[n])):
            if a != b.replace("\r", "\n"):
                raise SystemExit("pandas writes %r in row %d of %s, and the table of types says %r" % (a, i, n, b))
    return len(same) * ROWS


def main(to):
    expected, files, checked = {}, [], 0
    for nulls in ("none", "some", "all"):
        arrays = {n: column(n, nulls) for n in [*TYPES, *LISTS]}
        fields = [pa.field(n, a.type, nulls != "none" or n == "null") for n, (a, _) in arrays.items()]
        struct, inner, deep = struct_of(arrays, nulls)
        fields.append(pa.field("s", struct.type, nulls != "none"))
        table = pa.Table.from_arrays([a for a, _ in arrays.values()] + [struct], schema=pa.schema(fields))
        texts_of = {n: t for n, (_, t) in arrays.items()}
        checked += as_pandas(table, texts_of)
        texts_of.update({"s.int64": inner, "s.in.string": deep})
        expected[nulls] = texts_of
        flat = {**TYPES, **LISTS}
        paths = lambda n: n if n in TYPES else n + ".list.element"
        for version, packed, turn in itertools.product(("1.0", "2.0"), ("none", "snappy", "gzip", "brotli", "zstd", "lz4"), range(5)):
            encodings = {}
            for n in flat:
                own = ["PLAIN", *flat[n][3]]
                encodings[paths(n)] = own[turn % len(own)]
            options = dict(use_dictionary=True) if turn == 4 else dict(use_dictionary=False, column_encoding=encodings)
            name = "%s-%s-%s-%d.parquet" % (nulls, version, packed, turn)
            pq.write_table(table, to + "/" + name, compression=packed, data_page_version=version, data_page_size=[1 << 20, 300][turn % 2], row_group_size=[10 ** 6, 256][turn // 2 % 2],
                           write_page_checksum=turn % 2 == 0, write_page_index=turn == 3, dictionary_pagesize_limit=[1 << 20, 400][packed == "zstd"], **options)
            files.append({"name": name, "nulls": nulls})
        stamps_of = [n for n in texts_of if n.startswith("stamp") and "utc" not in n]
        pq.write_table(table.select(stamps_of), to + "/%s-int96.parquet" % nulls, use_deprecated_int96_timestamps=True)
        files.append({"name": "%s-int96.parquet" % nulls, "nulls": nulls, "columns": stamps_of})
    refused = {
        "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "lists": pa.array([[[1]]], pa.list_(pa.list_(pa.int64()))),
        "structs": pa.array([[{"a": 1}]], pa.list_(pa.struct([("a", pa.int64()), ("b", pa.int64())]))), "maps": pa.array([[[("a", 1)]]], pa.list_(pa.map_(pa.string(), pa.int64()))), "ok": pa.array([1]),
    }
    pq.write_table(pa.table(refused), to + "/refused.parquet")
    long = pa.DictionaryArray.from_arrays(pa.array([0] * 3072, pa.int32()), pa.array(["a" * (1 << 20)]))
    pq.write_table(pa.table({"long": long}), to + "/large.parquet")
    json.dump({"files": files, "cells": expected, "checked": checked}, open(to + "/cells.json", "w"))


main(sys.argv[1])
