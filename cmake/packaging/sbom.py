#!/usr/bin/env python3
"""The software bill of materials of an image made by script/image: SPDX 2.3 as JSON, on standard output.

    python3 cmake/packaging/sbom.py voxherd_0.1.0_amd64.oci.tar

Read from the image itself: Debian's packages from dpkg's database, their licences from their copyright files where these have
the machine-readable form, and the npm packages in the viewer's page from viewer-licences.txt. The licences and checksums of the
latter are in the page's package-lock.json. The same image gives the same bytes.
"""
import base64
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import time

import spdx_licences

LOCK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "view", "page", "package-lock.json")
VIEWER = "usr/share/doc/voxherd/viewer-licences.txt"
UNKNOWN = "NOASSERTION"


def read_layer(path):
    """The image's configuration, and the contents of the files that are needed, by name."""
    with tarfile.open(path) as archive:
        def blob(digest):
            return archive.extractfile("blobs/" + digest.replace(":", "/")).read()

        [entry] = json.load(archive.extractfile("index.json"))["manifests"]
        manifest = json.loads(blob(entry["digest"]))
        [layer] = manifest["layers"]
        config, files = json.loads(blob(manifest["config"]["digest"])), {}
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(layer["digest"])))) as content:
            for member in content:
                name = member.name.removeprefix("./")
                shared = re.fullmatch("usr/share/doc/([^/]+)(/copyright)?", name)
                if member.issym() and shared:  # some packages share the folder or the file of another one
                    files[f"usr/share/doc/{shared[1]}/copyright"] = re.search(r"([\w.+-]+)(/copyright)?$", member.linkname)[1]
                elif name in ("var/lib/dpkg/status", VIEWER) or (shared and shared[2] and member.isfile()):
                    files[name] = content.extractfile(member).read().decode("utf-8", "replace")
    return config, files


def copyright_text(files, package):
    text = files.get(f"usr/share/doc/{package}/copyright", "")
    return files.get(f"usr/share/doc/{text}/copyright", "") if text and "\n" not in text else text


def debian_packages(status):
    """The fields of each installed package."""
    paragraphs = [dict(re.findall(r"^([\w-]+): *(.*)$", text, re.MULTILINE)) for text in status.split("\n\n")]
    return sorted((p for p in paragraphs if p.get("Status") == "install ok installed"), key=lambda p: p["Package"])


def debian_entry(fields, terms, licences):
    name, version, architecture = fields["Package"], fields["Version"], fields["Architecture"]
    entry = package_entry(f"deb-{name}", name, version, licences.declared(terms, name),
                          f"pkg:deb/debian/{name}@{version.replace(':', '%3A').replace('+', '%2B')}?arch={architecture}")
    if name != "voxherd":
        # "Source: glibc (2.36-9)", without a version if it is the package's own, missing if name and version are.
        source, _, own = fields.get("Source", name).partition(" ")
        entry["sourceInfo"] = f"built from Debian's source package {source} {own.strip('()') or version}"
        entry["supplier"] = f"Organization: {fields['Maintainer']}"
    return entry


def package_entry(identifier, name, version, licence, purl=None):
    entry = {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", identifier), "name": name, "versionInfo": version,
             "downloadLocation": UNKNOWN, "filesAnalyzed": False, "licenseConcluded": UNKNOWN, "licenseDeclared": licence,
             "copyrightText": UNKNOWN}
    if purl:
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return entry


def npm_entries(titles, lock):
    """The packages in the viewer's page. `titles`: viewer-licences.txt, in which each begins with a line of name and version."""
    entries = []
    for text in titles.split("\n----------------------------------------\n"):
        name, version = text.strip().split("\n")[0].rsplit(" ", 1)
        locked = lock["packages"].get(f"node_modules/{name}", {})
        entry = package_entry(f"npm-{name}", name, version, locked.get("license", UNKNOWN),
                              f"pkg:npm/{name.replace('@', '%40')}@{version}")
        if "integrity" in locked:
            algorithm, value = locked["integrity"].split("-", 1)
            entry["checksums"] = [{"algorithm": algorithm.upper(), "checksumValue": base64.b64decode(value).hex()}]
        entries.append(entry)
    return sorted(entries, key=lambda entry: entry["name"])


def describe(path):
    config, files = read_layer(path)
    with open(path, "rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    licences = spdx_licences.Licences()
    packages = [debian_entry(fields, copyright_text(files, fields["Package"]), licences)
                for fields in debian_packages(files["var/lib/dpkg/status"])]
    page = []
    if VIEWER in files:
        with open(LOCK, encoding="utf-8") as file:
            page = npm_entries(files[VIEWER], json.load(file))
    image = package_entry("image", os.path.basename(path), config["config"]["Labels"]["org.opencontainers.image.version"], UNKNOWN)
    image |= {"primaryPackagePurpose": "CONTAINER", "checksums": [{"algorithm": "SHA256", "checksumValue": checksum}]}

    def related(entry, kind, other):
        return {"spdxElementId": entry, "relationshipType": kind, "relatedSpdxElement": other}

    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": image["name"],
        "documentNamespace": f"https://voxherd.invalid/spdx/{checksum}",
        "creationInfo": {"created": re.sub(r"\.\d+", "", config["created"]), "creators": ["Tool: voxherd-sbom.py"]},
        "packages": [image, *packages, *page],
        "relationships": [related("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-image"),
                          *(related("SPDXRef-image", "CONTAINS", entry["SPDXID"]) for entry in packages),
                          *(related("SPDXRef-deb-voxherd", "CONTAINS", entry["SPDXID"]) for entry in page)],
        "hasExtractedLicensingInfos": licences.references(),
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(json.dumps(describe(sys.argv[1]), indent=1, sort_keys=True))
