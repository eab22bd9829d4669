"""A column of a recorded table: due times or sizes."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from simsched.core import InputError

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
        raise InputError("no such file", str(path)) from error
    except Exception as error:  # pandas and pyarrow raise many kinds; the user needs one line
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"cannot be read as a table: {reason}", str(path)) from error
    if column not in table:
        raise InputError(f"has no column {column!r}; it has {', '.join(map(str, table.columns))}", str(path))
    values = pd.to_numeric(table[column], errors="coerce").to_numpy(np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        got = table[column].iloc[int(bad[0])]
        raise InputError(f"row {int(bad[0])}, column {column!r}: got {got!r}, must be a finite number", str(path))
    return values
