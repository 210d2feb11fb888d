"""The groups of a TRX file. Not a test itself."""
import zipfile

import numpy as np


def read_groups(path):
    """By name: the fibres of the group, and its values."""
    groups = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            folder, *parts = name.split("/")
            if folder == "groups":
                groups[parts[0].removesuffix(".uint32")] = (np.frombuffer(archive.read(name), "<u4"), {})
            if folder == "dpg":
                groups[parts[0]][1][parts[1].removesuffix(".float32")] = np.frombuffer(archive.read(name), "<f4")
    return groups
