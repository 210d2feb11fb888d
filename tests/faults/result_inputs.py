"""Results that are damaged, or malicious ones by somebody who knows the format, and every command that reads one."""
import json
import os
import shutil
import subprocess

from commands import SCAN, argument, command, with_first
from input_cases import BadInput, InputCase, ViewInput, snapshot
from processes import HANG_SECONDS

try:
    import h5py
    import numpy
    from result_files import GROUPS, store_checksums
except ImportError:
    h5py = None

BRIEF = "--backend cpu --threads 1 --quiet"
SECRET = b"SECRET-of-another-file-" * 9000
RESULTS = ("tensor.h5", "fibres.h5", "network.h5", "tracked.h5", "liver.h5", "noddi.h5", "paths.h5", "rays.h5", "streamlines.h5",
           "matrix1.h5", "matrix2.h5", "matrix3.h5", "matrix4.h5", "targets.h5", "vertices1.h5", "vertices.h5")


def make_results(inputs):
    """The results that other kinds of cases do not need, and files that no command may read or change."""
    inputs.voxherd(f"noddi {SCAN} {BRIEF} --out noddi.h5")
    inputs.voxherd(f"connect {SCAN} {BRIEF} --connectome ends.nii.gz --paths paths.h5 --out network2.h5")
    inputs.voxherd(f"geodesic {SCAN} {BRIEF} --seed-image ends.nii.gz --targets ends.nii.gz --directions 16 --out rays.h5")
    track = f"track --samples fibres.h5 --samples-per-seed 8 {BRIEF} --lengths"
    inputs.voxherd(f"{track} --connectome ends.nii.gz --paths streamlines.h5 --max-paths 20 --matrix1 matrix1.h5 --out t1.h5")
    inputs.voxherd(f"{track} --seed-image ends.nii.gz --targets ends.nii.gz --matrix2 matrix2.h5 --target2 ends.nii.gz --out targets.h5")
    inputs.voxherd(f"{track} --seed-image ends.nii.gz --matrix3 matrix3.h5 --target3 ends.nii.gz --out t3.h5")
    inputs.voxherd(f"{track} --seed-image ends.nii.gz --matrix4 matrix4.h5 --target4 ends.nii.gz --out t4.h5")
    os.makedirs(inputs.path("foreign"))
    with open(inputs.path("foreign/secret"), "wb") as file:
        file.write(SECRET)
    if h5py:
        with h5py.File(inputs.path("foreign/other.h5"), "w") as file:
            file["x"] = numpy.frombuffer(SECRET[:200000], "u1")


def on_result(name, text):
    first, *rest = text.split(" ", 1)
    return with_first(argument(name, "input"), command("result", " ".join([first, *rest])))


def result_commands():
    made = []
    for name in RESULTS:
        made += [on_result(name, text) for text in ("info", "verify", "export --to nifti --out out", "export --to csv --out out",
                                                    "report --out page.html", "view --port 0 --threads 1 --backend cpu")]
        made.append(command("result", f"compare {name} {name}")._replace(words=[argument("compare"), argument(name, "input"), argument(name)]))
    for name in ("paths.h5", "rays.h5", "streamlines.h5"):
        made += [on_result(name, f"export --to {end} --out o.{end}") for end in ("tck", "trk", "trx")]
        made.append(on_result(name, "export --to csv --statistics-of mask.nii.gz --out out"))
    for n in (1, 2, 3, 4):
        made.append(on_result(f"matrix{n}.h5", "export --to dot --out out"))
        made += [on_result(f"matrix{n}.h5", f"export --to cifti --structures THALAMUS_LEFT --out o.{end}") for end in ("dconn.nii", "dscalar.nii")]
    made += [on_result(name, f"export --to cifti --matrix {matrix} --out o.pconn.nii") for name, matrix in (("network.h5", "cost"), ("t1.h5", "share"))] * 2
    made += [on_result("vertices1.h5", "export --to cifti --out o.dconn.nii"), on_result("vertices.h5", "export --to cifti --out o.dscalar.nii")]
    for name, kind in (("fibres.h5", "fsl"), ("fibres.h5", "bids"), ("tensor.h5", "bids"), ("network.h5", "bids"), ("noddi.h5", "cudimot"),
                       ("noddi.h5", "bids"), ("liver.h5", "bids"), ("paths.h5", "bids")):
        made.append(on_result(name, f"export --to {kind}{' --subject 1' if kind == 'bids' else ''} --out out"))
    made += [command("result", f"track --samples fibres.h5 --seed-image ends.nii.gz --samples-per-seed 2 --out o.h5 {BRIEF}"),
             command("result", f"geodesic --tensor tensor.h5 --seed-image ends.nii.gz --directions 8 --out o.h5 {BRIEF}"),
             command("result", f"connect --tensor tensor.h5 --connectome ends.nii.gz --out o.h5 {BRIEF}"),
             command("result", f"connect --tensor fibres.h5 --connectome ends.nii.gz --out o.h5 {BRIEF}")] * 4
    resumed = f"ballstick {SCAN} {BRIEF} --fibres 2 --burn-in 20 --jumps 20 --sample-every 5 --resume --out r.h5"
    made += [command("result", resumed)._replace(own=("r.h5",), more_inputs=("r.h5.part",))] * 8
    return made


