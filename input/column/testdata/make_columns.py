"""What real TensorFlow makes of texts and numbers: hash buckets, ranges, log1p.
Needs TensorFlow 2.x (made with 2.21.0).

    python make_columns.py OUTDIR

Writes OUTDIR/columns.json:
  hashes   texts of 0 to 300 bytes, some beyond ASCII, and their tf.strings.to_hash_bucket_fast
           for several numbers of buckets
  buckets  numbers and their place among boundaries by Bucketize
  log1p    numbers and sign(x)*log1p(|x|) in float32
  words    texts in base64, with options of text, and the buckets of their words
"""
import base64
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

SIZES = [1, 2, 100, 100_000, 2**31 - 1]


def texts():
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyzäöüß漢字 -_/\x1f"
    state = 1
    for length in list(range(0, 301, 1)):
        text = ""
        while len(text) < length:
            state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            text += alphabet[(state >> 33) % len(alphabet)]
        yield text


raw = tf.raw_ops

WORDS = [t if isinstance(t, bytes) else t.encode() for t in (
    "", " -,", "It's 3.5kg, it's", "The end; the END.", "ÉTÉ ΟΔΟΣ ΣΑΣ İi ıI ẞ ǅ ﬀ", b"Gen\xe8ve caf\xc3\xa9 \xe2\x82 \xed\xa0\x80x\xf4\x90\x80\x80y \xc0\x80",
    "e\u0301a\t東京٣ ½ Ⅷ _x_", "a\u0000b\u2028c\ufeffd\u200de\u00a0f\u00adg", "नमस्ते 𝒳𝟘 👩‍👩", "x" * 300, "a b " * 40)]


def words(lower, ngrams):
    text = raw.UnicodeTranscode(input=WORDS, input_encoding="UTF-8", output_encoding="UTF-8", errors="replace", replacement_char=32)
    text = raw.RegexReplace(input=text, pattern=r"[^\pL\p{Nd}]+", rewrite=" ")
    if lower:
        text = raw.RegexReplace(input=raw.RegexReplace(input=text, pattern="Σ", rewrite="σ"), pattern="İ", rewrite="i")
        text = raw.StringLower(input=text, encoding="utf-8")
    parts = tf.strings.split(text)
    parts = tf.strings.ngrams(parts, tuple(range(1, ngrams + 1)), separator=" ")
    ids = parts.with_values(tf.strings.to_hash_bucket_fast(parts.values, 10**6)).to_list()
    return [{"text": base64.b64encode(t).decode(), "lower": lower, "ngrams": ngrams, "buckets": i} for t, i in zip(WORDS, ids)]


if __name__ == "__main__":
    out = sys.argv[1] if len(sys.argv) > 1 else "."
    hashes = []
    all_texts = list(texts())
    columns = [tf.strings.to_hash_bucket_fast(all_texts, n).numpy().tolist() for n in SIZES]
    for i, text in enumerate(all_texts):
        hashes.append({"text": text, "buckets": [c[i] for c in columns]})
    boundaries = [-2.5, 0.0, 0.1, 18.0, 1e6]
    x = [-3.0, -2.5, -0.0, 0.0, 0.1, 0.09999999, 17.9, 18.0, 1e6, 3e38]
    places = tf.raw_ops.Bucketize(input=tf.constant(x, tf.float32), boundaries=boundaries).numpy().tolist()
    y = np.array([0, -0.5, 1, 3.5, -1e-6, 1e6, -7e20, 0.1], np.float32)
    log1p = (tf.sign(y) * tf.math.log1p(tf.abs(y))).numpy()
    with open(os.path.join(out, "columns.json"), "w") as f:
        json.dump({
            "sizes": SIZES, "hashes": hashes,
            "buckets": {"boundaries": boundaries, "x": x, "places": places},
            "log1p": {"x": [float(v) for v in y], "y": [float(v) for v in log1p]},
            "words": words(False, 1) + words(True, 3),
        }, f, indent=0)
        f.write("\n")
