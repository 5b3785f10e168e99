"""The MySQL port of a front end: handshake, native password, text protocol (MySQL's "Client/Server Protocol")."""
import hashlib
import os
import re
import socketserver
import struct
import time

from sql_text import Reader, SqlError

CLIENT_SSL = 0x800
CAPABILITIES = 0x1 | 0x2 | 0x4 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000


def lenenc(data):
    if isinstance(data, str):
        data = data.encode()
    if len(data) < 251:
        return bytes([len(data)]) + data
    return b"\xfc" + struct.pack("<H", len(data)) + data if len(data) < 65536 else b"\xfd" + struct.pack("<I", len(data))[:3] + data


def type_text(column):
    """As SHOW FULL COLUMNS prints it."""
    kind = column.kind.lower()
    if kind in ("varchar", "char"):
        return f"{kind}({column.length})"
    if kind in ("decimal", "decimalv3"):
        return f"decimal({column.length},{column.scale or 0})"
    if kind == "datetimev2":
        return f"datetime({column.length or 0})"
    return {"datev2": "date", "string": "text"}.get(kind, kind)


def when(seconds):
    return "N/A" if seconds is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


class Answers:
    """What a front end says to statements that change nothing, over either port."""

    def __init__(self, catalog):
        self.catalog = catalog

    def answer(self, sql):
        catalog = self.catalog
        plain = " ".join(sql.split())
        with catalog.lock:
            catalog.tick()
            catalog.queries.append(sql)
            if plain.lower().startswith(("set ", "select 1")):
                return ["1"], [[1]]
            if plain == "SELECT current_version()" and catalog.product == "starrocks":
                return ["current_version()"], [[catalog.version]]
            if plain == "SHOW VARIABLES LIKE 'version_comment'" and catalog.product == "doris":
                return ["Variable_name", "Value"], [["version_comment", f"Doris version doris-{catalog.version}"]]
            if "information_schema.COLUMNS" in plain:
                return self.columns(*self.of_schema(plain))
            if "information_schema.TABLES" in plain:
                database, name = self.of_schema(plain)
                table = catalog.databases.get(database, {}).get(name)
                return ["TABLE_COMMENT"], [[table.comment]] if table else []
            if plain.startswith("SHOW FULL COLUMNS FROM "):
                return self.full_columns(Reader(plain))
            if plain.startswith("SHOW ALTER TABLE COLUMN"):
                return self.jobs(Reader(plain))
            if plain.startswith("SELECT `"):
                return self.select(Reader(plain))
        raise SqlError(f"Getting syntax error near: {plain[:80]}")

    def select(self, reader):
        """SELECT `a`, ... FROM `d`.`t` [ORDER BY `k`, ...] [LIMIT [offset,] rows]; by key, whatever is asked."""
        reader.expect("SELECT")
        names = [reader.name()]
        while reader.take(","):
            names.append(reader.name())
        reader.expect("FROM")
        database, name = reader.path()
        if reader.take("ORDER", "BY"):
            reader.name()
            while reader.take(","):
                reader.name()
        first, count = 0, None
        if reader.take("LIMIT"):
            count = reader.number()
            if reader.take(","):
                first, count = count, reader.number()
        reader.end()
        table = self.catalog.table(database, name)
        for column in names:
            if table.find(column) is None:
                raise SqlError(f"Column '{column}' cannot be resolved", 1054)
        rows = self.catalog.dump(database, name)[first:None if count is None else first + count]
        return names, [[{True: 1, False: 0}.get(row[n], row[n]) if isinstance(row[n], bool) else row[n] for n in names]
                       for row in rows]

    @staticmethod
    def of_schema(sql):
        match = re.search(r'TABLE_SCHEMA = "((?:[^"\\]|\\.)*)" AND TABLE_NAME = "((?:[^"\\]|\\.)*)"', sql)
        if not match:
            raise SqlError("Getting syntax error: TABLE_SCHEMA and TABLE_NAME are expected")
        return [re.sub(r"\\(.)", r"\1", part) for part in match.groups()]

    def columns(self, database, name):
        names = ["COLUMN_NAME", "DATA_TYPE", "COLUMN_SIZE", "DECIMAL_DIGITS", "IS_NULLABLE", "COLUMN_KEY",
                 "COLUMN_DEFAULT", "COLUMN_COMMENT"]
        table = self.catalog.databases.get(database, {}).get(name)
        rows = []
        for column in table.columns if table else []:
            kind = column.kind.lower()
            sizes = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19, "float": 7, "double": 15, "date": 10,
                     "datetime": 20}
            size = column.length if column.length is not None else sizes.get(kind)
            if kind == "boolean":  # shown as a tinyint without a size
                kind, size = "tinyint", None
            default = "CURRENT_TIMESTAMP" if column.default == ("now",) else column.default
            rows.append([column.name, kind, size, column.scale if kind == "decimal" else None,
                         "YES" if column.nullable else "NO", "PRI" if column.is_key else "", default, column.comment])
        return names, rows

    def full_columns(self, reader):
        reader.expect("SHOW", "FULL", "COLUMNS", "FROM")
        table = self.catalog.table(*reader.path())
        reader.end()
        names = ["Field", "Type", "Collation", "Null", "Key", "Default", "Extra", "Privileges", "Comment"]
        shows_keys = table.model != "DUPLICATE"
        return names, [[c.name, type_text(c), None, "Yes" if c.nullable else "No",
                        "YES" if c.is_key and shows_keys else "NO",
                        "CURRENT_TIMESTAMP" if c.default == ("now",) else c.default, "", "", c.comment]
                       for c in table.columns]

    def jobs(self, reader):
        reader.expect("SHOW", "ALTER", "TABLE", "COLUMN")
        catalog = self.catalog
        database = reader.name() if reader.take("FROM") else None
        name = None
        if reader.take("WHERE"):
            reader.expect("TABLENAME")
            reader.expect("=")
            name = reader.text()
        descending = False
        if reader.take("ORDER", "BY"):
            if reader.name() not in ("JobId", "CreateTime"):
                reader.fail()
            descending = reader.take("DESC")
        limit = reader.number() if reader.take("LIMIT") else None
        reader.end()
        names = ["JobId", "TableName", "CreateTime", "FinishTime", "IndexName", "IndexId", "OriginIndexId",
                 "SchemaVersion", "TransactionId", "State", "Msg", "Progress", "Timeout"]
        found = [job for job in catalog.jobs if (database is None or job.table.database == database) and
                 (name is None or job.table.name == name)]
        if descending:
            found = found[::-1]
        return names, [[job.number, job.table.name, when(job.created), when(job.finished), job.table.name, 1, 1, "1:1", 1,
                        job.state, "" if job.state == "RUNNING" else job.message,
                        "40%" if job.state == "RUNNING" else "N/A", 86400] for job in found[:limit]]


