"""Surfaces, warps and CIFTI files among the good inputs, and the commands that read them."""
import base64
import struct
import zlib

from commands import argument, command, with_first

SIDE = 5  # vertices along each edge of a sheet
BRIEF = "--backend cpu --threads 1 --quiet"


def sheet(x_mm):
    """Points and triangles of a square of 24 mm across the first axis, through the middle of the scan."""
    points = [(x_mm, 6. * j - 12, 6. * k - 12) for k in range(SIDE) for j in range(SIDE)]
    corners = [SIDE * k + j for k in range(SIDE - 1) for j in range(SIDE - 1)]
    return points, [t for c in corners for t in ((c, c + 1, c + SIDE), (c + SIDE + 1, c + SIDE, c + 1))]


def rows_text(rows, end=""):
    return "".join(" ".join(f"{number:g}" for number in row) + end + "\n" for row in rows)


def freesurfer_text(x_mm):
    points, triangles = sheet(x_mm)
    return f"#!ascii sheet\n{len(points)} {len(triangles)}\n{rows_text(points, ' 0')}{rows_text(triangles, ' 0')}"


def vtk_text(x_mm):
    points, triangles = sheet(x_mm)
    return (f"# vtk DataFile Version 3.0\nsheet\nASCII\nDATASET POLYDATA\nPOINTS {len(points)} float\n{rows_text(points)}"
            f"POLYGONS {len(triangles)} {4 * len(triangles)}\n{rows_text([(3, *t) for t in triangles])}")


def data_array(intent, kind, columns, rows, form):
    """`form`: how the values are written, as GIFTI calls it."""
    numbers = [number for row in rows for number in row]
    packed = struct.pack(f"<{len(numbers)}{'f' if kind == 'FLOAT32' else 'i'}", *numbers)
    text = {"ASCII": rows_text(rows).encode(), "Base64Binary": base64.b64encode(packed),
            "GZipBase64Binary": base64.b64encode(zlib.compress(packed))}[form].decode()
    sizes = f'Dimensionality="2" Dim0="{len(rows)}" Dim1="{columns}"' if columns > 1 else f'Dimensionality="1" Dim0="{len(rows)}"'
    return (f'<DataArray Intent="NIFTI_INTENT_{intent}" DataType="NIFTI_TYPE_{kind}" ArrayIndexingOrder="RowMajorOrder" {sizes} '
            f'Encoding="{form}" Endian="LittleEndian"><Data>{text}</Data></DataArray>\n')


def gifti_text(*arrays, labels=""):
    notes = "<MetaData><MD><Name>AnatomicalStructurePrimary</Name><Value>CortexLeft</Value></MD></MetaData>"
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<GIFTI Version="1.0" NumberOfDataArrays="{len(arrays)}">{notes}'
            f'<LabelTable>{labels}</LabelTable>\n{"".join(arrays)}</GIFTI>\n')


def mesh_gifti(x_mm, form):
    points, triangles = sheet(x_mm)
    return gifti_text(data_array("POINTSET", "FLOAT32", 3, points, form), data_array("TRIANGLE", "INT32", 3, triangles, form))


def mesh_texts():
    vertices = range(SIDE * SIDE)
    parcels = '<Label Key="0">???</Label><Label Key="1">one</Label><Label Key="2">two</Label>'
    return {"seeds.surf.gii": mesh_gifti(0, "GZipBase64Binary"), "stop.surf.gii": mesh_gifti(6, "ASCII"), "target.surf.gii": mesh_gifti(-4, "Base64Binary"),
            "gate.asc": freesurfer_text(3), "target.vtk": vtk_text(5), "surfaces.txt": "gate.asc\ntarget.vtk\n",
            "seeds.func.gii": gifti_text(data_array("NONE", "FLOAT32", 1, [(float(v % 3 > 0),) for v in vertices], "ASCII")),
            "stop.func.gii": gifti_text(data_array("NONE", "FLOAT32", 1, [(float(v % 5 > 0),) for v in vertices], "ASCII")),
            "parcels.label.gii": gifti_text(data_array("LABEL", "INT32", 1, [(v % 2 + 1,) for v in vertices], "ASCII"), labels=parcels),
            "itk.txt": "#Insight Transform File V1.0\n#Transform 0\nTransform: AffineTransform_double_3_3\n"
                       "Parameters: 1 0 0 0 1 0 0 0 1 0.5 0 0\nFixedParameters: 0 0 0\n"}


