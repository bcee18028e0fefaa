"""Numbers that are written into bytes, or by ``json``, and read back: an error where a derivative is wanted."""

import io
import json
import marshal
import os
import pickle
import struct
import tempfile
import zlib

import numpy as np
import pytest
from language.in_all_modes import MODES, differences

import autodiff_hook as ad


def packed(x):
    return struct.unpack("<d", struct.pack("<d", x))[0]


def packed_by_an_object(x):
    pair = struct.Struct("<2d")
    return pair.unpack(pair.pack(x, x * x))[1]


def packed_into(x):
    buffer = bytearray(16)
    struct.pack_into("<2d", buffer, 0, x, x * x)
    return struct.unpack_from("<d", buffer, 8)[0] * x


def iterated(x):
    return sum(v for (v,) in struct.iter_unpack("<d", struct.pack("<2d", x, x)))


def joined(x):
    return struct.unpack("<d", b"".join([struct.pack("<d", x)]))[0] * x


def cut_and_added(x):
    return struct.unpack("<d", (struct.pack("<d", x) + b"rest")[:8])[0]


def bits(x):
    return struct.unpack("<d", struct.pack("<q", struct.unpack("<q", struct.pack("<d", x))[0]))[0]


def bytearrays(x):
    buffer = bytearray(struct.pack("<d", 1.0))
    buffer[:] = struct.pack("<d", x)
    return struct.unpack("<d", buffer)[0] * x


def longer_bytearrays(x):
    buffer = bytearray()
    buffer.extend(struct.pack("<d", x))
    buffer += struct.pack("<d", x)
    return struct.unpack_from("<d", buffer)[0] * x


def memoryviews(x):
    buffer = bytearray(8)
    memoryview(buffer).cast("d")[0] = x
    return struct.unpack("<d", buffer)[0] * x


def shown_by_numpy(x):
    buffer = bytearray(8)
    shown = np.frombuffer(buffer)
    struct.pack_into("<d", buffer, 0, x)
    return float(shown[0]) * x


def files_in_memory(x):
    file = io.BytesIO()
    file.write(struct.pack("<d", x))
    return struct.unpack("<d", file.getvalue())[0]


def compressed(x):
    return struct.unpack("<d", zlib.decompress(zlib.compress(struct.pack("<d", x))))[0]


def pickled(x):
    return pickle.loads(pickle.dumps({"a": x}))["a"]


def pickled_arrays(x):
    return pickle.loads(pickle.dumps(np.array([x])))[0]


def marshalled(x):
    return marshal.loads(marshal.dumps(x))


def bytes_of_arrays(x):
    return np.frombuffer(np.array([x]).tobytes())[0]


def made_bytes_of_arrays(x):
    return np.frombuffer(bytes(np.array([x])))[0]


def written_by_json(x):
    return json.loads(json.dumps({"a": [x]}))["a"][0] * x


def written_by_json_with_options(x):
    return json.loads(s=json.dumps([x], indent=1), parse_float=float)[0] * x


def decoded_by_objects(x):
    return json.JSONDecoder().decode(json.JSONEncoder().encode([x]))[0] * x


def dumped_by_json(x):
    file = io.StringIO()
    json.dump([x], file)
    file.seek(0)
    return json.load(file)[0] * x


def saved(x):
    file = io.BytesIO()
    np.save(file, np.array([x]))
    file.seek(0)
    return np.load(file)[0] * x


def saved_with_names(x):
    file = io.BytesIO()
    np.savez(file, a=np.array([x]))
    file.seek(0)
    return np.load(file)["a"][0] * x


def saved_as_text(x):
    file = io.StringIO()
    np.savetxt(file, np.array([x]))
    file.seek(0)
    return np.loadtxt(file)[()] * x


def saved_at_a_path(x):
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "a"), np.array([x]))
        return np.load(os.path.join(folder, "a.npy"))[0] * x


def saved_in_an_open_file(x):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        with open(path, "wb") as file:
            np.array([x]).tofile(file)
        return np.fromfile(path)[0] * x


REFUSED = [
    *(decoded_by_objects, dumped_by_json, saved, saved_with_names, saved_as_text),
    *(saved_at_a_path, saved_in_an_open_file),
    *(packed, packed_by_an_object, packed_into, iterated, joined, cut_and_added, bits, bytearrays, longer_bytearrays),
    *(memoryviews, shown_by_numpy, files_in_memory, compressed, pickled, pickled_arrays, marshalled, bytes_of_arrays),
    made_bytes_of_arrays,
    *(written_by_json, written_by_json_with_options),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", REFUSED)
def test_what_is_read_back_is_an_error(f, mode):
    with pytest.raises(ad.NotDifferentiable):
        MODES[mode](f, 0.7)


def written_but_not_read(x):
    buffer = bytearray(8)
    struct.pack_into("<d", buffer, 0, x)
    return x * len(buffer) * len(struct.pack("<d", x)) * len(pickle.dumps(x)) * len(b"".join([buffer, b"end"]))


def asked_for_its_form(x):
    found = json.loads(json.dumps({"a": x}))
    return x * x if "a" in found and len(found) == 1 else 0.0


def constants(x):
    buffer = bytearray(8)
    struct.pack_into("<d", buffer, 0, 2.0)
    return x * struct.unpack("<d", buffer)[0] * json.loads(json.dumps([3.0]))[0]


def written_to_files(x):
    with tempfile.TemporaryDirectory() as folder:
        given, log = os.path.join(folder, "given.npy"), os.path.join(folder, "log.npy")
        np.save(given, np.array([2.0]))
        y = x * np.load(given)[0]
        np.save(log, np.array([y]))
        return y * np.load(given)[0] * len(np.load(log))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [written_but_not_read, asked_for_its_form, constants, written_to_files])
def test_what_does_not_matter_is_no_error(f, mode):
    expected = differences(f, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](f, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-4)
