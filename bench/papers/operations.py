"""Prints docs/papers/wang-cao-2012-operations.csv below its notes: operations of a convolution, counted from the algorithms."""
import math

# Table 1 of Wang & Cao 2012, by its formulas: FFT of twice the frames, and direct sum.
PAPER = {32: (5472, 1024), 48: (8320, 2304), 64: (12480, 4096), 128: (28032, 16384), 256: (56960, 65536),
         320: (74496, 102400), 448: (115712, 200704)}
ROWS = {32: 2, 48: 3, 64: 2, 128: 2, 256: 4, 320: 5, 448: 7}  # q of the paper's q x p tables


def block_fft(frames):
    """The paper's q x p algorithm for one convolution with a known transform: both transforms and the product."""
    q = ROWS[frames]
    p = frames // q
    one_way = 4 * q * p * (q + 1) + 6 * p * (q + 1) + 5 * p * math.log2(p) * (q + 1)
    return 2 * one_way + 6 * p * (q + 1)


if __name__ == "__main__":
    print("frames,paper_fft,paper_sum,block_fft,sum,recursion_exact")
    for frames, (fft, direct) in PAPER.items():
        print(f"{frames},{fft},{direct},{block_fft(frames):.0f},{frames * (frames + 1)},{13 * frames}")