class FrontEnd(socketserver.BaseRequestHandler):
    def handle(self):
        self.sequence = 0
        try:
            if not self.greet():
                return
            while True:
                self.sequence = 0
                command = self.read()
                if not command or command[0] == 1:
                    return
                if command[0] in (2, 14):
                    self.ok()
                elif command[0] == 3:
                    self.query(command[1:].decode("utf-8"))
                else:
                    self.error(SqlError(f"command {command[0]} is not supported: no prepared statements here", 1047))
        except (ConnectionError, OSError):
            return

    def finish(self):
        self.request.close()  # maybe another one than the server knows

    def exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.request.recv(size - len(data))
            if not part:
                raise ConnectionError
            data += part
        return data

    def read(self):
        head = self.exactly(4)
        self.sequence = head[3] + 1
        return self.exactly(int.from_bytes(head[:3], "little"))

    def send(self, payload):
        self.request.sendall(len(payload).to_bytes(3, "little") + bytes([self.sequence & 255]) + payload)
        self.sequence += 1

    def greet(self):
        salt = bytes(33 + b % 90 for b in os.urandom(20))
        version = b"5.1.0\0" if self.server.catalog.product == "starrocks" else b"5.7.99\0"
        tls = self.server.tls
        capabilities = CAPABILITIES | (0 if tls is None else CLIENT_SSL)
        self.send(b"\x0a" + version + struct.pack("<I", 1) + salt[:8] + b"\0" + struct.pack("<H", capabilities & 0xffff) +
                  b"\x21" + struct.pack("<H", 2) + struct.pack("<H", capabilities >> 16) + b"\x15" + b"\0" * 10 +
                  salt[8:] + b"\0" + b"mysql_native_password\0")
        answer = self.read()
        if tls is not None:
            if not int.from_bytes(answer[:4], "little") & CLIENT_SSL:
                self.error(SqlError("Connections using insecure transport are prohibited", 3159))
                return False
            self.request = tls.wrap_socket(self.request, server_side=True)
            answer = self.read()
        user, rest = answer[32:].split(b"\0", 1)
        token = rest[1:1 + rest[0]]
        password = self.server.password.encode()
        stage1 = hashlib.sha1(password).digest()
        expected = bytes(a ^ b for a, b in zip(stage1, hashlib.sha1(salt + hashlib.sha1(stage1).digest()).digest()))
        if user.decode() != self.server.user or token != (expected if password else b""):
            self.error(SqlError(f"Access denied for user '{user.decode()}' (using password: {'YES' if token else 'NO'})", 1045))
            return False
        self.ok()
        return True

    def ok(self):
        self.send(b"\0\0\0\x02\0\0\0")

    def error(self, error):
        text = str(error)
        if self.server.catalog.product == "doris" and error.number not in (1045,):
            text = "errCode = 2, detailMessage = " + text
        self.send(b"\xff" + struct.pack("<H", error.number) + b"#HY000" + text.encode())

    def eof(self):
        self.send(b"\xfe\0\0\x02\0")

    def rows(self, names, rows):
        self.send(bytes([len(names)]))
        for name in names:
            self.send(lenenc("def") + lenenc("") * 3 + lenenc(name) + lenenc("") +
                      b"\x0c" + struct.pack("<HIBHB", 33, 1024, 0xfd, 0, 0) + b"\0\0")
        self.eof()
        for row in rows:
            self.send(b"".join(b"\xfb" if value is None else lenenc(str(value)) for value in row))
        self.eof()

    def query(self, sql):
        faults = self.server.faults
        if faults.take("sql_gone_before"):
            raise ConnectionError
        try:
            changed = self.server.catalog.execute(sql)
            if changed and faults.take("sql_gone_after"):
                raise ConnectionError
            names, rows = ([], []) if changed else Answers(self.server.catalog).answer(sql)
        except SqlError as error:
            return self.error(error)
        faults.wait("sql_slow")
        if changed:
            return self.ok()
        self.rows(names, rows)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port, catalog, faults, user, password, tls=None):
        super().__init__(("127.0.0.1", port), FrontEnd)
        self.catalog, self.faults, self.user, self.password, self.tls = catalog, faults, user, password, tls
