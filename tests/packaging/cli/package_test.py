"""The .deb: what it says, what it needs, what is in it; unpacked and run."""
import os
import re
import stat
import subprocess
import tarfile
import unittest

import installed
from installed import BUILD, ROOT, told


def setUpModule():
    installed.need("dpkg-deb", "dpkg-query", "dpkg-shlibdeps", "cpack", "objdump")


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = installed.temporary_folder(cls)
        cls.deb = installed.make_deb(os.path.join(cls.folder, "made"))
        cls.root = os.path.join(cls.folder, "unpacked")
        told("dpkg-deb", "--extract", cls.deb, cls.root)
        cls.program = os.path.join(cls.root, "usr", "bin", "voxherd")

    def field(self, name):
        return told("dpkg-deb", "--field", self.deb, name).strip()

    def depends(self):
        """Names of the packages, without versions."""
        return re.findall(r"([\w.+-]+)(?: \([^)]*\))?(?:, |$)", self.field("Depends"))

    def test_it_says_which_version_for_which_machine(self):
        version = told(os.environ["VOXHERD"], "--version").split()[1]
        architecture = told("dpkg", "--print-architecture").strip()
        self.assertEqual([self.field(name) for name in ("Package", "Version", "Architecture")],
                         ["voxherd", version, architecture])
        self.assertEqual(os.path.basename(self.deb), f"voxherd_{version}_{architecture}.deb")
        description = self.field("Description")
        built_for = installed.cache_entry("VOXHERD_CPU_ARCH")
        self.assertNotEqual(built_for, "")
        self.assertIn(built_for.replace(";", " and "), description)
        self.assertRegex(description, "GPU kernels: (for|none)")

    def test_its_maintainer_is_nobodys_name_or_machine(self):
        self.assertEqual(self.field("Maintainer"), "voxherd maintainers <maintainers@voxherd.invalid>")
        self.assertNotIn(os.uname().nodename, told("dpkg-deb", "--field", self.deb))

    def test_it_depends_on_the_package_of_every_library_the_program_is_linked_with(self):
        needed = re.findall(r"NEEDED\s+(\S+)", told("objdump", "-p", self.program))
        self.assertIn("libmpi.so.40", needed)
        linked = told("ldd", self.program)
        found = dict(re.findall(r"(\S+) => (/\S+)", linked))
        # The loader, which a program with CUDA's runtime names too, is printed as a path.
        found |= {os.path.basename(path): path for path in re.findall(r"^\s*(/\S+) \(", linked, re.MULTILINE)}
        depends = self.depends()
        for library in needed:
            provided = [package for path in (found[library], os.path.realpath(found[library]))
                        for package in provided_with(path)]
            self.assertNotEqual(provided, [], library)
            self.assertTrue(set(provided) & set(depends), f"{library} is of {provided}; depends on {depends}")

    def test_what_it_depends_on_and_recommends_exists_here_in_a_version_that_will_do(self):
        self.assertIn("openmpi-bin", self.field("Recommends"))
        for relation in (self.field("Depends") + ", " + self.field("Recommends")).split(", "):
            name, version = re.fullmatch(r"([\w.+-]+)(?: \(>= ([^)]*)\))?", relation).groups()
            held = told("dpkg-query", "-W", "-f=${Package} ${Version} ${Provides}\n")
            lines = [line for line in held.splitlines() if re.search(rf"(^|\s){re.escape(name)}([ ,]|$)", line)]
            self.assertNotEqual(lines, [], relation)
            if version:
                have = lines[0].split()[1]
                told("dpkg", "--compare-versions", have, "ge", version)

    def test_all_is_below_usr_belongs_to_root_and_can_be_read(self):
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
        self.assertIn("./usr/share/doc/voxherd/copyright", [member.name for member in members])

    def test_nothing_names_the_folders_it_was_made_in(self):
        self.assertEqual(installed.names_inside(self.root, self.folder), [])
        self.assertTrue(installed.names_inside(self.root, "/usr/share/voxherd/configs/"))
        installed.need_a_build_without_line_numbers()
        self.assertEqual(installed.names_inside(self.root, ROOT, BUILD), [])

    def test_unpacked_it_fits_a_phantom(self):
        self.assertEqual(told(self.program, "--version"), told(os.environ["VOXHERD"], "--version"))
        installed.fit_a_phantom(self, self.program, os.path.join(self.root, "usr", "share", "voxherd", "configs"), self.folder)


def provided_with(path):
    """Packages that own the file, and the names they provide; dpkg knows /lib and /usr/lib as two folders."""
    names = []
    for spelled in {path, path.removeprefix("/usr"), "/usr" + path}:
        owner = subprocess.run(["dpkg-query", "--search", spelled], capture_output=True, text=True, timeout=60, check=False)
        for package in re.findall(r"^(\S+?)(?::\w+)?: ", owner.stdout, re.MULTILINE):
            names.append(package)
            names += re.findall(r"([\w.+-]+)(?: \([^)]*\))?", told("dpkg-query", "-W", "-f=${Provides}", package))
    return names


if __name__ == "__main__":
    unittest.main()
