"""What a stage may get for an answer when it asks its policy, and the one line for each thing that is not allowed."""

import numpy as np

from simsched.core import PolicyError, raised, shown


def held_until(stage: str, until_ns: object, now: int) -> int:
    """The time of a Hold, in nanoseconds.

    Raises:
        PolicyError: no whole number, or not later than now.
    """
    if isinstance(until_ns, bool) or not isinstance(until_ns, (int, np.integer)) or until_ns <= now:
        got = f"holds until {shown(until_ns)} at {now} ns"
        raise PolicyError(f"the policy of stage {stage!r} {got}: it must be a later time, in whole ns")
    return int(until_ns)


def no_decision(stage: str, answer: object) -> PolicyError:
    """The error for what is neither a Dispatch nor a Hold."""
    return PolicyError(f"the policy of stage {stage!r} answered {shown(answer)}, not a Dispatch or a Hold")


def policy_raised(stage: str, error: Exception) -> PolicyError:
    """The error for a policy that raised one."""
    return PolicyError(f"the policy of stage {stage!r} raised {raised(error)}")
