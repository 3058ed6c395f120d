"""CRC-16-CCITT, bit by bit: Python-int bit operations with uint8 elements, fully serial.

Seen in: npbench crc16.
"""
import numpy as np


def make(n):
    rng = np.random.default_rng(16)
    return rng.integers(0, 256, n).astype(np.uint8), 0x8408


def run(data, poly):
    crc = 0xFFFF
    for i in range(len(data)):
        b = int(data[i])
        for bit in range(8):
            if (crc & 1) ^ (b & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            b >>= 1
    crc = (~crc & 0xFFFF)
    return (crc << 8) & 0xFF00 | crc >> 8


SIZES = {"small": 27_000, "large": 1_800_000}
