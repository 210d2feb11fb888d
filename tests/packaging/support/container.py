"""An image of script/image: unpacked by umoci, its programs started by runc, an OCI runtime."""
import json
import os
import shutil
import subprocess

import installed

PROGRAMS = ("mmdebstrap", "umoci", "runc", "cpack", "dpkg-shlibdeps", "unshare", "tar")


def missing_requirements():
    """What this machine lacks to make and start an image; "" if nothing."""
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        return f"not installed: {', '.join(missing)} (script/setup --tests installs them)"
    if os.geteuid() != 0 and not shutil.which("newuidmap"):
        return "only root, or a user with newuidmap, may make an image"
    tried = subprocess.run(["unshare", *rootless("--user", "--map-root-user"), "--mount", "--pid", "--fork", "mount", "-t", "tmpfs",
                            "tmpfs", "/mnt"], capture_output=True, text=True, timeout=60, check=False)
    return f"the kernel forbids namespaces: {tried.stderr.strip()}" if tried.returncode else ""


def rootless(*options):
    return [] if os.geteuid() == 0 else list(options)


class Container:
    """Containers of one image. `data`: the folder that they see as /data."""

    def __init__(self, image, folder):
        self.layout, self.bundle, self.data = (os.path.join(folder, name) for name in ("layout", "bundle", "data"))
        self.state, self.started = os.path.join(folder, "state"), 0
        for path in (self.layout, self.data):
            os.makedirs(path)
        installed.run_checked("tar", "--extract", "--file", image, "--directory", self.layout)
        [self.tag] = installed.run_checked("umoci", "list", "--layout", self.layout).split()
        installed.run_checked("umoci", "unpack", *rootless("--rootless"), "--image", f"{self.layout}:{self.tag}", self.bundle)
        self.root = os.path.join(self.bundle, "rootfs")
        with open(os.path.join(self.bundle, "config.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        self.default_command = self.config["process"]["args"]

    def run(self, *words):
        """The output of a command in /data of a new container; without words, of the image's default command."""
        self.config["process"] |= {"args": list(words) or self.default_command, "terminal": False, "cwd": "/data"}
        mounts = [mount for mount in self.config["mounts"] if mount["destination"] != "/data"]
        self.config["mounts"] = [*mounts, {"destination": "/data", "type": "bind", "source": self.data, "options": ["rbind", "rw"]}]
        with open(os.path.join(self.bundle, "config.json"), "w", encoding="utf-8") as file:
            json.dump(self.config, file)
        self.started += 1
        return installed.run_checked("runc", "--root", self.state, "run", "--bundle", self.bundle,
                                     f"voxherd-test-{os.getpid()}-{self.started}", stdin=subprocess.DEVNULL)