def write_warps(inputs):
    """Displacements of 1 mm in the header of the scan: FSL's (three volumes) and ITK's (five dimensions)."""
    with open(inputs.path("scan/data.nii"), "rb") as file:
        header = bytearray(file.read(352))
    for name, size, intent, shift in (("warp.nii", (4, 11, 9, 7, 3, 1, 1, 1), 2006, 1.), ("back.nii", (4, 11, 9, 7, 3, 1, 1, 1), 2006, -1.),
                                      ("itk.nii", (5, 11, 9, 7, 1, 3, 1, 1), 1007, 1.), ("itk_back.nii", (5, 11, 9, 7, 1, 3, 1, 1), 1007, -1.)):
        header[40:56] = struct.pack("<8h", *size)
        header[68:70] = struct.pack("<h", intent)
        with open(inputs.path(name), "wb") as file:
            file.write(bytes(header) + struct.pack("<2079f", *(shift if v < 693 else 0. for v in range(2079))))


def make_meshes(inputs):
    for name, text in mesh_texts().items():
        with open(inputs.path(name), "w", encoding="ascii") as file:
            file.write(text)
    write_warps(inputs)
    track = f"track --samples fibres.h5 {BRIEF}"
    inputs.voxherd(f"{track} --samples-per-seed 100 --seed-image seeds.surf.gii --matrix1 vertices1.h5 --matrix2 vertices2.h5 --target2 mask.nii.gz --lengths --out vertices.h5")
    inputs.voxherd(f"{track} --tracts tracts --tract-samples 2 --out af.h5")
    inputs.voxherd("export vertices1.h5 --to cifti models.dconn.nii")


def surface_commands():
    begin = "track --samples fibres.h5 --samples-per-seed 100 --out o.h5"
    return [command("surface", text, results) for text, results in (
        (f"{begin} --seed-image seeds.surf.gii --surface-values seeds.func.gii --stop stop.surf.gii --matrix1 1.h5 {BRIEF}", ["o.h5", "1.h5"]),
        (f"{begin} --seed-image gate.asc --exclude stop.surf.gii --include target.vtk --matrix3 3.h5 --target3 target.surf.gii {BRIEF}", ["o.h5", "3.h5"]),
        (f"{begin} --seed-image ends.nii.gz --walk-through-stop surfaces.txt --targets target.surf.gii --mesh-space caret {BRIEF}", ["o.h5"]),
        (f"{begin} --seed-image seeds.surf.gii --surface-values seeds.func.gii stop.func.gii --stop stop.surf.gii {BRIEF}", ["o.h5"]),
        (f"{begin} --connectome surfaces.txt --stop gate.asc --paths p.h5 {BRIEF}", ["o.h5", "p.h5"]))]


def warp_commands():
    begin = "track --samples fibres.h5 --seed-image ends.nii.gz --samples-per-seed 100 --out o.h5"
    end = f"--stop stop.nii --paths p.h5 {BRIEF}"
    return [command("warp", text, ["o.h5", "p.h5"]) for text in (
        f"{begin} --transform warp.nii --inverse-transform back.nii {end}", f"{begin} --transform itk.nii --inverse-transform itk_back.nii {end}",
        f"{begin} --transform itk.txt {end}", f"{begin} --seedref mask.nii.gz --transform warp.nii --inverse-transform back.nii --lengths {end}")]


def cifti_commands():
    def export(result, out, text):
        c = command("cifti", f"export --to cifti {text} --quiet", [out])
        return with_first(argument(result, "input"), with_first(argument(out, "output"), c))

    return [export("vertices1.h5", "o.dconn.nii", "--brain-models models.dconn.nii --symmetric --log"),
            export("vertices1.h5", "o.pconn.nii", "--parcels parcels.label.gii --normalise waytotal --waytotal vertices.h5"),
            export("vertices1.h5", "o.dscalar.nii", "--values mean-length --structures CORTEX_RIGHT"),
            export("vertices2.h5", "b.dscalar.nii", "--blueprint af.h5"), export("vertices.h5", "s.dscalar.nii", "--normalise seed")]


MESH_MAKERS = {"surface": surface_commands, "warp": warp_commands, "cifti": cifti_commands}
# What can be wrong with the values of an export's options, or with their combination.
CIFTI_ARGUMENTS = ["--structures nothing", "--structures CORTEX_LEFT CORTEX_RIGHT", "--structures -", "--values sum", "--values length-sum",
                   "--normalise seed", "--normalise waytotal", "--waytotal bad.txt", "--waytotal vertices2.h5", "--parcels seeds.func.gii",
                   "--parcels parcels.label.gii parcels.label.gii", "--parcels models.dconn.nii", "--blueprint vertices.h5", "--blueprint tensor.h5",
                   "--brain-models mask.nii.gz", "--brain-models seeds.surf.gii", "--transpose", "--symmetric", "--host-memory 1e-6", "--host-memory nan",
                   "--tract-threshold 2", "--log --log", "--half-positions", "--subject a"]
