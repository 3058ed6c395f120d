"""Random loop programs: each is a module with helper functions and one function `f(a, b, m, x, y, n)` that returns all its variables.

Everything is decided by the seed. The programs mix Python and NumPy numbers, arrays of several dtypes, strides and dimensions, nested
loops, branches, early returns of helpers, exceptions (bad indices, zero divisors), warnings and type changes. Integers are kept
from growing without bound, so that a program ends in any case.
"""

import itertools
import random

import numpy as np

DTYPES = ["float64"] * 6 + ["int64"] * 4 + ["float32", "int32", "uint8", "bool"] * 2
DTYPES += ["int8", "int16", "uint16", "uint32", "uint64", "float16", "complex64", "complex128"]


OBJECTS = """\
G = 0
def add_to_global(k):
    global G
    if k % 3 == 0:
        G = (G + k) % 97
    return k
def star(*args, **more):
    return args[-1] if len(args) % 2 else len(args) + len(more)
def pair(p, q):
    return q, p
def looks():
    f = sys._getframe(1)
    return len(f.f_locals) + f.f_lineno % 5
def log(what):
    return None
def gen(n):
    global G
    for j in range(n):
        if j % 4 == 1:
            G = (G + j) % 97
        yield j
class Steps:
    def __init__(self, n):
        self.j, self.n = -1, n
    def __iter__(self):
        return self
    def __next__(self):
        self.j += 1
        if self.j >= self.n:
            raise StopIteration(self.j) if self.j % 7 else ZeroDivisionError("steps")
        return self.j
class O:
    def __init__(self):
        self.x = 0.5
    def __repr__(self):
        return "O"
    def bump(self, k):
        for j in range(2):
            self.x = self.x + 1
        return self.x
    @property
    def half(self):
        return self.x / 2
    @half.setter
    def half(self, value):
        self.x = value * 2
"""


