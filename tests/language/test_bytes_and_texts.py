"""Numbers that are written into bytes or texts, and read back: an error where a derivative is wanted.

A text that shows all digits of a number has its derivative.
"""

import ast
import contextlib
import datetime
import hashlib
import io
import json
import logging
import marshal
import operator
import os
import pickle
import re
import struct
import tempfile
import types
import zlib
from decimal import Decimal
from fractions import Fraction

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


def saved_and_mapped(x):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        np.array([x]).tofile(path)
        return float(np.memmap(path, dtype=float, mode="r")[0]) * x


def in_a_temporary_file(x):
    with tempfile.TemporaryFile() as file:
        file.write(struct.pack("<d", x))
        file.seek(0)
        return struct.unpack("<d", file.read())[0] * x


def formatted(x):
    return float(f"{x:.18f}") * x


def formatted_by_methods(x):
    return float("{:.3f}".format(x)) + float("%.3f" % x) + float(x.__format__(".3f"))


def joined_texts(x):
    return sum(map(float, f"{x} {x * x}".split()))


def cut_texts(x):
    return float(str(x)[:3]) * x


def added_texts(x):
    text = "1"
    text += str(x)
    return float(text)


def texts_letter_by_letter(x):
    return float("".join([letter for letter in str(x)]))


def unpacked_texts(x):
    first, *rest = str(x)
    return float("".join([first, *rest]))


def encoded_texts(x):
    return float(str(x).encode().decode())


def texts_of_lists(x):
    return float(str([x, 2.0])[1:4])


def texts_found_by_expressions(x):
    return float(re.match("(.*)", str(x)).group(1))


def texts_in_arrays(x):
    return np.array([f"{x}"]).astype(float)[0]


def items_of_texts_in_arrays(x):
    return float(np.array([f"{x:.3f}", "2"])[0])


def lists_of_texts_in_arrays(x):
    return float(np.array([f"{x}"]).tolist()[0])


def texts_that_numpy_holds(x):
    return float(np.str_(f"{x}")) + float(np.char.add(np.array([f"{x}"]), "1").item())


def texts_in_arrays_one_by_one(x):
    return sum(float(text) for text in np.asarray((repr(x), "2")))


def texts_in_arrays_of_objects(x):
    sheet = Sheet()
    sheet.write(np.concatenate([np.array([str(x)]), ["1"]]).astype("U8"))
    return float(sheet.lines[0][0])


def numbers_as_texts_in_arrays(x):
    return float(np.array([x]).astype(str)[0])


def numbers_that_become_texts_in_arrays(x):
    return np.array([x], dtype="U9").astype(float)[0]


def numbers_as_texts_of_numpy(x):
    return float(np.str_(x))


NEW_YEAR = datetime.datetime(2020, 1, 1)
NUMBERS = np.array(["1.5", "2"])


def texts_beside_others_in_arrays(x):
    return np.append(NUMBERS, f"{x}").astype(float).sum()


def texts_in_the_place_of_others(x):
    chosen = np.where(NUMBERS == "2", f"{x}", NUMBERS)
    return float(np.stack([chosen, chosen])[1][1])


def texts_replaced_in_arrays(x):
    return float(np.char.replace(NUMBERS, "2", f"{x}")[1])


def dates_read_from_texts(x):
    return datetime.datetime.strptime(f"{x}", "0.%f").microsecond / 1e6


def times_read_from_texts(x):
    return (datetime.datetime.fromisoformat(f"2020-01-01T00:00:0{x:.6f}") - NEW_YEAR).total_seconds()


def texts_read_by_numpy(x):
    return np.fromstring(f"{x} 2", sep=" ")[0]


def lines_read_by_numpy(x):
    return np.loadtxt([f"{x}"])[()] * x


def lines_of_a_generator_read_by_numpy(x):
    return np.genfromtxt(f"{v} {v}" for v in (x, 2.0 * x)).sum() * x


def arrays_of_texts_that_are_split(x):
    return float(np.split(np.array([f"{x}", "2"]), 2)[0][0])


DAYS = np.array(["2020-01-01", "2020-01-05"], "M8[D]")
DAY = np.timedelta64(1, "D")


def moments_read_from_texts(x):
    return float((np.datetime64(f"2020-01-01T00:00:00.{x}"[:21] + "00") - DAYS[0]) / np.timedelta64(1, "s"))


def times_of_numbers(x):
    return ((DAYS - DAYS[0]) * (10.0 * x))[1].astype(float)


