"""Writes fields.txt: every field of TensorFlow Serving's messages, and of TensorFlow's that they use.

    .interop/venv/bin/python make_fields.py FOLDER

Needs tensorflow-serving-api. A line is: message, field, number, label, type.
"""
import os
import sys

from tensorflow_serving.apis import model_service_pb2, prediction_log_pb2, prediction_service_pb2
from tensorflow_serving.config import model_server_config_pb2

TYPES = ["", "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group",
         "message", "bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64"]
lines, seen, files = set(), set(), set()


def message(m):
    if m.full_name in seen or m.full_name.startswith("google."):
        return
    seen.add(m.full_name)
    for f in m.fields:
        of = f.message_type or f.enum_type
        name = of.full_name if of else TYPES[f.type]
        label = "repeated" if f.is_repeated else "optional"
        lines.add(f"{m.full_name} {f.name} {f.number} {label} {name}")
        if f.enum_type:
            for v in f.enum_type.values:
                lines.add(f"{f.enum_type.full_name} {v.name} {v.number} value")
        if f.message_type:
            message(f.message_type)


def file(f):
    if f.name in files or not f.name.startswith("tensorflow_serving/"):
        return
    files.add(f.name)
    for of in f.dependencies:
        file(of)
    for m in f.message_types_by_name.values():
        message(m)
        for nested in m.nested_types:
            message(nested)
    for s in f.services_by_name.values():
        for r in s.methods:
            lines.add(f"{s.full_name} {r.name} {r.input_type.full_name} {r.output_type.full_name}")


for module in (model_service_pb2, prediction_log_pb2, prediction_service_pb2, model_server_config_pb2):
    file(module.DESCRIPTOR)
prefixes = ("tensorflow.serving.", "tensorflow.error.", "tensorflow.Tensor", "tensorflow.DataType", "tensorflow.Example",
            "tensorflow.Feature", "tensorflow.BytesList", "tensorflow.FloatList", "tensorflow.Int64List", "tensorflow.SignatureDef")
with open(os.path.join(sys.argv[1], "fields.txt"), "w") as out:
    for line in sorted(lines):
        if line.startswith(prefixes):
            print(line, file=out)
