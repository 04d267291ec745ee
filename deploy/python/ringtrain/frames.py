"""Data frames of pandas as files that the program reads."""

import datetime
import decimal
import os
import re

from .errors import Error

# The entry of the manual about data frames.
PAGE = "docs/when-it-breaks#data-frame"

# The values that a column of objects may have: all of one of these types.
SCALARS = (str, bool, int, float, decimal.Decimal, datetime.date)

# Lists of texts are bags in Parquet.
LISTS = (list, tuple)

WANTED = "want numbers, texts, dates or truth values"

# The keys of a job that reads the files that write has written, with pyarrow and without.
PARQUET = {"input.train.format": "parquet", "input.train.header": False, "input.train.separator": ""}
TEXT = {"input.train.format": "csv", "input.train.header": True, "input.train.separator": "tab"}


def is_frame(data):
    """Reports whether data is a data frame of pandas."""
    return hasattr(data, "columns") and hasattr(data, "to_csv")


def write(frame, folder, name):
    """Writes a frame into folder. Returns the path of the file, and the keys of a job that reads it."""
    arrow = _arrow()
    frame = _checked(frame, arrow)
    path = os.path.join(folder, name)
    if arrow is None:
        return _write_text(frame, path + ".tsv"), TEXT
    try:
        frame.to_parquet(path + ".parquet", engine="pyarrow", index=False)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, arrow.ArrowNotImplementedError) as error:
        raise Error(65, f"the data frame has what Parquet cannot hold: {' '.join(map(str, error.args))}", PAGE) from error
    return path + ".parquet", PARQUET


def _arrow():
    """Returns pyarrow, None if it is not there."""
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


def _write_text(frame, path):
    """Writes a frame as lines with tabs. A missing value is an empty cell."""
    for column in frame.columns:
        if re.fullmatch(r"\s*[-+]?\.?\d.*", column):
            raise Error(65, f"column {column!r} of the data frame begins with a digit: give it another name, or install pyarrow", PAGE)
        if frame[column].dtype.kind == "b":
            frame[column] = frame[column].map({True: "true", False: "false"}, na_action="ignore")
    # The program finds the separator by itself, and looks for tabs first.
    frame.to_csv(path, sep="\t", index=False)
    return path


def of_rows(rows, index=None):
    """Returns rows, a list of dicts, as a data frame if pandas is there, else as they are."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows, index=index)


def _checked(frame, arrow):
    """Returns a copy of a frame whose names are texts. Refuses what no file of records can hold."""
    if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise Error(65, "the data frame has a MultiIndex, want columns of one level, and reset_index() for rows", PAGE)
    frame = frame.copy(deep=False)
    frame.columns = [str(name) for name in frame.columns]
    if frame.empty:
        raise Error(65, f"the data frame has no {'records' if len(frame.columns) else 'columns'}", PAGE)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise Error(65, f"column {twice[0]!r} of the data frame is there twice", PAGE)
    for name in frame.columns:
        if hasattr(frame[name], "sparse"):
            frame[name] = frame[name].sparse.to_dense()
        _check_column(name, frame[name], SCALARS if arrow is None else SCALARS + LISTS)
    return frame


def _check_column(name, column, types):
    """Refuses a column of several types, or of one that is neither number, text, date nor truth value."""
    values = getattr(column.dtype, "categories", column)
    if values.dtype.kind in "biufMU" or str(values.dtype).startswith("str"):
        return
    if values.dtype.kind != "O":
        raise Error(65, f"column {name!r} of the data frame has the type {values.dtype}, {WANTED}", PAGE)
    found = {type(value) for value in values.dropna()}
    if len(found) > 1 or not all(issubclass(one, types) for one in found):
        names = " and ".join(sorted(one.__name__ for one in found))
        raise Error(65, f"column {name!r} of the data frame has values of {names}, {WANTED}, all of one type", PAGE)
