"""Named random streams spawned from one seed, so that two scenarios see the same requests."""

import zlib

import numpy as np


def stream(seed: int, name: str, replication: int = 0) -> np.random.Generator:
    """The generator of this name: independent of every other name, the same for the same arguments.

    Args:
        seed: the scenario's seed, at least 0.
        name: what is drawn, such as "arrivals" or "sizes".
        replication: number of the replication, from 0.

    >>> bool(stream(1, "sizes").random() == stream(1, "sizes").random() != stream(1, "noise").random())
    True
    """
    key = (replication, zlib.crc32(name.encode()))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
