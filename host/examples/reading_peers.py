"""How fast a large table is read, beside polars and pandas, on one core each.

    pip install pandas polars
    python3 host/examples/reading_peers.py [ROWS] [PROGRAM]

Writes a table of ROWS samples (10 000 000) of six channels in series of 10 000, some 64 bytes per row, to a temporary
folder; reads it by `PROGRAM fit TABLE --dry-run` (target/release/fishweir), which also checks rates and units, and by the
others' `read_csv`. Each runs three times, as a program of its own; the middle one counts. Prints seconds, megabytes per
second, and the largest memory, which is also given as a multiple of the numbers (eight bytes each, times included).
"""
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

ONE_CORE = {"RAYON_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}


def write(path, rows):
    draws = np.random.default_rng(1)
    with open(path, "w") as file:
        file.write("series,label,t,ax,ay,az,gx,gy,gz\n")
        for series in range((rows + 9999) // 10000):
            length = min(10000, rows - 10000 * series)
            for t, row in enumerate(draws.normal(0, 3, (length, 6))):
                numbers = ",".join(f"{value:.5f}" for value in row)
                file.write(f"{series},{'ab'[series % 2]},{t / 100:.2f},{numbers}\n")


def measure(command):
    """Seconds and bytes of memory, of the middle of three runs."""
    found = []
    for _ in range(3):
        begin = time.perf_counter()
        child = subprocess.Popen(
            command, env=os.environ | ONE_CORE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            return None
        found.append((time.perf_counter() - begin, 1024 * usage.ru_maxrss))
    return sorted(found)[1]


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    program = sys.argv[2] if len(sys.argv) > 2 else "target/release/fishweir"
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table.csv")
        write(table, rows)
        size = os.path.getsize(table)
        print(f"{rows} rows, {size / 1e6:.0f} MB")
        python = [sys.executable, "-c"]
        for name, command in {
            "fishweir": [program, "fit", table, "--dry-run"],
            "polars": [*python, f"import polars; polars.read_csv({table!r})"],
            "pandas": [*python, f"import pandas; pandas.read_csv({table!r})"],
        }.items():
            measured = measure(command)
            if measured is None:
                print(f"{name:10} failed, or is not installed")
                continue
            seconds, memory = measured
            print(
                f"{name:10} {seconds:6.2f} s {size / 1e6 / seconds:6.0f} MB/s "
                f"{memory / 1e6:6.0f} MB, {memory / (56 * rows):.2f} of the numbers"
            )


main()
