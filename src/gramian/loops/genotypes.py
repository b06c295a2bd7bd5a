"""Genotypes of two bits each, four to a byte, decoded.

A variant is a line of bytes; sample s is bits 2 (s % 4) and up of byte s // 4. The codes are those
of PLINK: 0 two copies of the first allele, 1 missing, 2 one copy, 3 none.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled


@compiled
def decode(packed, values, out):
    """out[v, s] = values[code of sample s in variant v]."""
    n = np.uint64(out.shape[1])
    whole = n // np.uint64(4)
    for v in range(packed.shape[0]):
        line, into, value = packed[v], out[v], values
        for b in range(whole):
            byte = line[b]
            s = np.uint64(4) * b
            into[s] = value[byte & np.uint8(3)]
            into[s + np.uint64(1)] = value[(byte >> np.uint8(2)) & np.uint8(3)]
            into[s + np.uint64(2)] = value[(byte >> np.uint8(4)) & np.uint8(3)]
            into[s + np.uint64(3)] = value[byte >> np.uint8(6)]
        for last in range(np.uint64(4) * whole, n):
            byte = line[last // np.uint64(4)]
            into[last] = value[(byte >> np.uint8(2 * (last % np.uint64(4)))) & np.uint8(3)]
