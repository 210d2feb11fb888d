"""A running voxherd view, and requests to it. Not a test itself."""
import http.client
import json
import os
import re
import signal
import struct
import subprocess
import sys

import numpy as np
from connect_jobs import ConnectJobs
from toy_jobs import VOXHERD


def is_built():
    """Whether the program contains the page."""
    done = subprocess.run([VOXHERD, "view", "/nonexistent.nii"], capture_output=True, text=True, timeout=60)
    return "built without the viewer" not in done.stderr


if not is_built():
    print("skipped: voxherd was built without the viewer")
    sys.exit(77)

SETTINGS = {"metric": "jeong", "alpha": 3, "smooth": 0, "max-ratio": 100, "within-fa": 0}


def pieces_in_voxels(a, b):
    """The straight segment between two places in index coordinates, cut at the sides of voxels: voxel and part of its
    length, in order."""
    crossings = [((np.arange(np.ceil(min(u, v) - 0.5), max(u, v) + 0.5) + 0.5) - u) / (v - u) for u, v in zip(a, b) if u != v]
    cuts = np.unique(np.clip(np.concatenate([[0, 1], *crossings]), 0, 1))
    return [(np.rint(a + (b - a) * (s + t) / 2).astype(int), t - s) for s, t in zip(cuts, cuts[1:])]


class Viewer:
    """One process; use it as a context."""

    def __init__(self, *words, environment=None):
        self.job = subprocess.Popen([VOXHERD, "view", "--threads", "1", "--backend", "cpu", *words], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        self.address = self.job.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{32})", self.address)
        assert found, self.address + self.job.stderr.read()
        self.port, self.token = int(found[1]), found[2]
        self.host = f"127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Exit status and messages."""
        if self.job.poll() is None:
            self.job.send_signal(signal.SIGINT)
        if not self.job.stderr.closed:
            self.messages = self.job.communicate(timeout=60)[1]
        return self.job.returncode, self.messages

    def wait(self):
        """Messages of a viewer that ends by itself."""
        self.messages = self.job.communicate(timeout=60)[1]
        assert self.job.returncode == 0, self.messages
        return self.messages

    def ask(self, method, target, body=None, **headers):
        """Status, headers, body. Headers with value None are left out."""
        sent = {"Host": self.host, "Origin": f"http://{self.host}", "X-Token": self.token}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in {**sent, **({"Content-Length": str(len(body))} if body is not None else {})}.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return result

    def get(self, target):
        status, _, body = self.ask("GET", target)
        assert status == 200, (target, status, body)
        return body

    def post(self, target, what):
        return self.ask("POST", target, json.dumps(what).encode())

    def state(self):
        return json.loads(self.get("/api/state"))


def open_block(data):
    """JSON and the bytes that follow it."""
    length = struct.unpack("<I", data[:4])[0]
    return json.loads(data[4:4 + length]), data[4 + length:]


class ViewJobs(ConnectJobs):
    """Results of the toy phantom and viewers of them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tensor = os.path.join(cls.shared, "tensor.h5")
        scan = ["--dwi", f"{cls.toy}/data.nii", "--bvals", f"{cls.toy}/bvals", "--bvecs", f"{cls.toy}/bvecs", "--mask",
                f"{cls.toy}/nodif_brain_mask.nii.gz"]
        subprocess.run([VOXHERD, "tensor", *scan, "--backend", "cpu", "--threads", "1", "--out", cls.tensor], check=True,
                       capture_output=True, timeout=120)

    def solve(self, viewer, start, end, **settings):
        """Numbers, total and level of each voxel."""
        status, _, body = viewer.post("/api/solve", {"from": start, "to": end, **SETTINGS, **settings})
        self.assertEqual(status, 200, body[:300])
        numbers, arrays = open_block(body)
        total, level, self.least_path = np.split(np.frombuffer(arrays, "<f4"), [numbers["voxels"], 2 * numbers["voxels"]])
        return numbers, total, level

    def inside(self, numbers, level, epsilon):
        """The pathway, as the page finds it."""
        limit = (1 + epsilon) * (1 + numbers["joining_excess"]) - 1
        return level.astype(np.float64) <= limit