def shares_of_times_of_numbers(x):
    return float((DAYS[1] - DAYS[0]) * (10.0 * x) / DAY)


def moments_made_by_numbers(x):
    return ((DAYS + (np.array([x, 10.0 * x]).astype("m8[D]")))[1] - DAYS[0]) / DAY


def texts_in_files(x):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        with open(path, "w") as file:
            file.write(f"{x}\n")
        with open(path) as file:
            return float(file.read())


def lines_of_files(x):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        with open(path, "w") as file:
            file.writelines([f"{x}\n"])
        with open(path) as file:
            return sum(float(line) for line in file)


def texts_of_objects(x):
    class Shown:
        def __str__(self):
            return f"{x:.3f}"

    return float(str(Shown()))


def whole(x):
    return int.from_bytes(struct.pack(">d", x), "big")


def all_digits_of_whole_numbers(x):
    return int(f"{x * 1e18:.0f}") / 1e18


def all_digits_by_percent(x):
    return int("%d" % (x * 1e18)) / 1e18


def all_digits_in_hexadecimal(x):
    return int(struct.pack(">d", x).hex(), 16) / 2**64


def masked_bits(x):
    return (whole(x) & (2**64 - 1)) / 2**64


def shifted_bits(x):
    return ((whole(x) >> 1) << 2) / 2**64


def bits_of_what_was_computed(x):
    return ((whole(x) * 3 - 7) >> 1) / 2**64


def inverted_bits(x):
    return ~(5 | whole(x)) / 2**64


def bits_in_place(x):
    i = whole(x)
    i ^= 3
    return operator.and_(i, 2**64 - 1) / 2**64


class Sheet:
    def __init__(self):
        self.lines = []

    def write(self, text):
        self.lines.append(text)


def printed_to_a_file(x):
    file = io.StringIO()
    print("found", x, file=file)
    return float(file.getvalue().split()[1])


def handed_on_by_a_stream(x):
    under = io.BytesIO()
    file = io.TextIOWrapper(io.BufferedWriter(under))
    file.write(f"{x}")
    file.flush()
    return float(under.getvalue())


def printed_where_printing_goes(x):
    with contextlib.redirect_stdout(io.StringIO()) as file:
        print(x)
    return float(file.getvalue())


def printed_to_an_object(x):
    sheet = Sheet()
    print(x, file=sheet)
    return float(sheet.lines[0])


def read_as_a_literal(x):
    return ast.literal_eval(repr(x))


def read_out_of_a_tree(x):
    return compile(repr(x), "text", "eval", ast.PyCF_ONLY_AST).body.value


def run_as_code(x):
    return eval(compile(repr(x), "text", "eval"), {}) * x


def executed_as_code(x):
    names = {}
    exec(compile(f"y = {x!r}", "text", "exec"), names)
    return names["y"] * x


def constants_of_code(x):
    return compile(repr(x), "text", "eval").co_consts[0] * x


def constants_put_into_code(x):
    return one.__code__.replace(co_consts=(None, x)).co_consts[1] * x


def functions_of_code(x):
    return types.FunctionType(one.__code__.replace(co_consts=(None, x)), {})() * x


def one():
    return 1.0


