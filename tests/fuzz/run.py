"""Compares random loop programs with and without hotloop; a program that differs is made small and printed.

    python tests/fuzz/run.py [--seed FIRST] [--count N] [--seconds S] [--modes t2,forced,default] [--jobs N] [--json FILE] [--keep DIR]

Each program runs as a function and as code of a module, with threshold 2, with the default threshold and with forced exits (see execute.py).
The run fails if a program differs or if too few of the programs entered native code (--least). The last line is `N passed, N failed`.
"""
import argparse
import collections
import json
import os
import pathlib
import select
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before NumPy: processes with threads must not fork
for _name in [n for n in os.environ if n.startswith("HOTLOOP") and n != "HOTLOOP_FUZZ_WRONG" and n != "HOTLOOP_VERIFY"]:
    del os.environ[_name]  # the modes say what holds
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from execute import FORMS, MODES, Child, run_forked, text_of  # noqa: E402
from shrink import shrink  # noqa: E402

CHUNK = 8       # programs in one process
TIMEOUT = 60    # seconds without an answer


def forms(seed, mode):
    """Both forms with threshold 2; of the other modes one or the other."""
    return FORMS if mode == "t2" else [FORMS[(seed + (mode == "forced")) % 2]]


class Statistics:
    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)  # mode -> counter -> sum
        self.seeds, self.hot, self.entered = set(), set(), set()

    def add(self, job, gained):
        seed, mode, form = job
        self.seeds.add(seed)
        counter = self.counts[mode]
        counter["runs"] += 1
        counter["runs_seen"] += gained.get("loops_seen", 0) > 0
        counter["runs_compiled"] += gained.get("compiled", 0) > 0
        counter["runs_entered"] += gained.get("entries", 0) > 0
        counter.update(gained)
        if gained.get("loops_hot", 0) or gained.get("entries", 0):
            self.hot.add(seed)
        if gained.get("entries", 0):
            self.entered.add(seed)

    def share(self):
        """Of the programs with a hot loop (some end before they come to one): how many entered native code."""
        return len(self.entered) / max(1, len(self.hot))

    def as_dict(self):
        return {"programs": len(self.seeds), "hot": len(self.hot), "entered_share": self.share(), "modes": {m: dict(c) for m, c in self.counts.items()}}

    def table(self):
        names = sorted({n for c in self.counts.values() for n in c}, key=lambda n: ("." in n, n.split(".")[0], -sum(c[n] for c in self.counts.values())))
        lines = [f"{'':48}" + "".join(f"{mode:>12}" for mode in self.counts)]
        lines += [f"{name:48}" + "".join(f"{c[name]:12}" for c in self.counts.values()) for name in names]
        return "\n".join(lines)


class Run:
    """Works through the jobs in several processes."""

    def __init__(self, options):
        self.options = options
        self.statistics = Statistics()
        self.failures = []
        self.begun = self.shown = time.monotonic()
        self.next = options.seed
        self.ready = []  # lists of jobs
        self.children = []

    def jobs(self):
        """The next list: one mode only, since what one run of a program taught hotloop holds for the next one as well."""
        if self.ready:
            return self.ready.pop()
        end = min(self.next + CHUNK, self.options.seed + self.options.count)
        if self.next >= end or time.monotonic() - self.begun > self.options.seconds:
            return []
        seeds = range(self.next, end)
        self.next = end
        self.ready = [[(seed, mode, form) for seed in seeds for form in forms(seed, mode)] for mode in reversed(self.options.modes)]
        return self.ready.pop()

    def fail(self, job, difference):
        self.failures.append((tuple(job), difference))
        print(f"# differs: seed {job[0]}, {job[1]}, {job[2]}: {difference['part']}, call {difference['call']}", flush=True)

    def finish(self, child, hung):
        self.children.remove(child)
        trouble = child.stop(hung)
        if trouble is not None and child.left:
            self.fail(child.left[0], trouble)
            if child.left[1:]:
                self.ready.append(child.left[1:])

    def step(self):
        ready = select.select([c.pipe for c in self.children], [], [], 1)[0]
        for child in list(self.children):
            if child.pipe in ready:
                reports = child.read()
                if reports is None:
                    self.finish(child, False)
                    continue
                for job, difference, gained in reports:
                    self.statistics.add(job, gained)
                    if difference is not None:
                        self.fail(job, difference)
            elif time.monotonic() - child.answered > TIMEOUT:
                self.finish(child, True)

    def progress(self, last=False):
        now = time.monotonic()
        if now - self.shown > (0.5 if sys.stderr.isatty() else 20) or last:
            self.shown = now
            sys.stderr.write(f"{'\r' if sys.stderr.isatty() else ''}{len(self.statistics.seeds)} of {self.options.count} programs, "
                             f"{len(self.failures)} differ, {self.statistics.share():.0%} of {len(self.statistics.hot)} with a hot loop entered "
                             f"native code, {now - self.begun:.0f} s"
                             f"{'' if sys.stderr.isatty() and not last else '\n'}")

    def go(self):
        while True:
            while len(self.children) < self.options.jobs and (jobs := self.jobs()):
                self.children.append(Child(jobs))
            if not self.children:
                break
            self.step()
            self.progress()
        self.progress(last=True)


