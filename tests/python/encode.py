"""Exact, JSON-friendly descriptions of Python values.

Needs: NumPy. Promises: two values get the same description exactly when a program could not tell
them apart by type, value or bits; identity is not described, except that a cycle is named. NaNs of
one type count as one value unless `nan_bits` is asked for. Mappings keep their order.
"""
import hashlib
import struct
import types

import numpy as np

# Arrays up to this many bytes are described in full, larger ones by digest and a few elements.
FULL_BYTES = 1 << 12


def _float_text(x, nan_bits):
    if x != x and not nan_bits:
        return "nan"
    return struct.pack(">d", x).hex() + " " + repr(x)


def _normal_bytes(a, nan_bits):
    """The array's elements in C order, every NaN replaced by one NaN unless bits matter."""
    flat = np.ascontiguousarray(a)
    if flat.dtype.kind in "fc" and not nan_bits:
        flat = flat.copy()
        parts = flat.view(flat.real.dtype) if flat.ndim else flat.reshape(1).view(flat.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return flat.tobytes()


def _array(a, nan_bits, path):
    head = ["ndarray" if type(a) is np.ndarray else type(a).__qualname__, a.dtype.str, list(a.shape),
            list(a.strides), "rw" if a.flags.writeable else "ro"]
    if a.dtype.hasobject:
        return head + [[encode(x, nan_bits, path) for x in a.ravel().tolist()]]
    data = _normal_bytes(a, nan_bits)
    if len(data) <= FULL_BYTES:
        return head + [data.hex(), repr(a.ravel().tolist()[:64])]
    return head + [hashlib.sha256(data).hexdigest(), repr(a.ravel()[:8].tolist())]


def _exception(e, nan_bits, path):
    return ["exception", type(e).__module__ + "." + type(e).__qualname__, encode(e.args, nan_bits, path)]


def encode(x, nan_bits=False, path=()):
    """Describe `x` by nested lists of strings; `path` holds the ids of the enclosing containers."""
    t = type(x)
    if x is None or x is Ellipsis or x is NotImplemented or t is bool:
        return repr(x)
    if t is int:
        return "int " + (repr(x) if -1 << 64 < x < 1 << 64 else hex(x))
    if t is float:
        return "float " + _float_text(x, nan_bits)
    if t is complex:
        return f"complex {_float_text(x.real, nan_bits)} {_float_text(x.imag, nan_bits)}"
    if t is str or t is bytes or t is bytearray:
        return t.__name__ + " " + repr(x)
    if isinstance(x, np.generic) and not isinstance(x, (np.void, np.object_)):
        return [f"np.{t.__name__}", _normal_bytes(np.asarray(x), nan_bits).hex(), repr(x)]
    if id(x) in path:
        return "cycle"
    path = path + (id(x),)
    if isinstance(x, np.ndarray):
        return _array(x, nan_bits, path)
    if t in (list, tuple):
        return [t.__name__] + [encode(v, nan_bits, path) for v in x]
    if t in (set, frozenset):
        return [t.__name__] + sorted((encode(v, nan_bits, path) for v in x), key=repr)
    if isinstance(x, dict):
        return [t.__qualname__] + [[encode(k, nan_bits, path), encode(v, nan_bits, path)] for k, v in x.items()]
    if isinstance(x, BaseException):
        return _exception(x, nan_bits, path)
    if isinstance(x, (range, slice, np.dtype)):
        return t.__name__ + " " + repr(x)
    return _other(x, t, nan_bits, path)


def _other(x, t, nan_bits, path):
    name = t.__module__ + "." + t.__qualname__
    if isinstance(x, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, types.ModuleType)):
        return f"{name} {getattr(x, '__qualname__', x.__name__)}"
    if name in ("builtins.range_iterator", "builtins.list_iterator", "builtins.tuple_iterator",
                "builtins.enumerate", "builtins.zip", "builtins.str_iterator"):
        return [name, encode(x.__reduce__()[1:], nan_bits, path)]
    if isinstance(x, types.CellType):
        try:
            return [name, encode(x.cell_contents, nan_bits, path)]
        except ValueError:
            return [name, "empty"]
    fields = getattr(x, "__dict__", None)
    if isinstance(fields, dict):
        return [name, encode(dict(fields), nan_bits, path)]
    return name


def differences(a, b, where="", limit=12):
    """Readable places where two descriptions differ."""
    if a == b:
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        out = []
        for k in list(a) + [k for k in b if k not in a]:
            if a.get(k) != b.get(k):
                out += differences(a.get(k), b.get(k), f"{where}.{k}", limit)
        return out[:limit]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        out = []
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                out += differences(x, y, f"{where}[{i}]", limit)
        return out[:limit]
    if isinstance(a, str) and isinstance(b, str) and max(len(a), len(b)) > 700:
        start = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        where += f" ({len(a)} and {len(b)} characters, from {start})"
        a, b = a[max(0, start - 100):], b[max(0, start - 100):]
    return [f"{where}:\n      interpreter: {_short(a)}\n      hotloop:     {_short(b)}"]


def _short(x):
    text = x if isinstance(x, str) else repr(x)
    return text if len(text) <= 700 else text[:690] + " ..."
