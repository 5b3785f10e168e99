#!/usr/bin/env python3
"""Hide what a shared library should not export (bundled OpenSSL, thrift, simdjson, re2, abseil).

usage: hide_symbols.py IN.so OUT.so PREFIX...

Every defined dynamic symbol whose name holds none of the PREFIXes gets STV_HIDDEN in .dynsym:
the loader then binds the library's own references to it inside the library, without looking at its
name, and no other object can bind to it. Linkers do look at the name (GNU ld and mold take a hidden
definition for a good one and leave the system's library out), so the name loses its first letter.
Nothing is moved; hash tables and sizes stay as they are. ELF64 little-endian.
"""
import struct
import sys

src, dst, keep = sys.argv[1], sys.argv[2], [p.encode() for p in sys.argv[3:]]
data = bytearray(open(src, "rb").read())
assert data[:6] == b"\x7fELF\x02\x01", "not an ELF64 little-endian file"
shoff, = struct.unpack_from("<Q", data, 0x28)
shentsize, shnum, _ = struct.unpack_from("<HHH", data, 0x3A)
sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shentsize) for i in range(shnum)]
hidden = kept = 0
for _, sh_type, _, _, off, size, link, _, _, entsize in sections:
    if sh_type != 11:  # SHT_DYNSYM
        continue
    strings = sections[link][4]
    for at in range(off + entsize, off + size, entsize):
        st_name, st_info, st_other, st_shndx = struct.unpack_from("<IBBH", data, at)
        if st_shndx == 0 or st_info >> 4 == 0:  # undefined or already local
            continue
        name = bytes(data[strings + st_name:data.index(b"\0", strings + st_name)])
        if any(p in name for p in keep):
            kept += 1
        else:
            data[at + 5] = (st_other & ~3) | 2  # STV_HIDDEN
            struct.pack_into("<I", data, at, st_name + 1)
            hidden += 1
open(dst, "wb").write(data)
print(f"{dst}: {hidden} hidden, {kept} kept")
