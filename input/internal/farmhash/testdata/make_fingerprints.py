"""What real TensorFlow makes of texts of every length: tf.strings.to_hash_bucket_fast.
Needs TensorFlow 2.x (made with 2.21.0).

    python make_fingerprints.py OUTDIR

Writes OUTDIR/fingerprints.txt: on each line a text in hexadecimal, - if it is empty, and its
fingerprint modulo 2**63 - 1 and modulo 2**63 - 25, which together tell all of its 64 bits.
"""
import os
import random
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf


def texts():
    draw = random.Random(19)
    for length in range(301):
        yield bytes(draw.randrange(256) for _ in range(length))  # mostly no UTF-8
    for text in ["Zürich", "漢字かな交じり文", "Ελληνικά и кириллица", "naïve café " * 9, "\0", "\0" * 64, "\0" * 65, "68fd1e64"]:
        yield text.encode()
    for length in [511, 512, 513, 1000, 4096]:
        yield bytes(draw.randrange(256) for _ in range(length))


if __name__ == "__main__":
    out = sys.argv[1] if len(sys.argv) > 1 else "."
    every = list(texts())
    residues = [tf.strings.to_hash_bucket_fast(tf.constant(every), 2**63 - k).numpy().tolist() for k in (1, 25)]
    with open(os.path.join(out, "fingerprints.txt"), "w") as f:
        for text, a, b in zip(every, *residues):
            print(text.hex() or "-", a, b, file=f)
