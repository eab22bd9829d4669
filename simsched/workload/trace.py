"""A column of a recorded table: due times or sizes."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.core import InputError, shown

FloatArray = npt.NDArray[np.float64]


def read_column(file: str, column: str) -> FloatArray:
    """The numbers of one column of a CSV, gzipped CSV or parquet file, in the order of its rows.

    Raises:
        InputError: no such file or column, not a table, or a value that is no finite number (with its row).
    """
    path = Path(file)
    try:
        table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except Exception as error:  # pandas and pyarrow raise many kinds; the user needs one line
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: cannot be read as a table: {reason}") from error
    if column not in table:
        raise InputError(f"{path}: has no column {column!r}; it has {', '.join(map(str, table.columns))}")
    values = pd.to_numeric(table[column], errors="coerce").to_numpy(np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        got = table[column].iloc[int(bad[0])]
        problem = "is empty" if pd.isna(got) else f"got {shown(str(got))}"
        raise InputError(f"{path}: row {int(bad[0])}, column {column!r}: {problem}, must be a finite number")
    if not len(values):
        raise InputError(f"{path}: has no rows")
    return values