# Changes

VALUES = [-1, 0, 0.5, 1, 2, 7, 255, 65536, 1e9, 4294967294, 1e18, -1e300, 1e300, float("nan"), float("inf"), 2**63]
NAMES = ["../../EVIL", "../EVIL", "a/b", "/EVIL", "..", ".", "", "a\nb", "a\tb", "\x7f", "x" * 300, "-a", "$(touch pwned)", "a\\..\\b", "<b>", "CON"]


def all_datasets(file):
    names = []
    file.visititems(lambda name, thing: names.append(name) if isinstance(thing, h5py.Dataset) and not name.startswith("VTKHDF") else None)
    return sorted(names)


def set_text(file, name, value):
    text = (value if isinstance(value, str) else json.dumps(value)).encode()
    file.attrs.create(name, numpy.array(text, dtype=f"S{max(1, len(text))}"))


def other_value(chance, file):
    """Values that become indices are chosen more often."""
    names = all_datasets(file)
    indices = [n for n in names if n.startswith(("matrix/", "seeds/", "connectome/labels", "items/", "journal/first", "points/offset", "points/column",
                                                 "samples/start", "samples/region"))]
    name = chance.choice(indices if indices and chance.random() < 0.6 else names)
    dataset = file[name]
    if dataset.dtype.kind not in "iuf" or dataset.size == 0:
        return f"no numbers in {name}"
    values = dataset[()]
    flat = values.reshape(-1)
    for _ in range(chance.choice([1, 1, 3])):
        value = chance.choice([*VALUES, float(flat[chance.randrange(len(flat))]) + 1])
        with numpy.errstate(all="ignore"):
            flat[chance.randrange(len(flat))] = numpy.array(value, "f8").astype(dataset.dtype)
    dataset[...] = values
    return f"values of {name}"


def other_journal(chance, file):
    journal = file["journal/batches"][()]
    entry = chance.randrange(len(journal)) if len(journal) else 0
    if len(journal):
        journal[entry][chance.choice(["done", "checksum", "rank"])] = chance.choice([0, 1, 2, 2**63])
        file["journal/batches"][...] = journal
    return "journal"


def random_part(chance, value):
    """A place in a JSON value: its parent and the key."""
    parent, key = None, None
    while isinstance(value, (dict, list)) and value and (parent is None or chance.random() < 0.8):
        parent, key = value, chance.choice(sorted(value) if isinstance(value, dict) else range(len(value)))
        value = value[key]
    return parent, key


def other_text(chance, file):
    name = chance.choice(["contents", "contents", "configuration", "provenance"])
    value = json.loads(file.attrs[name])
    parent, key = random_part(chance, value)
    if parent is None:
        return "no text"
    if isinstance(parent, dict) and chance.random() < 0.3:
        del parent[key]
    else:
        parent[key] = chance.choice([None, -1, 0, 3, 1e300, 2**63, "", "x", "../..", [], {}, [3], [0], [2**40], True])
    set_text(file, name, value)
    return f"{name}: {key}"


