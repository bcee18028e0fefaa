"""Structured arrays from outside, and their rows: each field is an array or a number that is loaded on entry."""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np

from autodiff_hook.ir.types import Operand
from autodiff_hook.runtime.lookup import has_in_type
from autodiff_hook.transform.specialise.abstract import Outside
from autodiff_hook.transform.specialise.infer import Inference

_RECORDS: Final = (np.ndarray, np.recarray, np.void, np.record)


def is_part(inf: Inference, owner: Operand, value: Outside, key: Any) -> bool:
    """Whether a key names a field of a structured array or of a row of one, or a row."""
    if not _is_record(inf, owner, value):
        return False
    if type(key) is str:
        return key in value.example.dtype.names
    return has_rows(inf, owner, value) and type(key) is int and -len(value.example) <= key < len(value.example)


def has_rows(inf: Inference, owner: Operand, value: Outside) -> bool:
    """Whether a value is a structured array of one axis."""
    return _is_record(inf, owner, value) and value.example.ndim == 1


def is_field(inf: Inference, owner: Operand, value: Outside, name: str) -> bool:
    """Whether an attribute of a record array, or of a row of one, is a field."""
    by_name = value.cls in (np.recarray, np.record) and _is_record(inf, owner, value)
    return by_name and name in value.example.dtype.names and not has_in_type(value.cls, name)


def _is_record(inf: Inference, owner: Operand, value: Outside) -> bool:
    if value.cls not in _RECORDS or value.example.dtype.names is None:
        return False
    return not inf.world.is_given(inf.final(owner)) and _lie_apart(value.example.dtype)


def _lie_apart(dtype: np.dtype[Any]) -> bool:
    """Whether no two fields share memory."""
    fields = sorted([(place, place + part.itemsize) for part, place, *_ in dtype.fields.values()])  # type: ignore[union-attr]
    return all([end <= begin for (_, end), (begin, _) in itertools.pairwise(fields)])
