"""Stages composed of layer and kernel timings, against lines fitted to the same tables independently."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sources_shared import DATA, ROOT, line_of

from simsched.fit import fit_line, inspect_profile, read_profiles
from simsched.fit.sources import compose_layers

LAYERS = ROOT / "calibration" / "layers"
ATTENTION = LAYERS / "a100_sglang_context_attention_bf16.csv.gz"
DECODE = DATA / "layers" / "a100_sglang_generation_attention_bf16.csv.gz"
LLAMA_2 = LAYERS / "a100_Llama-2-7b-hf_mlp_tp1.csv.gz"
REFERENCE = pd.read_csv(ROOT / "calibration" / "published" / "reference_fits.csv")
COUNTS = [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64]


def composed(model="Llama-2-7b-hf", counts=(1, 2, 4), length=128, **options):
    mlp = LAYERS / f"a100_{model}_mlp_tp1.csv.gz"
    return compose_layers(mlp, ATTENTION, layers=32, length=length, counts=counts, **options)


@pytest.mark.parametrize(("row", "model"), [*enumerate(["Llama-2-7b-hf", "phi-2", "Meta-Llama-3-8B"])])
def test_lines_are_those_of_the_reference(row, model):
    reference = REFERENCE.iloc[row]  # the first three are composed
    assert model in reference["curve"]
    counts = [count for count in COUNTS if count <= reference["Nmax"]]
    samples = composed(model, counts, head_dim=128)
    assert samples.n == reference["n"]
    line = fit_line(samples, by="count", loss="absolute")
    assert line.curve.a_ms == pytest.approx(reference["a"], abs=5e-4)
    assert line.curve.b_ms == pytest.approx(reference["b"], abs=5e-5)
    assert line.rmse_ms == pytest.approx(reference["rmse_lin"], abs=5e-4)


def test_negative_control_one_add_is_another_line():
    line = fit_line(composed(counts=COUNTS[:12], adds=1), loss="absolute")
    assert line.curve.b_ms != pytest.approx(REFERENCE.iloc[0]["b"], abs=0.01)


def test_a_sample_is_layers_times_operations_and_attention():
    dense = pd.read_csv(LLAMA_2)
    at = dense[dense["num_tokens"] == 256].iloc[0]
    operations = at.filter(regex="^(?!.*_std_ms).*_ms$").drop("emb_ms").sum() + at["add_ms"]
    kernels = pd.read_csv(ATTENTION)
    of = (kernels["isl"] == 128) & (kernels["num_heads"] == 32) & (kernels["num_key_value_heads"] == 32)
    attention = kernels[of & (kernels["batch_size"] == 2)]["latency_ms"].mean()
    assert composed().ms[1] == pytest.approx(32 * (operations + attention))
    assert composed(embedding=True).ms[1] == pytest.approx(32 * (operations + attention) + at["emb_ms"])


def test_many_lengths_are_a_grid():
    samples = composed(length=[128, 192, 256])
    assert samples.count.tolist() == [1, 2, 4] * 3
    assert samples.longest.tolist() == [128] * 3 + [192] * 3 + [256] * 3
    assert samples.total.tolist() == (samples.count * samples.longest).tolist()
    assert np.all(np.diff(samples.ms[:3]) > 0)
    assert samples.ms[0] < samples.ms[3] < samples.ms[6]  # 192 lies between the table's 128 and 256
    assert samples.of_medians
    assert samples.source == "a100_Llama-2-7b-hf_mlp_tp1.csv.gz + a100_sglang_context_attention_bf16.csv.gz, 32 layers"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"counts": (1, 2, 64)}, f"{LLAMA_2}: has tokens of 1–4096, asked for 8192: nothing is extrapolated"),
        ({"counts": (1, 2, 300), "length": 1}, f"{ATTENTION}: has batches at length 1 of 1–128, asked for 300: nothing "
         "is extrapolated"),
        ({"counts": (1,), "length": [1, 0]}, f"{LLAMA_2}: has tokens of 1–4096, asked for 0: nothing is extrapolated"),
        ({"model": "phi-2"}, f"{ATTENTION}: has no head_dim 80: it has 128; name one of these (head_dim)"),
        ({"gpu": "H100"}, f"{ATTENTION}: is of NVIDIA A100-SXM4-80GB, {LLAMA_2.name} of H100: a stage runs on one GPU"),
    ],
)  # fmt: skip
def test_beyond_the_tables_is_refused(options, line):
    assert line_of(composed, **options) == line


def changed(tmp_path, source, name, change):
    path = tmp_path / name
    path.write_text(change(pd.read_csv(source)).to_csv(index=False))
    return path


@pytest.mark.parametrize(
    ("name", "change", "line"),
    [
        ("mine.csv", lambda table: table, "names no GPU: say which it is of (gpu)"),
        ("a100.csv", lambda table: table.assign(n_embd=[64] + [4096] * (len(table) - 1)),
         "mixes several n_embd: keep the rows of one model and one degree of parallelism"),
        ("a100.csv", lambda table: table.drop(columns="num_tokens"), "is no layer table of Vidur: it lacks column "
         "num_tokens"),
        ("a100.csv", lambda table: table.assign(add_ms=-0.5), "add_ms in data row 1: got -0.5, must be a number, "
         "more than 0"),
    ],
)  # fmt: skip
def test_damaged_layer_table(tmp_path, name, change, line):
    path = changed(tmp_path, LLAMA_2, name, change)
    assert line_of(compose_layers, path, ATTENTION, layers=32, length=128, counts=[1, 2, 4]) == f"{path}: {line}"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda table: table.assign(device=["NVIDIA H100"] + ["NVIDIA A100"] * (len(table) - 1)),
         "has rows of several GPUs, keep one: NVIDIA A100, NVIDIA H100"),
        (lambda table: table[table["num_heads"] != 32], "has no num_heads 32: it has 1, 2, 4, 8, 12, 16, 24, 40, "
         "48, 64, 96"),
        (lambda table: table[table["isl"] > 200], "has lengths of 256–16384, asked for 128: nothing is extrapolated"),
    ],
)  # fmt: skip
def test_damaged_attention_table(tmp_path, change, line):
    path = changed(tmp_path, ATTENTION, "attention.csv", change)
    assert line_of(compose_layers, LLAMA_2, path, layers=32, length=128, counts=[1, 2, 4]) == f"{path}: {line}"


def test_wrong_tables_and_layers():
    assert line_of(compose_layers, LLAMA_2, DECODE, layers=32, length=128, counts=[1]) == (
        f"{DECODE}: has no rows at step 0: it times decoding; give the table of context attention"
    )
    assert line_of(compose_layers, ATTENTION, LLAMA_2, layers=32, length=128, counts=[1]) == (
        f"{ATTENTION}: is no layer table of Vidur: it lacks column num_tokens, n_head, n_kv_head, n_embd, "
        "num_tensor_parallel_workers, emb_ms, add_ms"
    )
    assert line_of(compose_layers, LLAMA_2, ATTENTION, layers=0, length=1, counts=[1]) == (
        "layers: got 0, must be at least 1"
    )


UNFIT = "holds times of single layers or kernels, no batches of a stage: compose them with compose_layers"


def test_tables_are_inspected_and_refused_as_a_profile():
    assert inspect_profile(ATTENTION).lines() == [
        f"{ATTENTION.name}: attention kernel timings, 5,627 rows",
        "batch_size 1–256",
        "isl 1–16384",
        "num_heads 1–96",
        "head_dim 128",
        "GPU: NVIDIA A100-SXM4-80GB",
        "clock: none: a row is one operation",
        "columns: device, framework, version, batch_size, isl, num_heads, num_key_value_heads, head_dim, attn_dtype, "
        "kv_cache_dtype, step, latency_ms",
        "missing: batches of a stage",
        f"cannot be fitted: {UNFIT}",
    ]
    vidur = inspect_profile(LLAMA_2)
    assert vidur.format == "Vidur layer timings, 261 rows"
    assert vidur.gpus == ("A100",)
    assert line_of(read_profiles, [LLAMA_2]) == f"{LLAMA_2}: {UNFIT}"


def test_matrix_products_are_known(tmp_path):
    path = tmp_path / "gemm.csv.gz"  # the header and first rows of aiconfigurator's a100_sglang_gemm_bf16
    rows = "device,framework,version,gemm_dtype,m,n,k,latency_ms\n"
    rows += "NVIDIA A100-SXM4-80GB,SGLang,0.5.10,bfloat16,1,512,512,0.004628\n"
    path.write_bytes(gzip.compress(rows.encode()))
    assert inspect_profile(path).format == "matrix product timings, 1 rows"