def other_name(chance, file):
    """Of an output, constant or group, also of its dataset where HDF5 allows it."""
    contents = json.loads(file.attrs["contents"])
    one = chance.choice(contents["outputs"] + contents["inputs"])
    key = chance.choice(["name", "group"]) if "group" in one else "name"
    group = GROUPS[one["layout"]] if "layout" in one else one["group"]
    old, new = f"{group}/{one['name']}", chance.choice(NAMES)
    path = f"{group}/{new}" if key == "name" else f"{new}/{one['name']}"
    one[key] = new
    if old in file and new not in ("", ".", ".."):
        if chance.random() < 0.5:
            file.require_group(os.path.dirname(path) or "/")
            file[path] = file[old]
        elif key == "name" and "/" not in new:
            file.move(old, path)
    set_text(file, "contents", contents)
    return f"{key} {ascii(new[:20])} instead of {old}"


def replaced_dataset(chance, file, make):
    """Another one in the place of a dataset, with its attributes. make(name, shape, type)"""
    name = chance.choice(all_datasets(file))
    old = file[name]
    shape, kind, attributes = old.shape, old.dtype, dict(old.attrs)
    del file[name]
    make(name, shape, kind)
    try:
        file[name].attrs.update(attributes)
    except (KeyError, OSError):
        pass
    return name


def external_storage(chance, file):
    target = chance.choice(["foreign/secret", os.path.abspath("foreign/secret"), "/etc/passwd", "foreign/new"])

    def make(name, shape, kind):
        bytes_ = int(numpy.prod(shape, dtype="i8")) * kind.itemsize
        file.create_dataset(name, shape, kind, external=[(target, 0, max(1, bytes_))])

    return f"{replaced_dataset(chance, file, make)} in {target}"


def virtual_dataset(chance, file):
    def make(name, shape, kind):
        layout = h5py.VirtualLayout(shape=shape, dtype=kind)
        if shape:
            layout[...] = h5py.VirtualSource(os.path.abspath("foreign/other.h5"), "x", shape=shape)
        file.create_virtual_dataset(name, layout)

    return f"virtual {replaced_dataset(chance, file, make)}"


def link(chance, file):
    kind = chance.choice(["external", "soft", "group", "itself"])
    names = all_datasets(file)
    name = chance.choice(names)
    if kind == "group":
        name = os.path.dirname(name)
        file.move(name, "moved")
        file[name] = h5py.SoftLink("/moved") if chance.random() < 0.5 else h5py.ExternalLink(os.path.abspath("foreign/other.h5"), "/")
        return f"link {name}"
    del file[name]
    file[name] = {"external": h5py.ExternalLink(os.path.abspath("foreign/other.h5"), "/x"), "soft": h5py.SoftLink("/" + chance.choice(names)),
                  "itself": h5py.SoftLink("/" + name)}[kind]
    return f"{kind} link {name}"


def other_shape(chance, file):
    """With other axes or another type, and sometimes `contents` that say so."""
    contents = json.loads(file.attrs["contents"])

    def make(name, shape, kind):
        new = list(shape) or [1]
        axis = chance.randrange(len(new))
        new[axis] = max(0, chance.choice([0, 1, new[axis] + 1, new[axis] - 1, 3, new[axis] * 2]))
        if chance.random() < 0.3:
            new.append(chance.choice([1, 2, 3]))
        other = chance.choice([kind, kind, "f4", "f8", "u1", "i4", "u4", "u8", "S8", ">f4"])
        if kind.kind == "V":
            other = "u8"
        file.create_dataset(name, new, other)
        for one in contents["outputs"] + contents["inputs"]:
            group = GROUPS[one["layout"]] if "layout" in one else one["group"]
            if f"{group}/{one['name']}" == name and chance.random() < 0.7:
                skipped = {"volume": 3, "items": 1, "points": 1}.get(one.get("layout"), 0)
                one["shape"] = new[skipped:]
        set_text(file, "contents", contents)

    return f"shape of {replaced_dataset(chance, file, make)}"


