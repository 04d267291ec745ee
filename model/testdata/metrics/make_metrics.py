"""Golden numbers of classification metrics. Needs scikit-learn (made with 1.9.1).

    python make_metrics.py OUTDIR

Scores are sixty-fourths, or such divided by their sum: exact in float32, or rounded to
it here.
"""
import json
import os
import sys

import numpy as np
from sklearn.metrics import confusion_matrix, log_loss, precision_recall_fscore_support, top_k_accuracy_score

F = np.float32


def per_class(y, predicted, classes):
    precision, recall, f1, _ = precision_recall_fscore_support(y, predicted, labels=classes, zero_division=0)
    return {"precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist()}


def classes():
    """Seven classes. No example has class 5, none is predicted as class 2."""
    n, k = 60, 7
    raw = np.array([[((i * 37 + j * 23 + i * i * j) % 61) + 1 for j in range(k)] for i in range(n)], F)
    raw[:, 2] = F(0.5)
    scores = (raw / raw.sum(axis=1, keepdims=True)).astype(F)
    y = np.array([[0, 1, 2, 3, 4, 6][(i * 5 + i // 7) % 6] for i in range(n)])
    y[::3] = np.where(scores[::3].argmax(axis=1) == 5, y[::3], scores[::3].argmax(axis=1))
    names = list(range(k))
    top = [top_k_accuracy_score(y, scores, k=t, labels=names, normalize=False) for t in range(1, k)]
    return {
        "scores": scores.tolist(), "labels": y.tolist(),
        "confusion": confusion_matrix(y, scores.argmax(axis=1), labels=names).tolist(),
        "top": [int(t) for t in top],
        "log_loss": log_loss(y, scores.astype(float), labels=names, normalize=False),
        **per_class(y, scores.argmax(axis=1), names),
    }


def binary():
    n = 50
    scores = np.array([((i * 29) % 63 + 1) / 64 for i in range(n)], F)
    y = np.array([1 if (i * 29 % 63 + (i * 7) % 40) > 55 else 0 for i in range(n)])
    rate = y.mean()
    loss = log_loss(y, scores.astype(float))
    return {
        "scores": scores.tolist(), "labels": y.tolist(),
        "log_loss": loss * n,
        "normalized_entropy": loss / log_loss(y, np.full(n, rate)),
        "calibration": float(scores.astype(float).mean() / rate),
        **per_class(y, (scores > 0.5).astype(int), [0, 1]),
    }


with open(os.path.join(sys.argv[1], "metrics.json"), "w") as f:
    json.dump({"classes": classes(), "binary": binary()}, f)
    f.write("\n")
