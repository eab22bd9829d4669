"""What a person reads: tables, and the folder of a study."""

from simsched.report.folder import (
    check_folder,
    plain_predictions,
    to_json,
    write_comparison,
    write_folder,
    write_predictions,
)
from simsched.report.histogram import run_histogram
from simsched.report.tables import (
    check_table,
    comparison_table,
    memory_tables,
    predictions_table,
    ranking_table,
    summary_table,
)

__all__ = [
    "check_folder",
    "check_table",
    "comparison_table",
    "memory_tables",
    "plain_predictions",
    "predictions_table",
    "ranking_table",
    "run_histogram",
    "summary_table",
    "to_json",
    "write_comparison",
    "write_folder",
    "write_predictions",
]
