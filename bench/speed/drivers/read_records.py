"""Other readers of records over a whole file: CSV by pyarrow, pandas and polars, Parquet by pyarrow, tf.data's CSV and TFRecords.

Each turn reads the file once; the figure is rows a second of CPU time, on one thread
where the library can be held to it.
"""
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import common


def arrow(c):
    import pyarrow
    from pyarrow import csv
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    block = csv.ReadOptions(use_threads=False, block_size=1 << 20)

    def read():
        rows = 0
        with csv.open_csv(c["file"], read_options=block) as batches:
            for batch in batches:
                rows += batch.num_rows
        return rows
    return read, "pyarrow " + pyarrow.__version__


def arrow_parquet(c):
    """Reads the columns of a Parquet file, by two threads, which it first writes as pyarrow does by default."""
    import pyarrow
    from pyarrow import csv, parquet
    file = c["file"] + ".parquet"
    with csv.open_csv(c["file"], read_options=csv.ReadOptions(block_size=1 << 26)) as batches:
        with parquet.ParquetWriter(file, batches.schema) as out:
            for batch in batches:
                out.write_batch(batch, row_group_size=1 << 20)
    pyarrow.set_cpu_count(2)
    pyarrow.set_io_thread_count(2)
    return lambda: parquet.read_table(file).num_rows, "pyarrow " + pyarrow.__version__


def pandas(c):
    import pandas

    def read():
        with pandas.read_csv(c["file"], chunksize=100_000) as parts:  # not all of a large file in memory
            return sum(len(part) for part in parts)
    return read, "pandas " + pandas.__version__


def polars(c):
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars
    return lambda: polars.read_csv(c["file"]).height, "polars " + polars.__version__


def flow(c):
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    if c["way"] == "tf-csv":
        def data():
            return tf.data.experimental.CsvDataset(c["file"], [tf.float32] * (c["fields"] + 1), header=True).batch(c["batch"])
    else:
        features = {"label": tf.io.FixedLenFeature([], tf.int64), "ids": tf.io.VarLenFeature(tf.int64),
                    "values": tf.io.VarLenFeature(tf.float32)}

        def data():
            d = tf.data.TFRecordDataset(c["file"]).batch(c["batch"])
            return d.map(lambda x: tf.io.parse_example(x, features))

    def read():
        rows = 0
        for batch in data():
            label = batch["label"] if isinstance(batch, dict) else batch[0]
            rows += int(label.shape[0])
        return rows
    return read, "TensorFlow " + tf.__version__


def main():
    c = common.case()
    read, library = {"arrow": arrow, "arrow-parquet": arrow_parquet, "pandas": pandas, "polars": polars}.get(c["way"], flow)(c)
    read()
    for seconds in common.turns_of_input(library):
        if seconds > 0:
            start = time.process_time()
            rows = read()
            common.say({"examples_per_s": rows / (time.process_time() - start), "loss": 0.0})


main()
