"""A scenario to load a fake server with, and ways to look at the phase that is left behind."""

import json
from collections import Counter

import pandas as pd
from cli_command import here

SCENARIO = """\
name: small
gpus: {gpu0: {}}
stages:
  server: {gpu: gpu0, policy: {kind: drain, max_batch: 4}, cost: {kind: linear, a_ms: 5, b_ms: 0.5}, scale: 4}
pipeline: [server]
seed: 5
workload:
  arrivals: {kind: closed, users: 4}
  sizes: {kind: short80, short: 1, long: 3}
  requests: 60
"""
QUIET = ("--no-gpu-samples", "--warmup", 20)


def told(folder):
    return json.loads((folder / "phase.json").read_text(encoding="utf-8"))


def rows(folder):
    """client.csv, texts as they stand there."""
    return pd.read_csv(folder / "client.csv.gz", dtype=str, keep_default_na=False)


def outcomes(folder):
    return dict(Counter(rows(folder)["outcome"]))


def numbers(capsys, folder):
    return here(capsys, "live", "read", folder, "--json").json
