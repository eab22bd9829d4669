"""The folder of a phase says what it holds, whatever happens to the client or the disk."""

import json

import pandas as pd
import pytest

from simsched.core import InputError, SimschedWarning
from simsched.live.load.exchange import Exchange
from simsched.live.load.folder import UNTIL_ENDED, PhaseFolder
from simsched.live.load.plan import Planned
from simsched.run import read_phase

S = 1_000_000_000
EPOCH = 1_800_000_000 * S
TOLD = {"server": "s", "phase": {"name": "p", "conc": 1, "n": 3, "warm": 0, "mix": "fixed"}, "events": False}


def planned(number):
    return Planned(number, 1, 6.0, "", "", None, 0, None, None)


def done(number, pieces=()):
    one = Exchange(planned=planned(number), clock=lambda: EPOCH + (number + 2) * S, keeps_pieces=bool(pieces))
    one.sent_ns, one.status, one.request_id = EPOCH + number * S, 200, f"r{number}"
    for count in pieces:
        one.heard(count)
    one.answered()
    return one


class Full:
    """A file on a disk without room."""

    def write(self, text):
        raise OSError(28, "No space left on device")

    def close(self):
        pass


def told(folder):
    return json.loads((folder.path / "phase.json").read_text())


def test_a_client_that_was_killed_leaves_a_phase_that_says_so(tmp_path):
    folder = PhaseFolder(tmp_path / "phase")
    folder.begin(TOLD)
    for number in range(2):
        folder.add(done(number))  # in the file at once, without an end
    assert (told(folder)["complete"], told(folder)["why"]) == (False, UNTIL_ENDED)
    with pytest.warns(SimschedWarning, match=f"the phase is not complete: {UNTIL_ENDED}; 2 requests, phase.json"):
        run = read_phase(tmp_path / "phase")
    assert run.requests["status"].tolist() == ["done", "done"]
    folder._journal.close()


def test_a_whole_phase_has_a_packed_table_in_order_and_the_unsent(tmp_path):
    folder = PhaseFolder(tmp_path / "phase")
    folder.begin(TOLD)
    second, first = done(1, [5, 7]), done(0)
    for one in (second, first):
        folder.add(one)
    assert folder.end([second, first], [planned(2)], {**TOLD, "complete": True, "why": "", "warnings": []})
    assert sorted(path.name for path in folder.path.iterdir()) == ["chunks.csv.gz", "client.csv.gz", "phase.json"]
    table = pd.read_csv(folder.path / "client.csv.gz")
    assert table["index"].tolist() == [0, 1, 2]
    assert table["outcome"].tolist() == ["done", "done", "unsent"]
    assert pd.read_csv(folder.path / "chunks.csv.gz")["bytes"].tolist() == [5, 7]


def test_rows_that_a_full_disk_refused_are_in_the_table_at_the_end(tmp_path):
    folder = PhaseFolder(tmp_path / "phase")
    folder.begin(TOLD)
    folder._journal.close()
    folder._journal = Full()
    ones = [done(0), done(1), done(2)]
    for one in ones:
        folder.add(one)
    assert folder.warnings == ["client.csv could not be written: No space left on device"]
    assert folder.end(ones, [], {**TOLD, "complete": True, "why": "", "warnings": []})
    assert told(folder)["warnings"] == folder.warnings
    assert len(pd.read_csv(folder.path / "client.csv.gz")) == 3


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/phase: cannot be made: Not a directory$"):
        PhaseFolder(tmp_path / "file" / "phase")
