"""The stubs say what the native part has."""

import subprocess
import sys

import pytest


def test_stubs():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "fishweir._fishweir", "--concise", "--ignore-disjoint-bases"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
