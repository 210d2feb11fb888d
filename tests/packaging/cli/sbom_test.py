"""The bill of materials of a small image that the test makes: packages, licences, and the references between them."""
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import unittest

import installed
from installed import ROOT, run_checked

SBOM = os.path.join(ROOT, "cmake", "packaging", "sbom.py")
FORMAT = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
STATUS = """Package: voxherd
Status: install ok installed
Maintainer: voxherd maintainers <maintainers@voxherd.invalid>
Architecture: amd64
Version: 0.1.0

Package: libexample1
Status: install ok installed
Maintainer: A Team <team@example.invalid>
Architecture: amd64
Source: example (1.2-3)
Version: 1.2-3+b1

Package: libexample-data
Status: install ok installed
Maintainer: A Team <team@example.invalid>
Architecture: all
Source: example
Version: 1.2-3

Package: removed
Status: deinstall ok config-files
Maintainer: A Team <team@example.invalid>
Architecture: all
Version: 1
"""
COPYRIGHT = FORMAT + "\nFiles: *\nLicense: GPL-2+ or Artistic\n\nFiles: a\nLicense: Expat\n\nFiles: b\nLicense: BSD-of-example\n A text.\n"
VIEWER = f"@niivue/niivue 0.69.0\n\nBSD 2-Clause\n\n{'-' * 40}\n\nnot-locked 1.0.0\n\ntext\n"


def add(archive, name, content, link=None):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    if link:
        member.type, member.linkname = tarfile.SYMTYPE, link
    archive.addfile(member, io.BytesIO(content))


def write_image(path):
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as archive:
        add(archive, "./var/lib/dpkg/status", STATUS.encode())
        add(archive, "./usr/share/doc/voxherd/copyright", (FORMAT + "License: Apache-2.0\n").encode())
        add(archive, "./usr/share/doc/voxherd/viewer-licences.txt", VIEWER.encode())
        add(archive, "./usr/share/doc/libexample1/copyright", COPYRIGHT.encode())
        add(archive, "./usr/share/doc/libexample-data", b"", link="libexample1")
    blobs = {}

    def blob(content):
        name = hashlib.sha256(content).hexdigest()
        blobs[name] = content
        return {"digest": f"sha256:{name}"}

    config = {"created": "2023-11-14T22:13:20Z", "config": {"Labels": {"org.opencontainers.image.version": "0.1.0"}}}
    manifest = {"config": blob(json.dumps(config).encode()), "layers": [blob(gzip.compress(layer.getvalue(), mtime=0))]}
    index = {"manifests": [blob(json.dumps(manifest).encode())]}
    with tarfile.open(path, "w") as archive:
        add(archive, "index.json", json.dumps(index).encode())
        for name, content in blobs.items():
            add(archive, f"blobs/sha256/{name}", content)


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = os.path.join(installed.temporary_folder(cls), "voxherd_0.1.0_amd64.oci.tar")
        write_image(cls.image)
        cls.text = run_checked(sys.executable, SBOM, cls.image)
        cls.document = json.loads(cls.text)
        cls.packages = {package["name"]: package for package in cls.document["packages"]}

    def test_it_lists_the_installed_packages_and_those_of_the_viewer(self):
        self.assertEqual({name: package["versionInfo"] for name, package in self.packages.items()},
                         {"voxherd_0.1.0_amd64.oci.tar": "0.1.0", "voxherd": "0.1.0", "libexample1": "1.2-3+b1",
                          "libexample-data": "1.2-3", "@niivue/niivue": "0.69.0", "not-locked": "1.0.0"})
        self.assertEqual(self.packages["libexample1"]["sourceInfo"], "built from Debian's source package example 1.2-3")
        self.assertEqual(self.packages["libexample1"]["externalRefs"][0]["referenceLocator"],
                         "pkg:deb/debian/libexample1@1.2-3%2Bb1?arch=amd64")
        with open(self.image, "rb") as file:
            self.assertEqual(self.packages["voxherd_0.1.0_amd64.oci.tar"]["checksums"],
                             [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read()).hexdigest()}])

    def test_licences_are_those_of_copyright_files_and_of_the_lock_file(self):
        expected = "(GPL-2.0-or-later OR Artistic-1.0-Perl) AND LicenseRef-debian-BSD-of-example AND MIT"
        self.assertEqual({name: package["licenseDeclared"] for name, package in self.packages.items()},
                         {"voxherd_0.1.0_amd64.oci.tar": "NOASSERTION", "voxherd": "Apache-2.0", "libexample1": expected,
                          "libexample-data": expected, "@niivue/niivue": "BSD-2-Clause", "not-locked": "NOASSERTION"})
        self.assertEqual([entry["licenseId"] for entry in self.document["hasExtractedLicensingInfos"]],
                         ["LicenseRef-debian-BSD-of-example"])

    def test_every_package_is_contained_in_the_image_or_in_voxherd(self):
        identifiers = {name: package["SPDXID"] for name, package in self.packages.items()}
        self.assertEqual(len(set(identifiers.values())), 6)
        found = {(one["spdxElementId"], one["relatedSpdxElement"]) for one in self.document["relationships"]}
        self.assertEqual(found, {("SPDXRef-DOCUMENT", "SPDXRef-image"),
                                 *(("SPDXRef-image", identifiers[name]) for name in ("voxherd", "libexample1", "libexample-data")),
                                 *((identifiers["voxherd"], identifiers[name]) for name in ("@niivue/niivue", "not-locked"))})

    def test_the_same_image_gives_the_same_bytes_with_the_time_of_the_image(self):
        self.assertEqual(run_checked(sys.executable, SBOM, self.image), self.text)
        self.assertEqual(self.document["creationInfo"]["created"], "2023-11-14T22:13:20Z")

    def test_it_needs_one_argument(self):
        self.assertNotEqual(subprocess.run([sys.executable, SBOM], capture_output=True, timeout=60, check=False).returncode, 0)


if __name__ == "__main__":
    unittest.main()
