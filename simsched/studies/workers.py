"""The same function on many inputs, in worker processes; the results do not depend on how many."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

from simsched.core import SimschedError

T = TypeVar("T")


def in_workers(function: Callable[..., T], inputs: Sequence[tuple[object, ...]], jobs: int) -> Iterator[T]:
    """The results in the order of the inputs, each as soon as it and those before it are there.

    Args:
        function: at the top level of a module, so that workers find it.
        inputs: the arguments of each call; what goes in and comes out is pickled.
        jobs: worker processes. When the caller stops, whatever has not begun is cancelled.
    """
    with ProcessPoolExecutor(max(1, min(jobs, len(inputs))), mp_context=get_context("spawn")) as pool:
        tasks = [pool.submit(function, *one) for one in inputs]
        try:
            for task in tasks:
                yield task.result()
        except BrokenProcessPool as error:
            advice = "in a script call this below `if __name__ == '__main__':`, or take jobs=1"
            raise SimschedError(f"the worker processes died: {advice}") from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
