"""Cut a torch profiler trace to a few of its ranges, as the fixtures beside this file were made.

python tests/data/kineto/cut_trace.py TRACE OUT "encoder batch=1 length=24" "vocoder batch=4 length=96" …

Kept, unchanged: the ranges named, the runtime and driver calls within them, the GPU operations that those launched, and
all that stands beside traceEvents. Left out: every other event (operators, flow arrows, names of threads).
"""

import gzip
import json
import sys


def cut(trace: dict, texts: list[str]) -> dict:
    """The trace with the events of these ranges only."""
    events = trace["traceEvents"]
    ranges = [event for event in events if event.get("cat") == "user_annotation" and event["name"] in texts]
    launches = [
        event
        for event in events
        if event.get("cat") in ("cuda_runtime", "cuda_driver")
        and any(one["tid"] == event["tid"] and 0 <= event["ts"] - one["ts"] < one["dur"] for one in ranges)
    ]
    ids = {event["args"]["correlation"] for event in launches}
    done = [
        event
        for event in events
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and event["args"]["correlation"] in ids
    ]
    return {**trace, "traceEvents": [*ranges, *launches, *done]}


if __name__ == "__main__":
    with gzip.open(sys.argv[1], "rt", encoding="utf-8") as stream:
        kept = cut(json.load(stream), sys.argv[3:])
    with open(sys.argv[2], "wb") as out:
        out.write(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), 9, mtime=0))
