"""Data frames of pandas as files that the program reads."""

import datetime
import decimal
import os

from .errors import Error

# What the cells of a column of objects may be: one of these types.
SCALARS = (str, bool, int, float, decimal.Decimal, datetime.date, datetime.datetime)

# The keys of a job that reads what write has written.
FORMAT = {"input.train.format": "csv", "input.train.header": True, "input.train.separator": "tab"}


def is_frame(data):
    """Reports whether data is a data frame of pandas."""
    return hasattr(data, "columns") and hasattr(data, "to_csv")


def write(frame, folder, name):
    """Writes a frame into folder and returns the path of the file. Missing values become empty cells."""
    frame = _checked(frame)
    path = os.path.join(folder, name + ".tsv")
    for column in frame.columns[frame.dtypes == bool]:
        frame[column] = frame[column].map({True: "true", False: "false"})
    # The program tells separators by looking, and looks for tabs first.
    frame.to_csv(path, sep="\t", index=False)
    return path


def of_rows(rows, index=None):
    """Returns rows, a list of dicts, as a data frame if pandas is there, else as they are."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows, index=index)


def _checked(frame):
    """Returns a copy of a frame whose names are texts. Refuses what no file of records can hold."""
    if frame.columns.nlevels > 1 or frame.index.nlevels > 1:
        raise _refused("the data frame has a MultiIndex: want columns of one level, and reset_index() for rows")
    frame = frame.copy(deep=False)
    frame.columns = [str(name) for name in frame.columns]
    if len(frame.columns) == 0:
        raise _refused("the data frame has no columns")
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise _refused(f"column {twice[0]!r} of the data frame is there twice")
    for name in frame.columns:
        _check_column(name, frame[name])
    return frame


def _check_column(name, column):
    """Refuses a column of several types, or of one that is neither number, text, date nor truth."""
    dtype = getattr(column.dtype, "categories", column).dtype
    kind = getattr(dtype, "kind", "O")
    if kind in "biufM":
        return
    if kind != "O":
        raise _refused(f"column {name!r} has the dtype {dtype}, want numbers, texts, dates or truth values")
    if str(dtype).startswith(("string", "str")):
        return
    found = {type(value) for value in column.dropna()}
    if len(found) > 1 or not all(issubclass(one, SCALARS) for one in found):
        names = " and ".join(sorted(one.__name__ for one in found))
        raise _refused(f"column {name!r} has values of {names}, want numbers, texts, dates or truth values, of one type")


def _refused(cause):
    return Error(65, cause)