class Program:
    """Makes one program from a seed: `source`, and `arguments()` for one call (fresh arrays each time)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.seed = seed
        self.lines = []
        self.depth = 0
        self.loops = []
        self.counter = 0
        self.numbers = ["s", "t", "u", "v", "w"]
        self.dtypes = [self.random.choice(DTYPES) for _ in range(3)]
        self.source = self.make()

    # ---- expressions

    def pick(self, *choices):
        return self.random.choice(choices)

    def index_name(self):
        return self.random.choice(self.loops) if self.loops else "0"

    def index(self):
        i = self.index_name()
        return self.pick(i, i, i, i, f"{i} - 1", f"{i} + 1", f"-{i} - 1", f"{i} // 2", f"n - {i} - 1", f"({i} * 3) % n", "0", "-1", "int(abs(y)) % 5")

    def element(self):
        return self.pick(f"a[{self.index()}]", f"a[{self.index()}]", f"b[{self.index()}]", f"m[{self.index()}, {self.index()}]", f"m[{self.index_name()}, 1]")

    def leaf(self):
        k = self.random.randrange(10)
        if k < 4:
            return self.random.choice(self.numbers)
        if k < 6:
            return self.element()
        if k < 7:
            return self.index_name()
        if k < 8:
            return self.pick("x", "y", "n", "LIMIT", "a.shape[0]", "len(b)")
        return self.pick("0", "1", "2", "-3", "7", "0.0", "1.5", "-0.25", "1e10", "True", "255", "1000003")

    def expression(self, level=2):
        if level == 0 or self.random.random() < 0.2:
            return self.leaf()
        a, b = self.expression(level - 1), self.expression(level - 1)
        k = self.random.randrange(22)
        if k < 5:
            return f"({a} + {b})"
        if k < 8:
            return f"({a} - {b})"
        if k < 11:
            return f"(({a}) % 1009 * {self.leaf()})"
        if k < 12:
            return f"({a} / {self.pick('3', '4.0', b)})"
        if k < 14:
            return f"({a} {self.pick('//', '%')} {self.pick('3', '-7', '2.5', b)})"
        if k < 15:
            return self.pick(f"-({a})", f"+({a})", f"abs({a})", f"int({a})", f"float({a})", f"bool({a})", f"round({a})", f"round({a}, 1)")
        if k < 16:
            return f"helper{self.pick(0, 1)}({a}, {b})"
        if k < 17:
            return self.pick(f"min({a}, {b})", f"max({a}, {b})", f"math.sqrt(abs({a}))", f"math.sin({a})", f"math.floor({a})", f"np.sqrt(abs({a}))",
                             f"math.hypot({a}, 2)", f"np.maximum({a}, {b})", f"np.sign({a})", f"int({a}).bit_length()", f"math.gcd(int({a}), 12)")
        if k < 18:
            return f"({a} if {self.condition(0)} else {b})"
        if k < 19:
            return f"(int({a}) {self.pick('&', '|', '^')} int({self.leaf()}))"
        if k < 20:
            return f"({self.pick('int(' + a + ')', a)} {self.pick('<<', '>>')} ({self.index_name()} & 7))"
        if k < 21:
            z = f"complex({self.leaf()}, {self.leaf()})"
            z = self.pick(z, z, f"cmath.{self.pick('sqrt', 'exp', 'log', 'tan')}({z})", f"({z} ** {self.pick('0.5', '-1', '2', self.leaf())})", f"np.sqrt({z})", f"np.complex64({z}) ** 0.5")
            return f"({z}).{self.pick('real', 'imag')}"
        return f"(({a}) {self.pick('and', 'or')} {b})"

    def condition(self, level=1):
        op = self.pick("<", "<=", ">", ">=", "==", "!=")
        simple = f"{self.expression(level)} {op} {self.leaf()}"
        k = self.random.randrange(8)
        if k == 0:
            return f"{self.leaf()} < {self.leaf()} <= {self.leaf()}"
        if k == 1:
            return f"{simple} {self.pick('and', 'or')} {self.leaf()} {op} {self.leaf()}"
        if k == 2:
            return f"not {simple}"
        if k == 3:
            return f"{self.index_name()} % {self.pick(2, 3, 5)} == {self.pick(0, 1)}"
        return simple

    # ---- statements

    def emit(self, text):
        self.lines.append("    " * self.depth + text)

    def statement(self):
        k = self.random.randrange(30)
        name = self.random.choice(self.numbers)
        if k >= 27:
            return self.left_statement(name)
        if k < 8:
            self.emit(f"{name} = {self.expression()}")
        elif k < 12:
            self.emit(f"{name} {self.pick('+=', '-=')} {self.expression(1)}")
        elif k < 13:
            self.emit(f"{name} = ({name} * {self.leaf()}) % 10007")
        elif k < 17:
            self.emit(f"{self.element()} {self.pick('=', '=', '+=', '-=')} {self.expression(1)}")
        elif k < 21:
            self.branch()
        elif k < 23 and len(self.loops) < 3:
            self.loop()
        elif k < 24:
            other = self.random.choice(self.numbers)
            self.emit(f"{name}, {other} = {other}, {name}")
        elif k >= 26:
            self.word_statement()
        elif k < 25 and self.loops:
            self.emit(f"if {self.condition()}:")
            self.emit("    " + self.pick("break", "continue", "continue", f"return {self.state()}"))
        elif self.random.random() < 0.3:
            self.emit("try:")
            self.block(2)
            self.emit(f"except {self.pick('IndexError', 'ZeroDivisionError', 'ArithmeticError')}:")
            self.block(1)
        else:
            self.emit(f"{name} = {self.leaf()}")

    def word_statement(self):
        """Hashes and generators: ints that leave 64 bits within an expression and come back."""
        h, g = self.pick("h", "g"), self.pick("h", "g")
        item = self.pick(self.index_name(), self.index_name(), g, f"int({self.leaf()})", "-1", "13")
        factor = self.pick("31", "0x100000001B3", "6364136223846793005", "0x9E3779B97F4A7C15", g)
        mask = self.pick("0xFFFFFFFF", "(2**64 - 1)", "(2**64 - 1)", "0xFFFF", "(2**63 - 1)")
        k = self.random.randrange(8)
        if k < 3:
            self.emit(f"{h} = ({self.pick(f'{h} * {factor} + {item}', f'({h} ^ {item}) * {factor}', f'{h} - {item}')}) & {mask}")
        elif k < 5:
            self.emit(f"{h} ^= {self.pick(f'{h} >> {self.pick(7, 13, 31)}', f'({h} << {self.pick(5, 13, 33)}) & {mask}', item)}")
        elif k < 6:
            self.emit(f"{h} = {h} * {factor} % {self.pick('2**64', '(2**61 - 1)', '1000003', f'({g} | 1)')}")
        elif k < 7:
            self.emit(f"{self.random.choice(self.numbers)} = {self.pick(f'{h} % 1009', f'{h} >> 40', f'{h} & 255', f'float({h} >> 11)', f'{h} > {g}')}")
        else:
            self.emit(f"{h} = ~{h} & {mask}")

    def left_statement(self, name):
        """What compiled loops leave to the interpreter: calls of anything, objects, dictionaries, strings, slices, containers made anew."""
        i, other, value = self.index_name(), self.random.choice(self.numbers), self.expression(1)
        self.emit(self.random.choice([
            f"out.append({value})",
            "if len(out) > 40: out.clear()",
            f"out[-1:] = [{value}, {name}]",
            f"d[{i}] = {value}",
            f"d[({i}, {self.pick('n', '0')})] = {name}",
            f"{name} = d.get({i}, {self.leaf()})",
            f"if {i} in d: {name} = d[{i}]",
            f"text = text[-20:] + str({i})",
            f"text = f'{{{name}}}{{{i}:3d}}'[-30:]",
            f"{name} = len(text) - {i}",
            f"{name} = star({value}, {name}{self.pick('', ', 3', ', key=n', ', *(1, 2)')})",
            f"{name}, {other} = pair({value}, {other})",
            f"{name} = looks()",
            f"o.x = {value}",
            f"{name} = o.x",
            f"o.half = {self.leaf()}",
            f"{name} = o.bump({self.leaf()})",
            f"{name} = add_to_global({i}) + G",
            f"parts = [{i}, {value}, {name}]",
            f"{name} = [{self.leaf()}, {value}][{i} % 2]",
            f"{name} = max([{i}, 3][{i} % 3:] or [n])",
            f"{name} = a[:2].sum() - {i}",
            f"b[{i} % 4:][:1] = {i}",
            f"{name} = int('x1'[{i} % 2])",
            f"{name} = None if {self.condition(0)} else {self.leaf()}; {name} = 3 if {name} is None else {name}",
            f"seen.add({i} % 5)",
            f"seen.add(({i} % 3, {value}))",
            f"if {i} % 4 in seen: seen.discard({i} % 4)",
            f"{name} = {name} if {value} in seen else len(seen)",
            f"if parts: {name} = parts.pop({self.pick('', '0', '-1')})",
            f"if parts and len(parts) > {i} % 3: del parts[{i} % 3]",
            f"parts.append({self.pick(name, value, f'({i}, {name})')})",
            "parts = parts[-6:]",
            f"parts = [{name}] * ({i} % 3) + parts[:2]",
            f"d[{i} % 3] = d.get({i} % 3, 0.5) + {self.leaf()}",
            f"{name} = d.pop({i} % 4) if {i} % 4 in d else {self.leaf()}",
            f"{name} = random.random() - 0.5",
            f"{name} = random.uniform(-1.0, {self.leaf()})",
            f"{name} = RNG.random() + {i}",
            f"{name} = RNG.integers(0, {i} % 7 + 1)",
            f"text = ('%s' % ({name},)).upper()[:{i} % 9 + 1].strip('-')",
            f"{name} = text.find({self.pick('"1"', '"E"', '"."')}) + text.count('0')",
            f"{name} = isinstance({name}, (int, np.floating))",
            f"pq = ({name}, {i}); {name} = pq[{i} % 2]",
            f"{name} = [{name} for _ in range({i} % 3)]; {name} = {name}[0] if {name} else {value}",
            f"{name} = float('%d' % {i}) + int(str({i}))",
            f"{name} = star(*({i}, {name}))",
            f"log(lambda: {i})" if self.random.random() < 0.2 else f"log({value})",
        ]))

    def block(self, most):
        self.depth += 1
        for _ in range(self.random.randint(1, most)):
            self.statement()
        self.depth -= 1

    def branch(self):
        self.emit(f"if {self.condition()}:")
        self.block(2)
        if self.random.random() < 0.3:
            self.emit(f"elif {self.condition()}:")
            self.block(2)
        if self.random.random() < 0.5:
            self.emit("else:")
            self.block(2)

    def loop(self):
        self.counter += 1
        i = f"i{self.counter}"
        k = self.random.randrange(17)
        if k >= 14:
            self.asked_loop(i)
        elif k >= 10:
            self.iterator_loop(i)
        elif k < 6 or not self.loops:
            outer = self.index_name() if self.loops else "n"
            span = self.pick("n", "n", "range_", f"{outer}")
            limits = self.pick("n", "n", "n - 1", "1, n", "1, n - 1", "n - 1, -1, -1", "0, n, 2", f"{outer}", f"{outer}, n", "6", "0") if span else ""
            self.emit(f"for {i} in range({limits}):")
        elif k < 8:
            self.emit(f"{i} = 0")
            self.emit(f"for {i}_ in {self.pick('a', 'b')}:")
            self.depth += 1
            self.emit(f"{i} += 1")
            self.emit(f"{self.random.choice(self.numbers)} = {i}_")
            self.depth -= 1
        else:
            self.emit(f"{i} = 0")
            self.emit(f"while {i} < n and ({self.condition(0)} or {i} < 3):")
            self.depth += 1
            self.emit(f"{i} += 1")
            self.depth -= 1
        self.loops.append(i)
        self.block(5)
        self.loops.pop()
        if self.random.random() < 0.15:
            self.emit("else:")
            self.depth += 1
            self.emit(f"{self.random.choice(self.numbers)} = {self.leaf()}")
            self.depth -= 1

    def iterator_loop(self, i):
        """A loop over enumerate, zip, reversed or rows whose index is `i`; its other variables go into numbers."""
        array = self.pick("a", "b", "a", "reversed(a)", "b[1:]")
        limits = self.pick("n", "n - 1", "1, n", "n, 0, -1", "0, 2 * n, 3", self.index_name() if self.loops else "6")
        k = self.random.randrange(10)
        first, second = f"{i}_", f"{i}__"
        if k >= 8:
            helper = self.pick("helper0", "helper1", "lambda p, q: p * 2 - q")
            source = self.pick(f"map({helper}, {array}, range({limits}))", f"map({self.pick('abs', 'float', 'int')}, {array})", "zip(a, range(len(a)), strict=True)")
            self.emit(f"{i} = 0")
            self.emit(f"for {first} in {source}:")
            self.emit(f"    {i} = ({i} + 1) % n")
            if source.startswith("zip"):
                first += "[0]"
            k = 0
        elif k < 2:
            self.emit(f"for {i}, {first} in enumerate({array}{self.pick('', '', ', 0', ', 1', ', -2', ', n')}):")
        elif k < 4:
            self.emit(f"for {i}, {first} in zip(range({limits}), {array}):")
        elif k < 5:
            self.emit(f"for {i}, ({first}, {second}) in enumerate(zip({array}, {self.pick('a', 'b', f'range({limits})')})):")
        elif k < 6:
            first = i
            self.emit(f"for {i} in reversed(range({limits})):")
        else:
            self.emit(f"for {i}, {i}_row in {self.pick('enumerate(m)', 'zip(range(n), m)', 'enumerate(reversed(m))')}:")
            first = f"{i}_row[{self.pick('0', '-1', i, f'{i} % 5')}]"
        self.depth += 1
        if k >= 6 and self.random.random() < 0.4:
            self.emit(f"for {second} in {i}_row:")
            self.emit(f"    {self.random.choice(self.numbers)} = {second}")
        self.emit(f"{self.random.choice(self.numbers)} {self.pick('=', '=', '+=')} {first}")
        self.depth -= 1

    def asked_loop(self, i):
        """A loop over an iterator that compiled code asks for each item, or leaves to the interpreter."""
        first = f"{i}_"
        count = self.pick("n", "n", "n - 1", "6", "3", "1", "0", self.index_name() if self.loops else "n")
        array = self.pick("a", "b", "m[0]")
        if self.random.random() < 0.4:
            self.emit(f"for {i} in " + self.pick(
                f"gen({count})", f"Steps({count})", f"itertools.islice(itertools.count({self.pick('', '1', '-2')}), {count})", f"dict.fromkeys(range({count}))",
                f"set(range({count}))", f"reversed({{j: j for j in range({count})}})", f"itertools.chain(range(2), range({count}), [1, 0])",
                "itertools.accumulate(range(4))", f"iter(range({count}))", f"filter(None, range({count}))", f"filter(lambda j: j % 2, range({count}))",
                f"itertools.repeat(2, {count})", f"(j for j in range({count}) if j != 4)", f"map(int, range({count}))",
                f"itertools.islice(itertools.cycle((0, 2, 1)), {count})") + ":")
            if self.random.random() < 0.3:
                self.emit(f"    if {i} {self.pick('== 2 and G % 7 == 3', '>= n - 1')}: break")
            return
        nested = self.random.random() < 0.3
        pairs = self.pick(
            f"enumerate(gen({count}))", f"{{j: j * 0.5 for j in range({count})}}.items()", f"itertools.product(range({count}), (0.5, 2))", f"zip(itertools.count(), {array})",
            f"itertools.pairwise(range({count}))", f"((j, j * 0.5) for j in range({count}))", f"itertools.combinations(range({count}), 2)", f"zip(Steps({count}), {array})",
            f"enumerate(itertools.chain({array}, range(3)))", f"enumerate({array}.flat)", f"itertools.zip_longest(range({count}), {array}[:4], fillvalue=1)",
            f"enumerate({{'k' + str(j): {self.leaf()} for j in range({count})}}.values())", f"zip(range({count}), itertools.repeat({self.leaf()}))")
        if nested:
            self.emit(f"for {first}n, ({i}, {first}) in " + self.pick(f"enumerate({pairs})", f"zip(gen(n), {pairs})") + ":")
        elif self.random.random() < 0.3:
            self.emit(f"for {self.pick(f'({i},), {first} in np.ndenumerate({array})', f'({i}, {first}n), {first} in np.ndenumerate(m)', f'{i}, {first} in np.ndindex(m.shape)')}:")
        else:
            self.emit(f"for {i}, {first} in {pairs}:")
        self.emit(f"    {self.random.choice(self.numbers)} {self.pick('=', '=', '+=')} {first}")

    def state(self):
        identities = [f"{p} is {q}" for p, q in itertools.combinations(self.numbers, 2)]
        return "(" + ", ".join([*self.numbers, *identities, "h", "g", "list(d.items())[-6:]", "out[-6:]", "text", "o.x", "parts", "sorted(map(repr, seen))", "G"]) + ")"

    def objects(self):
        for line in OBJECTS.splitlines():
            self.emit(line)

    def helper(self, k):
        self.emit(f"def helper{k}(p, q{self.pick('', '=2')}):")
        self.depth += 1
        self.emit(self.pick("if p > q:", "if q == 0:", "if p < 0:"))
        self.emit("    " + self.pick("return q", "return p - 1", "return 0.5", "return p"))
        if self.random.random() < 0.4:
            self.emit("r = p")
            self.emit("for j in range(3):")
            self.emit("    r = r + q")
            self.emit(f"    if r > {self.pick('10', '100.0')}:")
            self.emit("        return r")
            self.emit("return r")
        else:
            self.emit(self.pick("return p + q", "return p - q * 0.5", "return q", "return abs(p)"))
        self.depth -= 1

    def make(self):
        self.emit("import cmath")
        self.emit("import itertools")
        self.emit("import math")
        self.emit("import random")
        self.emit("import sys")
        self.emit("import numpy as np")
        self.objects()
        self.emit(f"LIMIT = {self.pick('5', '2.5', '-1', '100')}")
        self.helper(0)
        self.helper(1)
        self.emit("def f(a, b, m, x, y, n):")
        self.depth += 1
        for name in self.numbers:
            self.emit(f"{name} = {self.pick('0', '0.0', '1', 'x', 'y', '2.5', 'a[0]', 'True')}")
        self.emit("global G")
        self.emit("G = 0")
        self.emit("d, out, text, o, parts, seen = {}, [], '', O(), [], set()")
        self.emit("random.seed(5)")
        self.emit("global RNG")
        self.emit("RNG = np.random.default_rng(6)")
        self.emit(f"h, g = {self.pick('1', '0', '2**63 + 1', 'n')}, {self.pick('1', '-5', '0x9E3779B97F4A7C15')}")
        for _ in range(self.random.randint(1, 2)):
            self.loop()
        self.emit(f"return {self.state()}")
        return "\n".join(self.lines) + "\n"

    # ---- arguments

    def array(self, generator, dtype, shape):
        values = generator.integers(-6, 12, shape)
        if dtype.startswith("float"):
            values = values * 0.5
            if generator.random() < 0.15:
                values.flat[generator.integers(0, values.size)] = generator.choice([np.nan, np.inf, -np.inf, -0.0, 1e38])
        elif dtype.startswith("complex"):
            values = values * (0.5 - 0.25j)
        return values.astype(dtype)

    def arguments(self, call):
        """The arguments of call number `call`: the same kinds for calls 0 and 1, another n; other strides or kinds later."""
        generator = np.random.default_rng([self.seed, call])
        n = [9, 12, 7, 10][call % 4]
        dtypes = self.dtypes if call < 3 else self.dtypes[::-1]
        a = self.array(generator, dtypes[0], n + 1 if call != 2 else n)
        b = self.array(generator, dtypes[1], 2 * n)[::2]
        m = self.array(generator, dtypes[2], (n, n))
        if call == 2:
            m = m.T
        x = [1.5, -2.0, 0.0, np.float64(3.25)][(self.seed + call) % 4]
        y = [3, -2, 0, np.int64(5)][(self.seed // 3 + (call == 3)) % 4]
        return a, b, m, x, y, n
