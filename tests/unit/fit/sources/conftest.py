"""The H200 trace, and copies of it that a test damages."""

import gzip
import json

import pytest
from sources_shared import H200


@pytest.fixture(scope="module")
def content():
    return json.loads(gzip.decompress(H200.read_bytes()))


@pytest.fixture
def damaged(content, tmp_path):
    """Write the H200 trace with its events changed by a function of (event, list of events)."""

    def write(change):
        path = tmp_path / "trace.json"
        path.write_text(json.dumps({**content, "traceEvents": change([dict(one) for one in content["traceEvents"]])}))
        return path

    return write
