"""A click log's records for the drivers: ids [rows, fields] of 4 bytes, labels of one byte, in two files."""
import numpy as np


def records(c):
    """This rank's part of each batch: int64 ids [batches, local, fields], float32 labels [batches, local]."""
    x = np.fromfile(c["ids"], np.uint32).reshape(-1, c["fields"])
    y = np.fromfile(c["click_labels"], np.uint8)
    batches = len(x) // c["batch"]
    n = batches * c["batch"]
    mine = slice(c["rank"] * c["local"], (c["rank"] + 1) * c["local"])
    x = x[:n].reshape(batches, c["batch"], c["fields"])[:, mine]
    y = y[:n].reshape(batches, c["batch"])[:, mine]
    return np.ascontiguousarray(x.astype(np.int64)), np.ascontiguousarray(y.astype(np.float32))
