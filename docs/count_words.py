#!/usr/bin/env python3
"""Counts the words of all documents (*.md): written by hand, and in generated tables.

    python3 docs/count_words.py

A generated table begins with `<!-- options: NAME -->`, `<!-- outputs: NAME -->`, `<!-- commands: all -->` or `<!-- generated: BY WHAT -->` and ends with
`<!-- end -->`. Code blocks count as written by hand.
"""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GENERATED = re.compile(r"<!-- (?:options|outputs|commands|generated): .*? -->.*?<!-- end -->", re.DOTALL)


def count(path):
    """Words by hand, words of generated tables."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    by_hand = len(GENERATED.sub("", text).split())
    return by_hand, len(text.split()) - by_hand


def main():
    paths = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    rows = [(*count(path), path) for path in paths]
    rows.append((sum(r[0] for r in rows), sum(r[1] for r in rows), "all"))
    print(f"{'by hand':>8} {'generated':>9}")
    for by_hand, generated, path in rows:
        print(f"{by_hand:>8} {generated:>9}  {path}")


if __name__ == "__main__":
    main()
