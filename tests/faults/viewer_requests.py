"""One request to a running `voxherd view`, good in most parts, and the verdict on its answer."""
import json
import os
import re
import signal
import socket
import subprocess
import time

from cases import Judged
from input_cases import snapshot
from processes import HANG_SECONDS

PATIENCE = 0.3  # seconds that a client waits which has sent only a part of a request
MAX_MB = 1000
GOOD = {"from": [0, 0, 0], "to": [5, 5, 5], "metric": "inverse", "alpha": 3, "smooth": 0, "max-ratio": 100}
READS = ["/", "/api/state", "/api/alive", "/api/map/0", "/api/passable", "/api/regions", "/api/arrivals/from", "/api/voxel/100",
         "/api/matrix/0", "/api/rays/5", "/api/traced/5", "/api/streamlines/0"]
SENDS = {"/api/solve": GOOD, "/api/fibres": {"connection": 1, "epsilon": 0.1, "count": 50}, "/api/trx": {"connection": 1, "epsilon": 0.1, "count": 5},
         "/api/glyphs": {"connection": 1, "epsilon": 0.1, "count": 50}, "/api/streamlines": {"include": [7]},
         "/api/streamlines/trx": {"include": [7]}}


class Viewer:
    """One process with a result that has tensors and regions; started again if a request has ended it."""

    def __init__(self, inputs):
        self.folder = inputs.folder
        words = [inputs.program, "view", "tensor.h5", "--parcellation", "ends.nii.gz", "--port", "0", "--threads", "1", "--backend", "cpu"]
        self.job = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = self.job.stdout.readline()
        found = re.search(r":(\d+)/#token=([0-9a-f]+)", address)
        if not found:
            raise RuntimeError(f"the viewer did not start: {address}")
        self.port, self.token = int(found[1]), found[2]
        self.before = snapshot(self.folder)

    def is_running(self):
        return self.job.poll() is None

    def megabytes(self):
        with open(f"/proc/{self.job.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    def end(self):
        """Its exit status."""
        self.job.send_signal(signal.SIGINT)
        try:
            self.job.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            self.job.kill()
            self.job.communicate()
        return self.job.returncode

    def send(self, pieces, patience, ends=False):
        """Bytes of the answer, until the connection ends or nothing comes for `patience` seconds."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=HANG_SECONDS) as connection:
            try:
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(0.002 if len(pieces) > 1 else 0)
                if ends:
                    connection.shutdown(socket.SHUT_WR)
                connection.settimeout(patience)
                while len(answer) < 1 << 24 and not is_complete(answer):
                    more = connection.recv(1 << 16)
                    if not more:
                        break
                    answer += more
            except OSError:
                pass
        return answer

    def head(self, method, target, version="1.1"):
        return f"{method} {target} HTTP/{version}\r\n".encode("utf-8", "surrogateescape")


def is_complete(answer):
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    return bool(end) and (not length or len(body) >= int(length[1]))


class RequestCase(Judged):
    def __init__(self, number, chance, fault, setup):
        super().__init__(number, chance, fault)
        self.setup = setup

    def run(self):
        viewer = self.setup.viewer()
        pieces, is_whole = self.make(viewer)
        self.answer = viewer.send(pieces, HANG_SECONDS if is_whole else PATIENCE, ends=self.chance.random() < 0.1)
        self.shown = f"{b''.join(pieces)[:600]!r} is answered by {self.answer[:300]!r}"
        found = re.match(rb"HTTP/1\.[01] (\d{3}) ", self.answer)
        self.status = int(found[1]) if found else None
        self.judge(viewer, is_whole)

    # The request

    def make(self, viewer):
        """The pieces of a request, and whether it is one that must be answered."""
        is_send = self.chance.random() < 0.5
        target = self.chance.choice(list(SENDS) if is_send else READS)
        body = json.dumps(SENDS[target]).encode() if is_send else b""
        headers = [["Host", f"127.0.0.1:{viewer.port}"], ["Origin", f"http://127.0.0.1:{viewer.port}"], ["X-Token", viewer.token]]
        if is_send:
            headers.append(["Content-Length", str(len(body))])
        self.method, self.target, self.headers, self.body, self.version = ("POST" if is_send else "GET"), target, headers, body, "1.1"
        self.has_token = True
        ways = [self.other_method, self.other_target, self.other_target, self.other_header, self.other_header, self.long_header, self.other_body,
                self.other_body, self.other_length]
        chosen = [self.chance.choice(ways) for _ in range(self.chance.choice([0, 1, 1, 1, 2]))]
        for change in chosen:
            self.note(change.__name__.replace("_", " "))
            change()
        lines = [viewer.head(self.method, self.target, self.version)]
        lines += [f"{name}: {value}\r\n".encode("utf-8", "surrogateescape") for name, value in self.headers]
        request = b"".join(lines) + b"\r\n" + self.body
        return self.cut(request, is_whole=not chosen)

    def note(self, text):
        self.detail += (", " if self.detail else "") + text

    def cut(self, request, is_whole):
        """In one piece, in several, only a part, with a flipped bit, or twice."""
        way = self.chance.choice(["whole", "whole", "split", "part", "flipped", "twice"])
        self.note(way)
        if way == "split":
            places = sorted(self.chance.randrange(len(request)) for _ in range(self.chance.choice([1, 3, 20])))
            return [request[a:b] for a, b in zip([0, *places], [*places, len(request)])], is_whole
        if way == "part":
            return [request[:self.chance.randrange(len(request))]], False
        if way == "flipped":
            changed = bytearray(request)
            changed[self.chance.randrange(len(changed))] ^= 1 << self.chance.randrange(8)
            self.has_token = None  # unknown
            return [bytes(changed)], False
        return [request * (2 if way == "twice" else 1)], is_whole

    def other_method(self):
        self.method = self.chance.choice(["POST", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "CONNECT", "get", "TRACE", "PRI", "", "G\u00e9T", "X" * 9000])
        self.version = self.chance.choice(["1.1", "1.0", "2.0", "9.9", "", "1.1.1", "x"])

    def other_target(self):
        number = self.chance.choice(["-1", "1e9", str(self.chance.getrandbits(64)), "", "a", "00", "1.0", "%31", "18446744073709551616", "+1"])
        self.target = self.chance.choice([self.target + "?a=b", self.target + "/", self.target.rpartition("/")[0] + "/" + number, "/../../etc/passwd",
                                          "//api/state", "/%2e%2e/", "/api/", "*", "http://evil.example/", "/" + "a" * 100_000, "/a b", "/\udcff\udcfe",
                                          "", "/\r\nX: y", "/api/state#" + "x" * 50])

    def other_header(self):
        which = self.chance.randrange(len(self.headers))
        name = self.headers[which][0]
        way = self.chance.choice(["missing", "twice", "other", "other"])
        if way == "missing":
            del self.headers[which]
        elif way == "twice":
            self.headers.append([name, self.wrong_value(name)])
        else:
            self.headers[which][1] = self.wrong_value(name)
        if name == "X-Token":
            self.has_token = None if way == "twice" else False

    def wrong_value(self, name):
        host = self.chance.choice(["evil.example", "127.0.0.1:x@evil.example", "127.0.0.1.evil.example", "localhost:99999", "[::1", "", "0"])
        return {"Host": host, "Origin": self.chance.choice(["null", "http://" + host, host]), "X-Token": self.chance.choice(["0" * 32, "", "\udcff", "x" * 64]),
                "Content-Length": self.chance.choice(["-1", "0", "1e3", "9223372036854775808", "99999999999999999999999", "1000000000", "0x10", "5 5"])}[name]

    def long_header(self):
        self.headers += self.chance.choice([[["X", "a" * 9000]], [["X", "a" * 1_000_000]], [["A", "b"]] * 30_000, [["Cookie", "\0"]], [["X" * 9000, "a"]],
                                            [["Transfer-Encoding", self.chance.choice(["chunked", "gzip", "chunked, chunked"])]],
                                            [["Expect", "100-continue"]], [["Upgrade", "websocket"], ["Connection", "Upgrade"]],
                                            [["Range", "bytes=0-9,5-99999999"]], [["Connection", "close"]]])

    def other_body(self):
        changes = [b"", b"null", b"[]", b"{}", b"[" * 16000, b'{"a":' * 3000 + b"1" + b"}" * 3000, b"\xff\xfe", self.body + b"x", self.body * 2, b"x" * 70_000,
                   self.chance.randbytes(200)]
        values = [b"1e999", b"-1", b"null", b'"x"', b"[1,2]", b"1e5", b"18446744073709551616", b"0.5", b"NaN", b"[[0]]", b"16777217"]
        parts = re.split(rb"(?<=: )(?=[^,}]*)", self.body)
        if len(parts) > 1 and self.chance.random() < 0.7:
            at = self.chance.randrange(1, len(parts))
            parts[at] = self.chance.choice(values) + re.sub(rb"^(\[[^]]*\]|[^,}]*)", b"", parts[at])
            changes = [b"".join(parts)]
        self.body = self.chance.choice(changes)
        for header in self.headers:
            if header[0] == "Content-Length":
                header[1] = str(len(self.body))

    def other_length(self):
        self.headers = [h for h in self.headers if h[0] != "Content-Length"] + [["Content-Length", str(self.chance.choice([0, 1, len(self.body) + 1, 65537]))]]

    # The verdict

    def judge(self, viewer, is_whole):
        if not viewer.is_running():
            return self.complain("crashed", f"the viewer ended with {viewer.job.returncode}: {self.shown}")
        if is_whole and self.status is None:
            self.complain("hung", f"no answer: {self.shown}")
        if self.status is not None and not 200 <= self.status < 500:
            self.complain("status", self.shown)
        if self.status == 200 and self.has_token is False and self.target.startswith("/api/"):
            self.complain("wrong", f"answered without the token: {self.shown}")
        alive = viewer.send([viewer.head("GET", "/api/state") + f"Host: localhost\r\nX-Token: {viewer.token}\r\n\r\n".encode()], HANG_SECONDS)
        if not alive.startswith(b"HTTP/1.1 200 "):
            self.complain("hung", f"the owner gets {alive[:100]!r} after {self.shown}")
        if viewer.megabytes() > MAX_MB:
            self.complain("status", f"the viewer has {viewer.megabytes()} MB after {self.shown}")
        now = snapshot(viewer.folder)
        if now != viewer.before:
            changed = sorted(name for name in now.keys() | viewer.before.keys() if now.get(name) != viewer.before.get(name))
            self.complain("lost", f"{changed} were changed by {self.shown}")
        return None


class ViewRequest:
    """A kind of fault: a request to the viewer."""

    name, root = "view-request", False

    def new_case(self, number, chance, setup):
        return RequestCase(number, chance, self, setup)
