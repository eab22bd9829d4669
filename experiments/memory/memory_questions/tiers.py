"""C16: hand-offs in host memory or on the GPU: what the copies cost, and from where on they free more than that."""

import csv
from collections.abc import Mapping, Sequence
from statistics import median

from matplotlib.axes import Axes

from memory_questions.world import FOLDER, Row, each, over, summed, world
from simsched.report.figures.style import INK

COPIES = FOLDER.parent.parent / "calibration" / "h200-sglang-omni" / "copies.csv"
REPORTED = 20e9  # bytes/s, field report C16
PAGEABLE = 5e9  # bytes/s, PRIOR, where nothing is measured
MB = 1e6
SIZES_MB = (2, 20)
HANDOFF_MB = (1, 2, 5, 10, 15, 20)
FRAMES = 24  # of a request of 6 words
MEMBER = 2457027 * FRAMES  # bytes that a member of a vocoder batch takes
WORK_GIB = 1.0  # beside weights, for activations and hand-offs
TITLE = "C16: a copy, one way"
CROSS_TITLE = "C16: 64 users of 6 words, 1 GiB for activations and hand-offs (all on the GPU = 1)"


def bandwidths() -> dict[bool, tuple[float, float, str]]:
    """Pinned → bytes a second, latency in ms, source; where measured, a line through smallest and largest copy."""
    if not COPIES.exists():
        return {True: (REPORTED, 0.0, "report"), False: (PAGEABLE, 0.0, "PRIOR")}
    with COPIES.open(encoding="utf-8", newline="") as file:
        told = list(csv.DictReader(file))
    found = {}
    for pinned in (True, False):
        times: dict[float, list[float]] = {}
        for one in told:
            if bool(int(one["pinned"])) == pinned:
                times.setdefault(float(one["bytes"]), []).append(float(one["ms"]))
        small, large = min(times), max(times)
        rate = (large - small) / (median(times[large]) - median(times[small])) * 1e3
        latency_ms = max(0.0, median(times[small]) - small / rate * 1e3)
        found[pinned] = (rate, latency_ms, "MEASURED")
    return found


def copies() -> list[Row]:
    """Milliseconds of one copy of 2 and 20 MB."""
    return [
        {
            "MB": size,
            "host memory": "pinned" if pinned else "pageable",
            "from": source,
            "GB/s": rate / 1e9,
            "ms": latency_ms + size * MB / rate * 1e3,
            "claim, ms": size / 20 if pinned else None,
        }
        for pinned, (rate, latency_ms, source) in bandwidths().items()
        for size in SIZES_MB
    ]


def fields(handoff_mb: float, where: str) -> Sequence[str]:
    """A GPU that is short of memory; hand-offs on it, or above 0 bytes in host memory."""
    pinned, pageable = bandwidths()[True], bandwidths()[False]
    rest = "" if where == "GPU" else f", host_above: 0, link: pcie, pinned: {'true' if where == 'pinned' else 'false'}"
    latency_ms = pageable[1] if where == "pageable" else pinned[1]
    speeds = f"bandwidth: {pinned[0]:.0f}, pageable: {pageable[0]:.0f}, latency_ms: {latency_ms:g}"
    return (
        "workload.sizes={kind: fixed, value: 6}",
        f"gpus.gpu0.memory={1332000000 + int(WORK_GIB * 2**30)}",
        f"stages.encoder.memory.handoff={{base: {handoff_mb:g} MB{rest}}}",
        f"links.pcie={{{speeds}, sharing: fifo}}",
    )


def left(handoff_mb: float, waiting: int = 64) -> int:
    """Members of a vocoder batch that fit beside so many hand-offs on the GPU: what the arithmetic says."""
    return max(0, int((WORK_GIB * 2**30 - waiting * handoff_mb * MB) // MEMBER))


def crossing(small: bool) -> list[Row]:
    """A row a size of hand-off: host memory against the GPU."""
    requests, replications = (600, 1) if small else (4000, 3)
    table: list[Row] = []
    for size in HANDOFF_MB[:: 5 if small else 1]:
        found = {
            where: each(world(*fields(size, where), batches=(16, 16), requests=requests), replications)
            for where in ("GPU", "pinned", "pageable")
        }
        table.append(
            {
                "hand-off, MB": size,
                "members that fit, GPU": min(16, left(size)),
                "host": min(16, left(0)),
                "GPU, req/s": summed(found["GPU"], "req/s")["req/s"],
                "pinned": over(found["pinned"], found["GPU"], "req/s"),
                "pageable": over(found["pageable"], found["GPU"], "req/s"),
                "P99: pinned": over(found["pinned"], found["GPU"], "P99, s"),
                "P99: pageable": over(found["pageable"], found["GPU"], "P99, s"),
            }
        )
    return table


def rows(small: bool) -> dict[str, list[Row]]:
    """Title → table."""
    return {TITLE: copies(), CROSS_TITLE: crossing(small)}


def draw(axes: Axes, tables: Mapping[str, list[Row]]) -> None:
    """Throughput of host memory over that of the GPU, by size."""
    table = tables[CROSS_TITLE]
    for place, name in enumerate(("pinned", "pageable")):
        values = [row[name].mean for row in table]
        axes.plot(
            [row["hand-off, MB"] for row in table], values, "o-", color=f"C{place}", markersize=3, label=f"host, {name}"
        )
    axes.axhline(1, color=INK, linewidth=0.6)
    axes.set_xlabel("hand-off, MB a request")
    axes.set_ylabel("throughput, all on the GPU = 1")
    axes.legend(fontsize=5)
    axes.set_title("C16: hand-offs in host memory", color=INK, fontsize=7)
