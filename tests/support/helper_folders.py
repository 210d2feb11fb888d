"""Importing it makes all helpers importable: those of tests/support and of tests/SUBJECT/support."""
import glob
import os
import sys

SUPPORT = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [SUPPORT, *sorted(glob.glob(os.path.join(os.path.dirname(SUPPORT), "*", "support")))]
