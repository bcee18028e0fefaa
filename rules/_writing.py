"""Which functions of the standard library that are not Python code write to their arguments.

All others only read them; a method may write to what it belongs to.
"""

import bisect
import heapq
import io
import json.encoder
import marshal
import operator
import pickle
import struct

from autodiff_hook.registry import writes

for name in vars(heapq):
    if name.lstrip("_").startswith("heap"):
        writes(getattr(heapq, name), 0)
for function in (bisect.insort, bisect.insort_left, bisect.insort_right):
    writes(function, 0)
for name in "setitem delitem iadd isub imul imatmul itruediv ifloordiv imod ipow iand ior ixor iconcat".split():
    writes(getattr(operator, name), 0)
writes(struct.pack_into, 1)
writes(struct.Struct.pack_into, 1)
for cls in (io.BytesIO, io.BufferedReader, io.BufferedRandom, io.BufferedRWPair, io.FileIO):
    writes(cls.readinto, 0, 1)
for cls in (io.BytesIO, io.BufferedReader, io.BufferedRandom, io.BufferedRWPair):
    writes(cls.readinto1, 0, 1)
for function in (pickle.dumps, marshal.dumps, marshal.dump):
    writes(function)
writes(pickle.dump, 1)
if json.encoder.c_make_encoder is not None:
    writes(json.encoder.c_make_encoder)
for function in (setattr, delattr, next):
    writes(function, 0)
writes(exec, 0, 1, 2)
writes(eval, 0, 1, 2)
