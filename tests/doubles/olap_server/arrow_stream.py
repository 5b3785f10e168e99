"""Reads rows of Arrow IPC streams ("Arrow Columnar Format", IPC Streaming Format; Schema.fbs, Message.fbs), as Doris does."""
import datetime
import struct

from values import family

SCHEMA, RECORD_BATCH = 1, 3
NAMES = {2: "int", 3: "float", 4: "binary", 5: "utf8", 6: "bool", 7: "decimal", 8: "date", 10: "timestamp"}
EPOCH = datetime.datetime(1970, 1, 1)
# A stream load reads a moment as an unsigned count in this zone, whatever the stream says (ArrowStreamReader).
SERVERS_ZONE = datetime.timedelta(hours=8)


class Table:
    """A table of FlatBuffers."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]
        self.size, = struct.unpack_from("<H", data, self.vtable)

    def place(self, number):
        slot = 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, self.vtable + slot)[0] if slot < self.size else 0
        return self.at + offset if offset else None

    def number(self, number, form, default=0):
        place = self.place(number)
        return default if place is None else struct.unpack_from("<" + form, self.data, place)[0]

    def target(self, number):
        place = self.place(number)
        return None if place is None else place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, number):
        return Table(self.data, self.target(number))

    def text(self, number):
        at = self.target(number)
        size, = struct.unpack_from("<I", self.data, at)
        return self.data[at + 4:at + 4 + size].decode()

    def tables(self, number):
        at = self.target(number)
        count, = struct.unpack_from("<I", self.data, at)
        places = [at + 4 + 4 * i for i in range(count)]
        return [Table(self.data, place + struct.unpack_from("<I", self.data, place)[0]) for place in places]

    def pairs(self, number):
        """A vector of structs of two longs."""
        at = self.target(number)
        count, = struct.unpack_from("<I", self.data, at)
        return [struct.unpack_from("<qq", self.data, at + 4 + 16 * i) for i in range(count)]


class Field:
    def __init__(self, table):
        self.name = table.text(0)
        self.kind = NAMES.get(table.number(2, "B"), "another type")
        kind = table.table(3)
        self.width = kind.number(0, "i") if self.kind == "int" else 0
        self.precision = kind.number(0, "h") if self.kind == "float" else kind.number(0, "i") if self.kind == "decimal" else 0
        self.scale = kind.number(1, "i") if self.kind == "decimal" else 0
        self.unit = kind.number(0, "h", 1) if self.kind in ("date", "timestamp") else 0

    def suits(self, column):
        """Whether the server's column reads the buffers of this type: it looks at the bytes, and not at the type."""
        kind = family(column.kind)
        widths = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
        if kind in widths:
            return self.kind == "int" and self.width == widths[kind]
        if kind == "DECIMAL":
            return self.kind == "decimal" and (self.precision, self.scale) == (column.length, column.scale or 0)
        if kind in ("FLOAT", "DOUBLE"):
            return self.kind == "float" and self.precision == (1 if kind == "FLOAT" else 2)
        if kind == "DATE":
            return self.kind == "date" and self.unit == 0
        return self.kind == {"BOOLEAN": "bool", "DATETIME": "timestamp"}.get(kind, "utf8")

    def values(self, rows, buffers):
        validity = next(buffers)
        data = next(buffers)
        if self.kind == "utf8":
            offsets, data = struct.unpack_from(f"<{rows + 1}i", data), next(buffers)
            found = [data[offsets[i]:offsets[i + 1]].decode() for i in range(rows)]
        elif self.kind == "bool":
            found = [bool(data[i >> 3] >> (i & 7) & 1) for i in range(rows)]
        elif self.kind == "decimal":
            found = [self.decimal(int.from_bytes(data[16 * i:16 * i + 16], "little", signed=True)) for i in range(rows)]
        else:
            form = {"int": {8: "b", 16: "h", 32: "i", 64: "q"}.get(self.width), "float": "fd"[self.precision - 1],
                    "date": "i", "timestamp": "Q"}[self.kind]
            found = struct.unpack_from(f"<{rows}{form}", data)
            if self.kind == "date":
                found = [str((EPOCH + datetime.timedelta(days=day)).date()) for day in found]
            if self.kind == "timestamp":
                found = [self.moment(count) for count in found]
        return [value if not validity or validity[i >> 3] >> (i & 7) & 1 else None for i, value in enumerate(found)]

    def decimal(self, unscaled):
        digits = str(abs(unscaled)).rjust(self.scale + 1, "0")
        text = digits[:-self.scale] + "." + digits[-self.scale:] if self.scale else digits
        return "-" + text if unscaled < 0 else text

    def moment(self, count):
        seconds, rest = divmod(count, 1000 ** self.unit)
        try:
            return str(EPOCH + SERVERS_ZONE + datetime.timedelta(seconds=seconds)) + f".{rest * 1000 ** (2 - self.unit):06}"
        except OverflowError:
            return "0000-00-00 00:00:00"


def messages(data):
    """(header type, header, body) of each message, up to the end of the stream."""
    at = 0
    while True:
        mark, size = struct.unpack_from("<Ii", data, at)
        if mark != 0xffffffff:
            raise ValueError("failed to open stream reader: no continuation")
        if size == 0:
            return
        message = Table(data, at + 8 + struct.unpack_from("<I", data, at + 8)[0])
        body = at + 8 + size
        at = body + message.number(3, "q")
        if at > len(data):
            raise ValueError("failed to read batch: the stream has no end")
        yield message.number(1, "B"), message.table(2), data[body:at]


def read_rows(data, columns):
    """The rows as objects. `columns`: {name: column of the table}, all that the server expects in the stream."""
    rows, fields = [], None
    try:
        for kind, header, body in messages(data):
            if kind == SCHEMA:
                fields = [Field(field) for field in header.tables(1)]
                check(fields, columns)
            elif kind == RECORD_BATCH and header.place(3) is None:
                count = header.number(0, "q")
                buffers = iter([body[offset:offset + length] for offset, length in header.pairs(2)])
                read = [field.values(count, buffers) for field in fields]
                rows += [dict(zip([field.name for field in fields], row)) for row in zip(*read)]
            else:
                raise ValueError("failed to read batch: dictionaries and compression are not expected here")
    except struct.error as error:
        raise ValueError(f"failed to read batch: {error}") from error
    return rows


def check(fields, columns):
    for field in fields:
        column = columns.get(field.name)
        if column is None:
            raise ValueError(f"Failed to convert from arrow to block: no column {field.name}")
        if not field.suits(column):
            raise ValueError(f"Failed to convert from arrow to block: {field.kind} into {column.kind} {field.name}")
    missing = set(columns) - {field.name for field in fields}
    if missing:  # of a block all columns are as long
        raise ValueError(f"Failed to convert from arrow to block: no values for {', '.join(sorted(missing))}")
