"""The .deb: its fields, dependencies and files; unpacked and run."""
import os
import re
import stat
import subprocess
import tarfile
import unittest

import installed
from installed import BUILD, ROOT, run_checked


def setUpModule():
    installed.require("dpkg-deb", "dpkg-query", "dpkg-shlibdeps", "cpack", "objdump")


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = installed.temporary_folder(cls)
        cls.deb = installed.make_deb(os.path.join(cls.folder, "made"))
        cls.root = os.path.join(cls.folder, "unpacked")
        run_checked("dpkg-deb", "--extract", cls.deb, cls.root)
        cls.program = os.path.join(cls.root, "usr", "bin", "voxherd")

    def field(self, name):
        return run_checked("dpkg-deb", "--field", self.deb, name).strip()

    def depends(self):
        """Package names without versions."""
        return re.findall(r"([\w.+-]+)(?: \([^)]*\))?(?:, |$)", self.field("Depends"))

    def test_it_states_its_version_and_architecture(self):
        version = run_checked(os.environ["VOXHERD"], "--version").split()[1]
        architecture = run_checked("dpkg", "--print-architecture").strip()
        self.assertEqual([self.field(name) for name in ("Package", "Version", "Architecture")],
                         ["voxherd", version, architecture])
        self.assertEqual(os.path.basename(self.deb), f"voxherd_{version}_{architecture}.deb")
        description = self.field("Description")
        built_for = installed.cache_entry("VOXHERD_CPU_ARCH")
        self.assertNotEqual(built_for, "")
        self.assertIn(built_for.replace(";", " and "), description)
        self.assertRegex(description, "GPU kernels: (for|none)")

    def test_its_maintainer_is_not_a_person_or_machine(self):
        self.assertEqual(self.field("Maintainer"), "voxherd maintainers <maintainers@voxherd.invalid>")
        self.assertNotIn(os.uname().nodename, run_checked("dpkg-deb", "--field", self.deb))

    def test_it_depends_on_the_package_of_every_linked_library(self):
        needed = re.findall(r"NEEDED\s+(\S+)", run_checked("objdump", "-p", self.program))
        self.assertIn("libmpi.so.40", needed)
        linked = run_checked("ldd", self.program)
        found = dict(re.findall(r"(\S+) => (/\S+)", linked))
        # The loader, which a program with CUDA's runtime names too, is printed as a path.
        found |= {os.path.basename(path): path for path in re.findall(r"^\s*(/\S+) \(", linked, re.MULTILINE)}
        depends = self.depends()
        for library in needed:
            provided = [package for path in (found[library], os.path.realpath(found[library]))
                        for package in provided_with(path)]
            self.assertNotEqual(provided, [], library)
            self.assertTrue(set(provided) & set(depends), f"{library} is of {provided}; depends on {depends}")

    def test_its_dependencies_and_recommendations_are_available_here(self):
        self.assertIn("openmpi-bin", self.field("Recommends"))
        for relation in (self.field("Depends") + ", " + self.field("Recommends")).split(", "):
            name, version = re.fullmatch(r"([\w.+-]+)(?: \(>= ([^)]*)\))?", relation).groups()
            held = run_checked("dpkg-query", "-W", "-f=${Package} ${Version} ${Provides}\n")
            lines = [line for line in held.splitlines() if re.search(rf"(^|\s){re.escape(name)}([ ,]|$)", line)]
            self.assertNotEqual(lines, [], relation)
            if version:
                have = lines[0].split()[1]
                run_checked("dpkg", "--compare-versions", have, "ge", version)

    def test_all_files_are_below_usr_owned_by_root_and_readable(self):
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", self.deb], capture_output=True, timeout=60, check=True).stdout
        path = os.path.join(self.folder, "data.tar")
        with open(path, "wb") as file:
            file.write(data)
        with tarfile.open(path) as archive:
            members = archive.getmembers()
        self.assertGreater(len(members), 30)
        for member in members:
            self.assertRegex(member.name, r"^\./usr(/(bin|share)(/|$)|$)")
            self.assertEqual((member.uid, member.gid), (0, 0), member.name)
            if "/voxherd" in member.name:
                wanted = 0o755 if member.isdir() or member.name == "./usr/bin/voxherd" else 0o644
                self.assertEqual(oct(stat.S_IMODE(member.mode)), oct(wanted), member.name)
        names = [member.name for member in members]
        for name in ("doc/voxherd/copyright", "man/man1/voxherd.1.gz", "man/man1/voxherd-tensor.1.gz",
                     "bash-completion/completions/voxherd", "zsh/vendor-completions/_voxherd"):
            self.assertIn(f"./usr/share/{name}", names)

    def test_no_file_contains_the_folders_it_was_built_in(self):
        self.assertEqual(installed.find_names(self.root, self.folder), [])
        self.assertTrue(installed.find_names(self.root, "/usr/bin/voxherd"))
        installed.require_build_without_line_info()
        self.assertEqual(installed.find_names(self.root, ROOT, BUILD), [])

    def test_the_unpacked_program_fits_a_phantom(self):
        self.assertEqual(run_checked(self.program, "--version"), run_checked(os.environ["VOXHERD"], "--version"))
        installed.fit_a_phantom(self, self.program, os.path.join(self.root, "usr", "share", "voxherd", "configs"), self.folder)


def provided_with(path):
    """Packages that own the file, and the names they provide; dpkg distinguishes /lib and /usr/lib."""
    names = []
    for spelled in {path, path.removeprefix("/usr"), "/usr" + path}:
        owner = subprocess.run(["dpkg-query", "--search", spelled], capture_output=True, text=True, timeout=60, check=False)
        for package in re.findall(r"^(\S+?)(?::\w+)?: ", owner.stdout, re.MULTILINE):
            names.append(package)
            names += re.findall(r"([\w.+-]+)(?: \([^)]*\))?", run_checked("dpkg-query", "-W", "-f=${Provides}", package))
    return names


if __name__ == "__main__":
    unittest.main()
