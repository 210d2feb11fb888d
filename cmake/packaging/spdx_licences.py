"""Licences in Debian's copyright files as SPDX expressions."""
import re

# Debian's short names that SPDX spells differently; GNU licences follow a rule (below).
SPELLINGS = {
    "expat": "MIT", "mit": "MIT", "apache-2.0": "Apache-2.0", "apache-2": "Apache-2.0", "bsd-2-clause": "BSD-2-Clause", "bsd-3-clause": "BSD-3-Clause",
    "bsd-4-clause": "BSD-4-Clause", "isc": "ISC", "zlib": "Zlib", "artistic": "Artistic-1.0-Perl", "artistic-2.0": "Artistic-2.0",
    "mpl-2.0": "MPL-2.0", "bsl-1.0": "BSL-1.0", "boost-1.0": "BSL-1.0", "cc0-1.0": "CC0-1.0", "cc0": "CC0-1.0",
    "fsfap": "FSFAP", "fsful": "FSFUL", "fsfullr": "FSFULLR", "x11": "X11", "unlicense": "Unlicense",
}
GNU = re.compile(r"(A?GPL|LGPL|GFDL)-?(\d)(?:\.(\d))?(\+|-or-later|-only)?$", re.IGNORECASE)


def spdx_name(name):
    """"GPL-2+" -> "GPL-2.0-or-later"; None if SPDX has no name for it."""
    found = GNU.match(name)
    if found:
        family, major, minor, later = found.groups()
        return f"{family.upper()}-{major}.{minor or '0'}-{'or-later' if later in ('+', '-or-later') else 'only'}"
    return SPELLINGS.get(name.lower())


class Licences:
    """Expressions for packages; remembers the licences that SPDX has no name for."""

    def __init__(self):
        self.unnamed = {}

    def declared(self, text, package):
        """The licences of all parts of a package, joined with AND; NOASSERTION for a file without the machine-readable form."""
        if not re.match(r"Format(-Specification)?:", text):
            return "NOASSERTION"
        fields = {field.strip().rstrip(".") for field in re.findall(r"^License:(.+)$", text, re.MULTILINE) if field.strip()}
        expressions = sorted({self.expression(field, package) for field in fields})
        return " AND ".join(f"({e})" if " OR " in e and len(expressions) > 1 else e for e in expressions) or "NOASSERTION"

    def expression(self, field, package):
        for word, operator in ((" or ", "OR"), (" and ", "AND")):
            parts = re.split(rf",?{word}", field, flags=re.IGNORECASE)
            if len(parts) > 1 and all(re.fullmatch(r"[\w.+-]+", part) for part in parts):
                return f" {operator} ".join(self.one(part, package) for part in parts)
        return self.one(field, package)

    def one(self, name, package):
        known = spdx_name(name)
        if known:
            return known
        identifier = "LicenseRef-debian-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-")
        self.unnamed.setdefault(identifier, (name, package))
        return identifier

    def references(self):
        return [{"licenseId": identifier, "name": name,
                 "extractedText": f"The licence that /usr/share/doc/{package}/copyright in the image calls {name}."}
                for identifier, (name, package) in sorted(self.unnamed.items())]