REFUSED = [
    *(run_as_code, executed_as_code, constants_of_code, constants_put_into_code),
    functions_of_code,
    handed_on_by_a_stream,
    *(printed_to_a_file, printed_where_printing_goes, printed_to_an_object, read_as_a_literal, read_out_of_a_tree),
    *(all_digits_of_whole_numbers, all_digits_by_percent, all_digits_in_hexadecimal),
    *(masked_bits, shifted_bits, bits_of_what_was_computed, inverted_bits, bits_in_place),
    *(formatted, formatted_by_methods, joined_texts, cut_texts, added_texts, texts_letter_by_letter, unpacked_texts),
    *(encoded_texts, texts_of_lists, texts_found_by_expressions, texts_in_arrays, texts_read_by_numpy, texts_in_files),
    *(items_of_texts_in_arrays, lists_of_texts_in_arrays, texts_that_numpy_holds, texts_in_arrays_one_by_one),
    *(numbers_as_texts_in_arrays, numbers_that_become_texts_in_arrays, numbers_as_texts_of_numpy),
    *(texts_beside_others_in_arrays, texts_in_the_place_of_others, dates_read_from_texts, times_read_from_texts),
    *(texts_in_arrays_of_objects, texts_replaced_in_arrays, arrays_of_texts_that_are_split),
    *(lines_read_by_numpy, lines_of_a_generator_read_by_numpy),
    *(moments_read_from_texts, times_of_numbers, shares_of_times_of_numbers, moments_made_by_numbers),
    *(lines_of_files, texts_of_objects),
    *(decoded_by_objects, dumped_by_json, saved, saved_with_names, saved_as_text),
    *(saved_at_a_path, saved_in_an_open_file, saved_and_mapped, in_a_temporary_file),
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


def all_digits(x):
    return float(str(x)) * float(repr(x)) * float(f"{x}") * float(f"{x!r}") * float(format(x))


def all_digits_of_what_is_exact(x):
    return float(Decimal(str(x)) * Decimal(x)) * float(Fraction(str(x)))


def all_digits_in_containers(x):
    texts = {"a": str(x), "b": [str(x * x)]}
    return float(texts["a"]) * np.array([texts["b"][0], "2"], dtype=float)[0] * float(max(texts["b"][0], texts["b"][0]))


def all_digits_shown_by_an_object(x):
    class Shown:
        def __init__(self, value):
            self.value = value

        def __str__(self):
            return f"{self.value}"

    return float(str(Shown(x * x))) * x


def texts_that_are_asked(x):
    text = f"value {x:.3f}"
    text += "!" if text.startswith("v") and "0.7" in text and text != "value" else "?"
    return x * x * len(text) * text.count("!") * int(text[6])


def texts_as_keys(x):
    found = {f"{x:.2f}": x * x, "%.1f" % x: 2.0}
    return found["%.2f" % x] * x + sum(found.values())


def texts_as_keys_that_are_read(x):
    found = {f"{x}": x}
    found[str(x * x)] = 2.0
    return sum(float(key) * value for key, value in found.items()) * float(next(iter(found)))


def times_that_are_given(x):
    return x * x * float((DAYS[1] - DAYS[0]) / DAY) * len(DAYS + np.array([x, x]).astype("m8[D]"))


def texts_that_are_said(x):
    logging.getLogger(__name__).debug("%s of %s", x, f"{x:.3f}")
    try:
        raise ValueError(f"{x} is too small")
    except ValueError as error:
        return x * x if "too small" in str(error) else 0.0


def texts_of_constants(x):
    scale = float("%.2f" % 2.0) * float(f"{2.0:.1f}")
    return x * x * scale


class Tracked:
    """What looks whether its array has been changed by a hash of the content."""

    def __init__(self, values):
        self.values, self.cached, self.known = values, {}, None

    def __hash__(self):
        return int(hashlib.sha256(self.values.tobytes()).hexdigest(), 16)

    def squares(self):
        if hash(self) != self.known:
            self.cached, self.known = {}, hash(self)
        if "squares" not in self.cached:
            self.cached["squares"] = self.values * self.values
        return self.cached["squares"]


def hashes_of_content(x):
    tracked = Tracked(np.array([x, 2.0 * x]))
    return (tracked.squares() * tracked.squares()).sum()


def bits_of_seeds(x, seed=12345):
    for _ in range(3):
        seed = (6364136223846793005 * seed + 1442695040888963407) & (2**64 - 1)
        x = x * (1.0 + (seed >> 33) / 2**31)
    return x * x


def code_that_is_given(x):
    names = {}
    exec(compile("y = 2.0", "text", "exec"), names)
    made = types.FunctionType(one.__code__, {})
    return made() * names["y"] * x * len(one.__code__.co_consts) * len(compile(repr(x), "text", "eval").co_code)


IN_ORDER = [
    code_that_is_given,
    *(hashes_of_content, bits_of_seeds),
    *(written_but_not_read, asked_for_its_form, constants, written_to_files, all_digits, all_digits_of_what_is_exact),
    *(all_digits_in_containers, all_digits_shown_by_an_object, texts_that_are_asked, texts_as_keys),
    *(texts_as_keys_that_are_read, times_that_are_given),
    *(texts_that_are_said, texts_of_constants),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", IN_ORDER)
def test_what_does_not_matter_is_no_error(f, mode):
    expected = differences(f, 0.7, 2 if mode == "hvp" else 1)
    assert MODES[mode](f, 0.7) == pytest.approx(expected, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize("of", [ad.gradient, lambda f, *args: ad.pullback(f, *args)[1](1.0)])
def test_a_time_that_is_given_has_no_derivative(of):
    assert of(lambda x, passed: x * (passed / DAY), 2.0, 3 * DAY) == (3.0, None)
