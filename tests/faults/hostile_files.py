"""Ways to damage a file, to replace it by something else, and to write its name.

Each change takes the random choices and a path, and returns whether it must be noticed: a run that ends with 0 then has
the result of the undamaged file, or has warned."""
import gzip
import os
import random
import re
import socket
import struct

UNNOTICED, NOTICED = False, True
ODD_NAMES = ["a b", "a\nb", "100%", "%s%n%d", "d\u00e9j\u00e0 \u4e2d", "quote'\"s", "$(touch pwned)", "`touch pwned`", "a;b", "-a", "a,b", "{x}",
             "<b>&lt;", "#a", "a\\b", "*", "a\tb", "~", "\udcff"]
MILLION = 1_000_000


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def kind_of(path):
    for kind, endings in (("gz", (".gz",)), ("cifti", (".dconn.nii", ".dscalar.nii")), ("gii", (".gii",)), ("nii", (".nii",)), ("h5", (".h5", ".part")), ("json", (".json",))):
        if path.endswith(endings):
            return kind
    return "text"


# The content

def empty(chance, path):
    write(path, b"")
    return NOTICED


def truncated(chance, path):
    content = read(path)
    write(path, content[:chance.randrange(len(content) or 1)])
    return kind_of(path) != "text"


def flipped(chance, path):
    """Values of an image or a text that is not packed cannot be checked."""
    content = bytearray(read(path))
    for _ in range(chance.choice([1, 1, 8]) if content else 0):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    write(path, content)
    return kind_of(path) == "gz"


def noise(chance, path):
    write(path, chance.randbytes(chance.choice([1, 300, 20000])))
    return NOTICED


def zeros(chance, path):
    write(path, bytes(len(read(path))))
    return NOTICED


def longer(chance, path):
    write(path, read(path) + chance.choice([b"\0", b"\n1 2 3\n", chance.randbytes(1000)]))
    return UNNOTICED


def another_file(chance, path):
    """The content of a neighbour: often of another type, perhaps a usable one."""
    around = [os.path.join(at, name) for at, _, names in os.walk(".") for name in names]
    write(path, read(chance.choice(sorted(p for p in around if os.path.isfile(p)))))
    return UNNOTICED


def unpacked(path):
    try:
        return bytearray(gzip.decompress(read(path)) if path.endswith(".gz") else read(path))
    except (OSError, EOFError):
        return bytearray()


def pack(path, content):
    write(path, gzip.compress(content, 1) if path.endswith(".gz") else content)


def changed_header(chance, path, at, values):
    content = unpacked(path)
    if len(content) >= 352:
        content[at:at + len(values)] = values
    pack(path, content)
    return UNNOTICED


def other_size(chance, path):
    sizes = [chance.choice([-1, 0, 1, 3, 4, 11, 300, 2048, 32767]) for _ in range(8)]
    return changed_header(chance, path, 40, struct.pack("<8h", *sizes))


def other_header(chance, path):
    at = chance.randrange(340)
    return changed_header(chance, path, at, chance.choice([chance.randbytes(4), struct.pack("<f", chance.choice([float("nan"), 1e30, -1.0]))]))


def not_numbers(chance, path):
    """For float32; any other type gets other values."""
    content = unpacked(path)
    value = struct.pack("<f", chance.choice([float("nan"), float("inf"), -float("inf"), 1e30, -1e30]))
    step = 4 * chance.choice([1, 2, 50])
    for at in range(352, len(content) - 3, step):
        content[at:at + 4] = value
    pack(path, content)
    return UNNOTICED


def nested(chance, path):
    levels = chance.choice([101, 5000, 300_000])
    write(path, chance.choice([b'{"a":' * levels + b"1" + b"}" * levels, b"[" * levels + b"]" * levels, b'{"dwi":{"a":' + b"[" * levels]))
    return UNNOTICED


def other_json(chance, path):
    """Another value after one of the colons."""
    other = chance.choice([b"null", b"-1", b'"\xff"', b"{}", b"[]", b"1e999", b"18446744073709551616", b"NaN"])
    content = read(path)
    begin = content.find(b":", chance.randrange(len(content) or 1)) + 1
    end = content.find(b",", begin)
    write(path, content[:begin] + other + (content[end:] if end > 0 else b"}"))
    return UNNOTICED


