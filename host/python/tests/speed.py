"""Fit and predict by the command and by the package, in turn: `python speed.py COMMAND DATA [ROUNDS]`."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fishweir

command, data = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
folder = Path(tempfile.mkdtemp())
model = str(folder / "command.json")


def run(*arguments):
    subprocess.run([command, *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def command_fit():
    run("fit", data, "--group", "subject", "--window", "200", "--hop", "200", "-o", model)


def package_fit():
    classifier = fishweir.FisherClassifier(window=200, hop=200)
    classifier.fit(fishweir.read(data, columns="subject"), groups="subject").export(folder / "package.json")


def command_predict():
    run("predict", data, "--model", model)


def package_predict():
    classifier = fishweir.load(model)
    classifier.predict_windows(fishweir.read(data, like=classifier))


def seconds(task):
    begin = time.perf_counter()
    task()
    return time.perf_counter() - begin


for what, tasks in (("fit", (command_fit, package_fit)), ("predict", (command_predict, package_predict))):
    pairs = [tuple(seconds(task) for task in tasks) for _ in range(rounds)]
    ratio = statistics.median(package / by_command for by_command, package in pairs)
    of_command, of_package = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{what}: command {of_command:.2f} s, package {of_package:.2f} s, median of ratios {ratio:.3f}")
