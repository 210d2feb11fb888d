"""A release has the same bytes wherever and whenever it is made: what can be shown quickly, its source and its .deb. The source
contains all that a build would otherwise fetch."""
import gzip
import hashlib
import os
import re
import subprocess
import tarfile
import unittest

import installed
from installed import BUILD, ROOT, run_checked


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Source(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        installed.require("git", "gzip", "cmake")
        if not os.path.exists(os.path.join(ROOT, ".git")):
            raise unittest.SkipTest("the source is not a git repository")
        installed.require_viewer()
        cls.folder = installed.temporary_folder(cls)
        # A commit of the present files, so that the present script is tested.
        cls.clones = [cls.clone(name) for name in ("first", "second one")]

    @classmethod
    def clone(cls, name):
        """A repository with one commit: the files that git tracks here, as they are now."""
        path = os.path.join(cls.folder, name)
        files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, timeout=60, check=True).stdout
        os.makedirs(path)
        packed = subprocess.run(["tar", "--create", "--null", "--files-from=-", "--ignore-failed-read"], cwd=ROOT, input=files,
                                capture_output=True, timeout=60, check=False).stdout
        subprocess.run(["tar", "--extract"], cwd=path, input=packed, timeout=60, check=True)
        cls.git(path, "init", "--quiet")
        cls.git(path, "add", "--all")
        cls.git(path, "commit", "--quiet", "--message", "Test")
        return path

    @staticmethod
    def git(path, *words):
        names = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                 for what, value in (("NAME", "test"), ("EMAIL", "test@test.invalid"), ("DATE", "1700000000 +0100"))}
        run_checked("git", "-C", path, *words, env=dict(os.environ, **names))

    def make(self, clone, name, umask):
        out = os.path.join(self.folder, name)
        run_checked(os.path.join(clone, "script", "release"), "--source-only", "--built", BUILD, out, umask=umask)
        return out

    def unpack(self, name):
        """The source folder of a new archive."""
        out, unpacked = self.make(self.clones[0], name, 0o022), os.path.join(self.folder, name + " unpacked")
        [archive] = [name for name in os.listdir(out) if name.endswith(".tar.gz")]
        with tarfile.open(os.path.join(out, archive)) as file:
            file.extractall(unpacked)
        return os.path.join(unpacked, archive.removesuffix(".tar.gz"))

    def test_two_clones_give_the_same_bytes_and_right_checksums(self):
        outs = [self.make(clone, f"out {i}", umask) for i, (clone, umask) in enumerate(zip(self.clones, (0o022, 0o077)))]
        names = sorted(os.listdir(outs[0]))
        self.assertEqual([re.sub(r"-[\d.]+\d", "-N", name) for name in names], ["SHA256SUMS", "voxherd-N.tar.gz"])
        self.assertEqual(*([digest(os.path.join(out, name)) for name in names] for out in outs))
        run_checked("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=outs[0])

    def test_the_source_knows_its_commit_without_git(self):
        source = self.unpack("known")
        written = os.path.join(self.folder, "commit.cpp")
        run_checked("cmake", f"-DSOURCE={source}", f"-DTEMPLATE={source}/src/app/commit.cpp.in", f"-DOUTPUT={written}", "-P",
                    os.path.join(source, "cmake", "commit.cmake"))
        commit = run_checked("git", "-C", self.clones[0], "rev-parse", "HEAD").strip()
        with open(written, encoding="utf-8") as file:
            self.assertIn(f'"commit {commit[:12]}"', file.read())

    def test_it_is_configured_and_page_and_manual_are_made_without_network_npm_and_program(self):
        alone = installed.without_network()
        source, build, prefix = self.unpack("offline"), os.path.join(self.folder, "build"), os.path.join(self.folder, "prefix")
        self.assertEqual(re.findall(r"(\w+):", run_checked(*alone, "cat", "/proc/net/dev")), ["lo"])
        output = run_checked(*alone, "cmake", "-S", source, "-B", build, "-DVOXHERD_CUDA=OFF", "-DVOXHERD_TESTS=OFF",
                             "-DVOXHERD_BENCH=OFF", "-DNPM_PROGRAM=/bin/false", "-DNODE_PROGRAM=/bin/false", seconds=900)
        self.assertIn("-- voxherd: viewer of this archive", output)
        run_checked(*alone, "cmake", "--build", build, "--target", "voxherd_view_page", seconds=900)
        with open(os.path.join(source, "src", "view", "page", "built", "view.js.gz"), "rb") as page:
            content = page.read()
        with open(os.path.join(build, "src", "libvoxherd_view_page.a"), "rb") as library:
            self.assertIn(content, library.read())
        self.assertIn(b"niivue", gzip.decompress(content))
        with open(os.path.join(source, "src", "view", "page", "built", "licences.txt"), encoding="utf-8") as file:
            self.assertIn("@niivue/niivue", file.read())
        with open(os.path.join(build, "voxherd"), "w", encoding="utf-8"):
            pass  # a program that cannot run here, as one for another processor
        run_checked(*alone, "cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", os.path.join(build, "manual.cmake"))
        here = os.path.join(self.folder, "here")
        installed.install(here)
        for folder in ("man", "bash-completion", "zsh"):
            names, same, different = installed.compare_folders(*(os.path.join(place, "share", folder) for place in (here, prefix)))
            self.assertEqual((len(same), different), (len(names), []))
            self.assertGreater(len(names), 0)

    def test_a_changed_file_is_refused_and_named_in_the_version(self):
        clone = self.clones[1]
        self.addCleanup(self.git, clone, "checkout", "--quiet", "README.md")
        with open(os.path.join(clone, "README.md"), "a", encoding="utf-8") as file:
            file.write("more\n")
        done = subprocess.run([os.path.join(clone, "script", "release"), "--source-only", os.path.join(self.folder, "never")],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("files differ from the commit", done.stderr)
        written = os.path.join(self.folder, "changed.cpp")
        run_checked("cmake", f"-DSOURCE={clone}", f"-DTEMPLATE={clone}/src/app/commit.cpp.in", f"-DOUTPUT={written}", "-P",
                    os.path.join(clone, "cmake", "commit.cmake"))
        with open(written, encoding="utf-8") as file:
            self.assertRegex(file.read(), '"commit [0-9a-f]{12}, changed"')


class Deb(unittest.TestCase):
    def test_packed_twice_it_has_the_same_bytes_and_the_times_of_the_commit(self):
        installed.require("cpack", "dpkg-deb", "dpkg-shlibdeps")
        folder = installed.temporary_folder(type(self))
        environment = dict(os.environ, SOURCE_DATE_EPOCH="1700000000", TZ="UTC")
        debs = [installed.make_deb(os.path.join(folder, name), environment) for name in ("one", "another")]
        self.assertEqual(*map(digest, debs))
        listed = subprocess.run(["dpkg-deb", "--contents", debs[0]], capture_output=True, text=True, timeout=60, check=True,
                                env=environment).stdout
        self.assertEqual(set(re.findall(r" (\d{4}-\d\d-\d\d \d\d:\d\d) ", listed)), {"2023-11-14 22:13"})


if __name__ == "__main__":
    unittest.main()
