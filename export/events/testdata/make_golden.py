"""Writes testdata/tensorboard.tfevents with TensorBoard's own writer: scalars as
TensorFlow 1 writes them and as TensorFlow 2 does, and a START. TestGolden has the
values.

    python make_golden.py FOLDER
"""

import os
import sys

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.scalar import metadata
from tensorboard.summary.writer.record_writer import RecordWriter
from tensorboard.util import tensor_util

START = event_pb2.SessionLog(status=event_pb2.SessionLog.START)


def plain(tag, value):
    return summary_pb2.Summary.Value(tag=tag, simple_value=value)


def tensor(tag, value):
    meta = metadata.create_summary_metadata(display_name="", description="")
    return summary_pb2.Summary.Value(tag=tag, metadata=meta, tensor=tensor_util.make_tensor_proto(value))


events = [
    event_pb2.Event(wall_time=1.5, file_version="brain.Event:2"),
    event_pb2.Event(wall_time=2.5, step=3, session_log=START),
    event_pb2.Event(wall_time=3.5, step=3, summary=summary_pb2.Summary(value=[plain("loss", 0.25), plain("nan", float("nan")), plain("zero", 0.0)])),
    event_pb2.Event(wall_time=4.5, step=4, summary=summary_pb2.Summary(value=[tensor("loss", np.float32(0.125)), tensor("rate", np.float64(0.1))])),
    event_pb2.Event(wall_time=5.5, step=5, summary=summary_pb2.Summary(value=[tensor("vector", np.zeros(3, np.float32)), tensor("text", "words")])),
]

with open(os.path.join(sys.argv[1], "tensorboard.tfevents"), "wb") as f:
    writer = RecordWriter(f)
    for event in events:
        writer.write(event.SerializeToString())
    writer.flush()
