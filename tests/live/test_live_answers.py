"""Bytes of answers: streams cut anywhere, headers of sound, lengths that do not fit."""

import io
import json
import struct
import wave
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simsched.core import InputError
from simsched.live.load import Endpoint, parse_fields
from simsched.live.load.answers import Event, EventReader, wav_header
from simsched.live.load.clock import SteadyClock
from simsched.live.load.exchange import Exchange
from simsched.live.load.lengths import mark_lengths
from simsched.live.load.plan import Planned

STREAM = (
    b": a comment\r\n\r\n"
    b'data: {"id": "chatcmpl-7", "choices": [{"delta": {"role": "assistant"}}]}\r\n\r\n'
    b'data: {"id": "chatcmpl-7", "choices": [{"delta": {"content": "h\xc3\xa9"}}]}\n\n'
    b'data: {"type": "speech.audio.delta", "audio": "AAAA"}\n\n'
    b'data: {"choices": [{"delta": {"audio": {"data": "AAA="}}}]}\n\n'
    b'data: {"choices": []}\n\n'
    b"data: not json\n\n"
    b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
    b"data: [DONE]\n\n"
)


def planned(size=6.0, **fields):
    told = {"number": 0, "attempt": 1, "size": size, "cls": "", "tenant": "", "due_ns": None, "think_ns": 0}
    return Planned(**{**told, "deadline_ns": None, "patience_ns": None, **fields})


@given(cuts=st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_a_stream_is_the_same_wherever_it_is_cut(cuts):
    reader, edges = EventReader(), [0, *sorted(cuts), len(STREAM)]
    found = [event for i, j in pairwise(edges) for event in reader.feed(STREAM[i:j])]
    assert [event.bytes for event in found] == [0, 3, 3, 2, 0, 8, 0, 0]
    assert [event.ends for event in found] == [False] * 6 + [True, True]
    assert {event.id for event in found[:2]} == {"7"}
    assert reader.ended


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"error": {"message": "no\nvoice"}}, "no voice"),
        ({"error": "gone"}, "gone"),
        ({"type": "error", "error": 3}, "3"),
    ],
)
def test_an_error_within_a_stream_is_found(data, said):
    reader = EventReader()
    assert reader.feed(f"data: {json.dumps(data)}\n".encode()) == [Event(error=said)]
    assert not reader.ended


def test_a_speech_stream_ends_by_its_own_word():
    reader = EventReader()
    reader.feed(b'data: {"type": "speech.audio.done", "usage": null}\n')
    assert reader.ended


def wav(count, rate=24000):
    with io.BytesIO() as file:
        with wave.open(file, "wb") as sound:
            sound.setparams((1, 2, rate, 0, "NONE", ""))
            sound.writeframes(bytes(2 * count))
        return file.getvalue()


def test_a_header_with_other_chunks_before_the_sound_is_read():
    whole = wav(480)
    listed = whole[:36] + b"LIST" + struct.pack("<I", 5) + bytes(6) + whole[36:]
    assert wav_header(listed) == (44 + 14, 960, 48000)


def test_a_streamed_header_does_not_know_its_length():
    whole = wav(480)
    assert wav_header(whole[:40] + b"\xff\xff\xff\xff" + whole[44:]).data_bytes is None


@pytest.mark.parametrize("head", [b"", b"RIFF", b"OggS" + bytes(60), wav(10)[:30]])
def test_what_is_no_wav_has_no_header(head):
    assert wav_header(head) is None


def answers(*given):
    """Exchanges of (words, seconds of audio)."""
    return [
        Exchange(planned=planned(float(words)), clock=int, outcome="done", audio_s=audio_s) for words, audio_s in given
    ]


def test_answers_in_proportion_are_right_and_a_frame_is_no_mistake():
    assert mark_lengths(answers((6, 1.92), (6, 1.90), (60, 19.2), (1, 0.32), (1, 0.24)), 4.0) == 0


def test_answers_out_of_proportion_are_marked():
    found = answers((6, 1.92), (6, 1.92), (60, 19.2), (60, 9.6), (1, 0.16), (6, 4.0))
    assert mark_lengths(found, 4.0) == 3
    assert [one.length for one in found] == ["", "", "", "short", "short", "long"]


def test_without_a_scale_nothing_is_known_of_lengths_but_what_an_answer_promises():
    found = answers((6, 1.92), (60, 1.92))
    found[0].stated_bytes, found[0].bytes = 1000, 600
    assert mark_lengths(found, None) == 1
    assert [one.length for one in found] == ["cut", ""]


def test_what_is_not_done_has_no_length():
    found = answers((6, 1.92), (60, 0.0))
    found[1].outcome = "failed"
    assert mark_lengths(found, 4.0) == 0


# requests -------------------------------------------------------------------------------------------------------


def test_the_body_of_a_speech():
    body = Endpoint(model="m", fields={"voice": "a"}).body(planned(3.0, tenant="t"))
    assert body == {"model": "m", "input": "w w w ", "response_format": "wav", "voice": "a"}
    assert Endpoint(stream=True).body(planned())["response_format"] == "pcm"


def test_the_body_of_a_chat():
    body = Endpoint(kind="chat", model="m").body(planned(2.0, cls="short", deadline_ns=1_500_000))
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "w w "}],
        "stream": False,
        "metadata": {"class": "short", "deadline_ms": "1.5"},
    }
    assert "metadata" not in Endpoint(kind="chat").body(planned())


def test_a_field_of_the_clients_own_is_refused():
    with pytest.raises(InputError, match=r"^--field: got 'input', which the client itself writes$"):
        parse_fields(["input=x"])


# the clock ------------------------------------------------------------------------------------------------------


def test_a_clock_that_is_set_does_not_move_the_clients_time():
    wall, steady = [1000, 50_000_001_000, 51_000_001_000], [0, 1_000_000_000, 2_000_000_000]
    at = [0]
    clock = SteadyClock(lambda: wall[at[0]], lambda: steady[at[0]])
    clock.check()
    assert clock.warning == ""
    at[0] = 1
    clock.check()
    assert clock.now_ns() == 1_000_001_000
    assert "the clock stepped by +49.000 s" in clock.warning


def test_slewing_is_no_step():
    wall, steady = iter([0, 1_001_000_000]), iter([0, 1_000_000_000])
    clock = SteadyClock(lambda: next(wall), lambda: next(steady))
    clock.check()
    assert clock.warning == ""