def million_lines(chance, path):
    lines = read(path).splitlines() or [b""]
    line = chance.choice([chance.choice(lines), b"", b"1", b"1 2 3", b"a\tb"])
    write(path, line[:40] + (b"\n" + line[:40]) * MILLION)
    return UNNOTICED


def long_line(chance, path):
    write(path, chance.choice([b"x", b"1 ", b"-", b"\t", b"["]) * (4 * MILLION))
    return UNNOTICED


def other_word(chance, path):
    words = read(path).split(b" ")
    words[chance.randrange(len(words))] = chance.choice([b"nan", b"inf", b"1e400", b"-1", b"\0", b"\xff\xfe", b"../..", b"0x10", b"", b"1,5"])
    write(path, b" ".join(words))
    return UNNOTICED


def other_line(chance, path):
    lines = read(path).split(b"\n")
    at = chance.randrange(len(lines))
    change = chance.choice(["repeat", "remove", "carriage returns", "tabs"])
    if change == "repeat":
        lines.insert(at, lines[at])
    elif change == "remove":
        del lines[at]
    write(path, (b"\r\n" if change == "carriage returns" else b"\n").join(lines) if change != "tabs" else b"\t".join(lines))
    return UNNOTICED


# XML of GIFTI, or in the header of CIFTI

def changed_xml(chance, path, change):
    """CIFTI's keeps its length, which the header states."""
    content = read(path)
    begin = max(0, content.find(b"<?xml"))
    is_cifti = kind_of(path) == "cifti" and len(content) > 544
    end = min(len(content), struct.unpack_from("<q", content, 168)[0]) if is_cifti else len(content)
    xml = change(content[begin:end])
    write(path, content[:begin] + (xml[:end - begin].ljust(end - begin, b"\0") if is_cifti else xml) + content[end:])
    return UNNOTICED


def replaced(chance, xml, pattern, values):
    """One of the matches is another value."""
    found = list(re.finditer(pattern, xml))
    if not found:
        return xml
    place = chance.choice(found)
    return xml[:place.start()] + chance.choice(values) + xml[place.end():]


def other_attribute(chance, path):
    values = [b"", b"-1", b"0", b"2", b"25", b"18446744073709551615", b"1e9", b"ASCII", b"BigEndian", b"NIFTI_TYPE_FLOAT64", b"\xff", b"&amp;", b"0,1"]
    return changed_xml(chance, path, lambda xml: replaced(chance, xml, rb'(?<==")[^"]*(?=")', values))


def other_number_in_xml(chance, path):
    values = [b"", b"-1", b"25", b"4294967296", b"nan", b"1e39", b"1 1", b"x", b"0.5"]
    return changed_xml(chance, path, lambda xml: replaced(chance, xml, rb"(?<=[> \n])-?[0-9.]+(?=[< \n])", values))


def other_element(chance, path):
    values = [b"", b"<Data>", b"</Data>", b"</DataArray>", b"<DataArray>", b"<GIFTI>" * 5000, b"<BrainModel>", b"</CIFTI>", b"<!-- ", b"<![CDATA["]
    return changed_xml(chance, path, lambda xml: replaced(chance, xml, rb"<[^?][^>]*>", values))


def entities(chance, path):
    text = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    return changed_xml(chance, path, lambda xml: xml.replace(b"?>", b"?>" + text, 1))


def other_byte_order(chance, path):
    """Of one array; texts have none."""
    values = [b"BigEndian", b"LittleEndian"]
    changed_xml(chance, path, lambda xml: replaced(chance, xml, rb'(?<=Endian=")[A-Za-z]+', values))
    return NOTICED


def absurd_size(chance, path):
    """More numbers than the file, or the memory, has."""
    values = [b"2000000000", b"1000000000000", b"9223372036854775808", b"400000000"]
    changed_xml(chance, path, lambda xml: replaced(chance, xml, rb'(?<=Dim0=")\d+', values))
    return NOTICED


