"""Live checks: calibrate, predict and write it down, run, compare, in one sitting."""

from simsched.live.check.calibrate import Calibration
from simsched.live.check.foretold import Foretold, foretell, planned_workload, read_foretold, write_foretold
from simsched.live.check.sitting import Checked, Sitting, check_live
from simsched.live.check.verdict import Judged, judge, medians

__all__ = [
    "Calibration",
    "Checked",
    "Foretold",
    "Judged",
    "Sitting",
    "check_live",
    "foretell",
    "judge",
    "medians",
    "planned_workload",
    "read_foretold",
    "write_foretold",
]
