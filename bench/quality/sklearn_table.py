"""Fits scikit-learn to a raw table that ringtrain trains on, fold by fold.

Standard input is one JSON object:

    files       the raw files, in order
    separator   between the fields of a line
    header      the first line of each file names the columns; else they are c1, c2, ...
    label       the column that is predicted
    classes     the two classes, the second is the one that is predicted; none for a regression
    numbers, dates, texts
                columns by what they become; a text with | in it is a list
    held_out    of each fold the numbers of the records that validate

Standard output is one JSON object: of each model the AUC, or the RMSE of a regression, of each fold.

The linear model is logistic or ridge regression, C and alpha at their defaults, on standardized numbers (missing: the
mean), dates as days, and one-hot texts. The trees are HistGradientBoosting on the numbers, the days and the numbers of
the texts. Nothing is fitted to records that are held out.
"""

import json
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of a busy machine wait for each other

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score, root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

MISSING = ["", "NA", "N/A", "n/a", "nan", "NaN", "NULL", "null", "None", "?", "\\N"]


def read(q):
    options = dict(sep=q["separator"], dtype=str, keep_default_na=False)
    if q["header"]:
        tables = [pd.read_csv(f, **options) for f in q["files"]]
    else:
        tables = [pd.read_csv(f, header=None, **options) for f in q["files"]]
        for t in tables:
            t.columns = q["names"]
    t = pd.concat(tables, ignore_index=True)
    return t.apply(lambda column: column.str.strip())


def features(t, q):
    """Numbers and dates as float64 with NaN, texts as they are."""
    out = {}
    for name in q["numbers"]:
        out[name] = pd.to_numeric(t[name].where(~t[name].isin(MISSING)))
    for name in q["dates"]:
        days = pd.to_datetime(t[name].where(~t[name].isin(MISSING)), format="ISO8601", utc=True)
        out[name] = (days - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    for name in q["texts"]:
        out[name] = t[name]
    return pd.DataFrame(out)


def models(x, q):
    numbers = q["numbers"] + q["dates"]
    lists = [name for name in q["texts"] if x[name].str.contains("|", regex=False).any()]
    words = [name for name in q["texts"] if name not in lists]
    linear = [("numbers", make_pipeline(SimpleImputer(), StandardScaler()), numbers)] if numbers else []
    if words:
        linear.append(("texts", OneHotEncoder(handle_unknown="ignore"), words))
    for name in lists:
        linear.append((name, CountVectorizer(tokenizer=lambda cell: [p for p in cell.split("|") if p], token_pattern=None, lowercase=False), name))
    trees = [("numbers", "passthrough", numbers)] if numbers else []
    if q["texts"]:
        trees.append(("texts", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), q["texts"]))
    if q["classes"]:
        pair = LogisticRegression(max_iter=2000), HistGradientBoostingClassifier(random_state=0)
    else:
        pair = Ridge(), HistGradientBoostingRegressor(random_state=0)
    return {
        "linear": make_pipeline(ColumnTransformer(linear), pair[0]),
        "trees": make_pipeline(ColumnTransformer(trees, sparse_threshold=0), pair[1]),
    }


def figure(model, x, y, q, held_out):
    validates = np.zeros(len(y), dtype=bool)
    validates[held_out] = True
    model.fit(x[~validates], y[~validates])
    if q["classes"]:
        return roc_auc_score(y[validates], model.predict_proba(x[validates])[:, 1])
    return root_mean_squared_error(y[validates], model.predict(x[validates]))


def main():
    q = json.load(sys.stdin)
    t = read(q)
    y = (t[q["label"]] == q["classes"][1]).to_numpy() if q["classes"] else pd.to_numeric(t[q["label"]]).to_numpy()
    x = features(t, q)
    answer = {name: [figure(model, x, y, q, fold) for fold in q["held_out"]] for name, model in models(x, q).items()}
    json.dump(answer, sys.stdout)


main()