def values_without_number(chance, path):
    """Some, or all, numbers of a text are NaN or infinite, as on the medial wall."""
    def change(xml):
        begin, end = xml.rfind(b"<Data>") + 6, xml.rfind(b"</Data>")
        words, other, share = xml[begin:end].split(b" "), chance.choice([b"nan", b"NaN", b"-nan", b"inf"]), chance.choice([.1, .9, 1])
        return xml[:begin] + b" ".join(other if chance.random() < share else word for word in words) + xml[end:]

    return changed_xml(chance, path, change)


def other_intent(chance, path):
    return changed_header(chance, path, 68, struct.pack("<h", chance.choice([0, 1006, 1007, 2006, 2007, 2008, 2009, 2016, -1])))


# Something else in its place

def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        aside = path + ".moved"
        while os.path.lexists(aside):  # by an earlier change of the same case
            aside += "2"
        os.rename(path, aside)
    elif os.path.lexists(path):
        os.remove(path)


def replaced_by(make):
    def change(chance, path):
        remove(path)
        make(path)
        return NOTICED

    change.__name__ = make.__name__
    return change


def missing(path):
    pass


def folder(path):
    os.mkdir(path)


def pipe(path):
    os.mkfifo(path)


def link_to_itself(path):
    os.symlink(os.path.basename(path), path)


def link_to_nothing(path):
    os.symlink("nothing", path)


def link_to_zeros(path):
    os.symlink("/dev/zero", path)


def bound_socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        here = os.getcwd()
        os.chdir(os.path.dirname(path) or ".")  # the address has at most 107 characters
        try:
            one.bind(os.path.basename(path))
        finally:
            os.chdir(here)


PLACES = [replaced_by(make) for make in (missing, folder, pipe, link_to_itself, link_to_nothing, link_to_zeros, bound_socket)]
CONTENTS = [empty, truncated, flipped, noise, zeros, longer, another_file]
XML_CONTENTS = [other_attribute, other_attribute, other_number_in_xml, other_element, entities]
OWN_CONTENTS = {"gii": [*XML_CONTENTS, other_byte_order, absurd_size, values_without_number], "cifti": [*XML_CONTENTS, not_numbers], "gz": [flipped, flipped, truncated, other_size, other_header, not_numbers], "nii": [other_size, other_header, other_intent, not_numbers],
                "json": [nested, nested, other_json, other_json], "h5": [flipped, truncated],
                "text": [million_lines, long_line, other_word, other_word, other_line]}


def changes(path):
    """What can be done to a file; the content is changed more often than the place."""
    return 2 * CONTENTS + 2 * OWN_CONTENTS[kind_of(path)] + PLACES


# Another way to write the name of the same file

def spellings(chance: random.Random, path):
    """Names that lead to an existing file, and the file under an odd name."""
    own = os.path.basename(path)
    at = os.path.dirname(path) or "."
    kind = chance.choice(["absolute", "dot", "dots", "link", "folder link", "hard link", "odd"])
    if any(os.path.lexists(name) for name in ("link_" + own, "linked_folder", "hard_" + own)):
        kind = "absolute"
    if kind == "absolute":
        return kind, os.path.abspath(path)
    if kind == "dot":
        return kind, os.path.join(at, ".", own)
    if kind == "dots":
        return kind, os.path.join(at, "..", os.path.basename(os.path.abspath(at)), own)
    if kind == "link":
        os.symlink(os.path.abspath(path), "link_" + own)
        return kind, "link_" + own
    if kind == "folder link":
        os.symlink(os.path.abspath(at), "linked_folder")
        return kind, os.path.join("linked_folder", own)
    if kind == "hard link" and os.path.isfile(path):
        os.link(path, "hard_" + own)
        return kind, "hard_" + own
    odd = chance.choice(ODD_NAMES) + own
    if os.path.lexists(odd):
        return "absolute", os.path.abspath(path)
    (os.symlink(os.path.abspath(path), odd) if os.path.isdir(path) else os.link(path, odd))
    return f"odd name {ascii(odd)}", odd
