"""A scheduler and workers of Dask in processes of their own, to be killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time

from distributed import Client


class Cluster:
    """A scheduler, and workers of one thread each."""

    def __init__(self, folder, workers):
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.scheduler = self._start("dask_scheduler", "--port", "0", "--no-dashboard", "--no-show")
        self.workers = [self.start_worker() for _ in range(workers)]

    def _start(self, program, *arguments):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
        command = [sys.executable, "-m", f"distributed.cli.{program}", "--scheduler-file", str(self.file), *arguments]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=quiet, stderr=quiet)

    def start_worker(self):
        return self._start("dask_worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")

    def client(self):
        """A client, once all workers are there."""
        until = time.monotonic() + 60
        while not self.file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        client = Client(scheduler_file=str(self.file), timeout=60)
        client.wait_for_workers(len(self.workers), timeout=60)
        return client

    def kill(self, process):
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def close(self):
        for process in [*self.workers, self.scheduler]:
            with contextlib.suppress(ProcessLookupError):
                self.kill(process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
