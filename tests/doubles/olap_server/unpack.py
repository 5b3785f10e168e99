"""Unpacks bodies: gzip, and LZ4 frames (LZ4 Frame Format Description 1.6.1) without their checksums."""
import struct
import zlib


def gunzip(data):
    out = zlib.decompressobj(31)
    text = out.decompress(data) + out.flush()
    if not out.eof:
        raise ValueError("the gzip body has no end")
    return text


def lz4_block(data, out):
    at = 0
    while at < len(data):
        token = data[at]
        at += 1
        length = token >> 4
        if length == 15:
            while True:
                length += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        out += data[at:at + length]
        at += length
        if at >= len(data):
            return
        offset = data[at] | data[at + 1] << 8
        at += 2
        length = (token & 15) + 4
        if token & 15 == 15:
            while True:
                length += data[at]
                at += 1
                if data[at - 1] != 255:
                    break
        if offset == 0 or offset > len(out):
            raise ValueError("an LZ4 match lies before the data")
        start = len(out) - offset
        while length > 0:  # a match may overlap what it writes
            piece = out[start:start + length]
            out += piece
            start += len(piece)
            length -= len(piece)


def unlz4(data):
    if data[:4] != b"\x04\x22\x4d\x18":
        raise ValueError("no LZ4 frame")
    flags = data[4]
    at = 6 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0) + 1
    out = bytearray()
    while True:
        size, = struct.unpack_from("<I", data, at)
        at += 4
        if size == 0:
            return bytes(out)
        block = data[at:at + (size & 0x7fffffff)]
        at += len(block) + (4 if flags & 16 else 0)
        if size >> 31:
            out += block
        else:
            lz4_block(block, out)
