"""Kinds of stages. Gated: a batch is fixed from start to end. Iterative and streaming stages stand beside it."""