def explain_failure(job, difference, first, seconds):
    """The small program with both results, as text."""
    seed, mode, form = job
    source = text_of(seed, form)

    def fails(text):
        found = run_forked((seed, mode, form, text), before)
        return found is not None and found["part"].split()[0] == difference["part"].split()[0]
    head = f"# seed {seed}, mode {mode}, {form}: {difference['part']}\n"
    before = []
    if run_forked(job) is None:  # what ran before in the same process matters
        before = [(k, mode, f) for k in range(max(first, seed - (seed - first) % CHUNK), seed + 1) for f in forms(k, mode)]
        before = before[:before.index(job)]
        head += f"# only behind {' '.join(f'{k}:{f}' for k, _, f in before)}\n"
        if run_forked(job, before) is None:
            return head + "# and not even then each time\n" + source
    small = shrink(source, fails, seconds, lambda lines: sys.stderr.write(f"seed {seed}: {lines} lines\n"))
    found = run_forked((seed, mode, form, small), before) or difference
    return head + f"{small}# call {found['call']}\n# expected {str(found['expected'])[:1500]}\n# actual   {str(found['actual'])[:1500]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no more programs after so long")
    parser.add_argument("--modes", default="t2,forced,default", help=f"of {','.join(MODES)}")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="processes")
    parser.add_argument("--least", type=float, default=0.8, help="share of the programs with a hot loop that must enter native code")
    parser.add_argument("--shrink", type=int, default=3, help="how many failures are made small")
    parser.add_argument("--shrink-seconds", type=float, default=120, help="for each")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for programs that differ")
    parser.add_argument("--json", type=pathlib.Path, help="file for the statistics")
    options = parser.parse_args()
    options.modes = options.modes.split(",")
    if not set(options.modes) <= set(MODES):
        parser.error(f"--modes: expected some of {','.join(MODES)}")
    run = Run(options)
    run.go()
    print(run.statistics.table())
    for k, (job, difference) in enumerate(run.failures):
        text = explain_failure(job, difference, options.seed, options.shrink_seconds if k < options.shrink else 0)
        if k < options.shrink:
            print(text, flush=True)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{job[0]}-{job[1]}-{job[2]}.py").write_text(text)
    failed = len({job[0] for job, _ in run.failures})
    enough = run.statistics.share() >= options.least
    if options.json:
        options.json.write_text(json.dumps(run.statistics.as_dict() | {"failures": [[*job, d["part"]] for job, d in run.failures]}, indent=1))
    if not enough:
        print(f"only {run.statistics.share():.0%} of the programs with a hot loop entered native code, at least {options.least:.0%} were expected")
    print(f"{len(run.statistics.seeds) - failed} passed, {failed} failed")
    return 1 if failed or not enough else 0


if __name__ == "__main__":
    sys.exit(main())
