"""The notebooks run as programs, from the first cell to the last."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("marimo")
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.py"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks(notebook):
    done = subprocess.run([sys.executable, str(notebook)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