def other_filter(chance, file):
    name = chance.choice([n for n in all_datasets(file) if file[n].shape])
    values, attributes = file[name][()], dict(file[name].attrs)
    del file[name]
    how = chance.choice([{"compression": "gzip"}, {"compression": "lzf"}, {"fletcher32": True, "chunks": True}, {"shuffle": True, "compression": "gzip"}])
    if values.size == 0:
        how = {}
    file.create_dataset(name, data=values, **how).attrs.update(attributes)
    return f"{name} with {how}"


def other_image(chance, file):
    size = file["image"].attrs["size"].copy()
    size[chance.randrange(3)] = chance.choice([0, 1, 2, 1000, 1 << 20, 1 << 40, 1 << 63])
    file["image"].attrs.modify("size", size)
    return f"image of {size}"


CHANGES = [other_value] * 8 + [other_text] * 4 + [other_name] * 4 + [other_shape] * 3 + [external_storage] * 3 + [virtual_dataset, virtual_dataset, link,
                                                                                                                  link, other_filter, other_image, other_journal]


class ResultCase(InputCase):
    """A changed result and one command that reads it."""

    def change(self):
        path = self.command.more_inputs[0] if self.command.more_inputs else next(
            w.text for w in self.words if w.role == "input" and w.text.endswith(".h5"))
        if self.command.more_inputs:
            shutil.copy("fibres.h5", path)
            self.make_unfinished(path)
        kept = self.chance.random() < 0.25  # the checksums: the file is damaged, not made
        with h5py.File(path, "r+") as file:
            for _ in range(self.chance.choice([1, 1, 1, 2])):
                change = self.chance.choice(CHANGES)
                try:
                    self.note(change(self.chance, file), os.path.basename(path), path.split(".")[0])
                except (KeyError, ValueError, TypeError, OSError, RuntimeError, IndexError) as refused:  # after another change
                    self.note(f"not {change.__name__}: {type(refused).__name__}")
            if not kept:
                store_checksums(file)
        self.note("old checksums" if kept else "new checksums")
        self.is_vague = True
        accepted = subprocess.run([self.inputs.program, "verify", path, "--accept"], capture_output=True, timeout=HANG_SECONDS)
        if accepted.returncode not in (0, 65):
            self.status = accepted.returncode
            self.complain("crashed", f"verify --accept: status {accepted.returncode}: {accepted.stderr[-300:]}")

    def make_unfinished(self, path):
        """Some batches of the resumed result are not done yet."""
        with h5py.File(path, "r+") as file:
            file.attrs.modify("complete", numpy.uint8(0))
            journal = file["journal/batches"][()]
            for entry in range(len(journal)):
                if entry % 2 == 0:
                    journal[entry]["done"] = 0
            file["journal/batches"][...] = journal

    def check_message(self):
        if self.words[0].text != "verify" or "CHANGED" not in self.output:  # its answer is no error
            super().check_message()

    def judge(self):
        super().judge()
        outs = [os.path.normpath(w.text) for w in self.words if w.role == "output"] + ["o.h5", "r.h5"]
        allowed = tuple([*outs, *(os.path.splitext(out)[0] + ".json" for out in outs)])
        new = sorted(set(snapshot(".")) - set(self.before))
        if [name for name in new if not name.startswith(allowed)]:
            self.complain("lost", f"writes {new}: {self.shown()}")
        if set(os.listdir(self.top)) - {"work", "log"}:
            self.complain("lost", f"writes outside of its folder, {os.listdir(self.top)}: {self.shown()}")
        for name in new:
            if os.path.isfile(name) and not os.path.islink(name):
                with open(name, "rb") as file:
                    if SECRET[:40] in file.read():
                        self.complain("lost", f"{name} has the content of another file: {self.shown()}")


class HostileResult(ViewInput):
    """Needs h5py."""

    def __init__(self):
        super().__init__("result")

    def new_case(self, number, chance, setup):
        return ResultCase(number, chance, self, setup)

    def make_commands(self):
        return result_commands()

    def wait_for(self, job, log, seconds):
        if "view" in job.args:
            return super().wait_for(job, log, seconds)
        return BadInput.wait_for(self, job, log, seconds)
