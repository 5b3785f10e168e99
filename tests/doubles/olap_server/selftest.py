#!/usr/bin/env python3
"""The double against what the documentation of StarRocks and Doris says that the real servers answer."""
import base64
import gzip
import http.client
import json
import os
import socket
import ssl
import struct
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import arrow_stream
import http_ends
import mysql_front_end
from catalog import Catalog
from sql_text import Column, SqlError, tokens_of
from unpack import gunzip, unlz4
from values import misfit

KEYED = {"starrocks": "CREATE TABLE `d`.`t` (`k` INT NOT NULL, `v` VARCHAR(6) NULL DEFAULT \"x\") PRIMARY KEY (`k`) "
                      "DISTRIBUTED BY HASH (`k`) PROPERTIES (\"replication_num\" = \"1\")",
         "doris": "CREATE TABLE `d`.`t` (`k` INT NOT NULL, `v` VARCHAR(6) NULL DEFAULT \"x\") UNIQUE KEY (`k`) "
                  "DISTRIBUTED BY HASH (`k`) BUCKETS AUTO PROPERTIES (\"replication_num\" = \"1\")"}

# What pyarrow writes for three rows of k int32, v string, d decimal128(5, 2), day date32, ok bool, f double and
# at timestamp[us], in two batches.
ARROW_STREAM = zlib.decompress(base64.b64decode(
    b"eNqlVKtOQ0EQPXtf3TSXcAUhFYiLq0BUIHBU1pBUVlS0SUNIKjANKQ6BQvUjMFhUJQkfAZ+BJEEss4++TnrTBk4zu52ZM4/dnVxjjJkpoIBF"
    b"HTkypNDyT6AS0SGaljUJK1ATOZOYL9nnIo8ifZFW8ENySnDd5jxa2ASRyHACPDl/hKbnxcyT1LgWeQ28rudl2/LdjoGp+Ceeoy3nZI0Ti4yG"
    b"97Jm0n8mP49nz68x39YeuTPn7sT2zGmo9eljUhvToJg7pyfOVkiXtlbN3V4R7lZF22qNQy0tbB3Mpb9CM1f+vBY5jsPL5C4r4sT1MMMCddF9"
    b"z/bt8vCmEVY4RDU07SrsxbK+R7l29xZNytMkXof8HarTpXo90gek31BfU/I/kB9hXiPqI6K4Kv8ufpWugk1RjgXv/cXvP2YT563Nur0rPwtq"
    b"S/4Vvi9B9rQ8LT4OsiVj33ka7Jgntec8JfTOVXNWUN8N0kvitch/QfXaVK9N/L/Oo6Z5UpSnSt+17xsfk2+Kf+GNDcZ924BfOlBfEw=="))
CERTIFICATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "tls")


class TlsTest(unittest.TestCase):
    """Ports with TLS are no others: what is not encrypted gets nothing."""

    def setUp(self):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(os.path.join(CERTIFICATES, "server.pem"), os.path.join(CERTIFICATES, "server.key"))
        self.catalog, faults = Catalog("starrocks", "3.2.11"), http_ends.Faults()
        self.servers = [http_ends.Server(0, http_ends.FrontEnd, self.catalog, faults, "root", "", tls=tls),
                        mysql_front_end.Server(0, self.catalog, faults, "root", "", tls=tls)]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def tearDown(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def client(self, authority="ca.pem"):
        return ssl.create_default_context(cafile=os.path.join(CERTIFICATES, authority))

    def test_http(self):
        address = f"127.0.0.1:{self.servers[0].server_address[1]}/_double/tables"
        with urllib.request.urlopen(f"https://{address}", context=self.client()) as answer:
            self.assertEqual(answer.read(), b"[]")
        with self.assertRaisesRegex(urllib.error.URLError, "CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(f"https://{address}", context=self.client("other-ca.pem"))
        with self.assertRaises(OSError):
            urllib.request.urlopen(f"http://{address}")

    def sql(self, with_tls):
        """The server's answer to the login of root."""
        def read(connection):
            head = connection.recv(4)
            return connection.recv(int.from_bytes(head[:3], "little"))

        def send(connection, sequence, payload):
            connection.sendall(len(payload).to_bytes(3, "little") + bytes([sequence]) + payload)

        connection = socket.create_connection(self.servers[1].server_address)
        self.assertEqual(read(connection)[0], 10)
        flags = mysql_front_end.CAPABILITIES | (mysql_front_end.CLIENT_SSL if with_tls else 0)
        head = struct.pack("<IIB23x", flags, 1 << 24, 33)
        if with_tls:
            send(connection, 1, head)
            connection = self.client().wrap_socket(connection, server_hostname="127.0.0.1")
        with connection:
            send(connection, 2 if with_tls else 1, head + b"root\0\0")
            return read(connection)

    def test_sql(self):
        self.assertEqual(self.sql(with_tls=True)[0], 0)
        self.assertIn(b"insecure transport", self.sql(with_tls=False))


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the connection ended")
        data += part
    return data


class FrontEndTest(unittest.TestCase):
    """A front end of Doris, over both of its ports."""

    def setUp(self):
        self.catalog, self.faults = Catalog("doris", "3.0.4"), http_ends.Faults()
        self.catalog.execute("CREATE DATABASE `d`")
        self.catalog.execute(KEYED["doris"])
        self.catalog.execute(KEYED["doris"].replace("`t`", "`heavy`").replace('= "1"', '= "1", "light_schema_change" = "false"'))
        self.http = http_ends.Server(0, http_ends.FrontEnd, self.catalog, self.faults, "root", "")
        self.mysql = mysql_front_end.Server(0, self.catalog, self.faults, "root", "")
        for server in (self.http, self.mysql):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def tearDown(self):
        for server in (self.http, self.mysql):
            server.shutdown()
            server.server_close()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(*self.http.server_address)
        headers = {"Authorization": "Basic " + base64.b64encode(b"root:").decode()}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        connection.close()
        return answer.status, content

    def run_sql(self, text):
        """The first byte of the answer: 0 where it is done."""
        with socket.create_connection(self.mysql.server_address) as connection:
            def read():
                return read_exactly(connection, int.from_bytes(read_exactly(connection, 4)[:3], "little"))

            def send(sequence, payload):
                connection.sendall(len(payload).to_bytes(3, "little") + bytes([sequence]) + payload)

            read()
            send(1, struct.pack("<IIB23x", mysql_front_end.CAPABILITIES, 1 << 24, 33) + b"root\0\0")
            self.assertEqual(read()[0], 0)
            send(0, b"\3" + text.encode())
            return read()[0]

    def test_a_slow_front_end_answers_late_and_rightly(self):
        # How late is asked of the monotonic clock as a lower bound only.
        def seconds(call):
            began = time.monotonic()
            call()
            return time.monotonic() - began

        state = "/api/d/get_load_state?label=x"
        self.ask("GET", "/_double/fault?name=fe_slow&count=2&skip=1&ms=300")
        self.ask("GET", state)
        self.assertEqual(self.ask("GET", "/_double/faults")[1], {"fe_slow": 2})  # and what tests ask is never slow
        for _ in range(2):
            self.assertGreaterEqual(seconds(lambda: self.assertEqual(self.ask("GET", state)[1]["data"], "UNKNOWN")), 0.3)
        self.assertEqual(self.ask("GET", "/_double/faults")[1], {})
        self.ask("GET", "/_double/fault?name=sql_slow&count=2&ms=300")
        for text, first in ("ALTER TABLE `d`.`t` ADD COLUMN `c` INT", 0), ("SELECT `c` FROM `d`.`t`", 1):
            self.assertGreaterEqual(seconds(lambda: self.assertEqual(self.run_sql(text), first)), 0.3)
        self.assertEqual(self.ask("GET", "/_double/faults")[1], {})

    def test_what_a_slow_front_end_was_asked_is_done_before_it_answers(self):
        self.faults.add("sql_slow", 1, ms=3_600_000)  # longer than any client waits
        asked = threading.Thread(target=lambda: self.run_sql("ALTER TABLE `d`.`t` ADD COLUMN `c` INT"), daemon=True)
        asked.start()
        while self.catalog.table("d", "t").find("c") is None:
            self.assertTrue(asked.is_alive())
            time.sleep(0.01)

    def test_light_schema_changes_are_asked_for_by_column(self):
        def asked(table, column, drops, method="GET"):
            return self.ask(method, f"/api/enable_light_schema_change/d/{table}", {"isDropColumn": drops, "columnName": column})

        done = (200, {"msg": "success", "code": 0, "data": None, "count": 0})
        for column, drops in (("v", True), ("new", False), ("k", False)):
            self.assertEqual(asked("t", column, drops), done)
        for table, column, drops, text in (
                ("t", "K", True, "Column K is primary key in materializedIndex that can't do the light schema change"),
                ("heavy", "v", True, "table heavy disable light schema change"),
                ("heavy", "new", False, "table heavy disable light schema change"), ("none", "v", True, "Unknown table 'd.none'")):
            self.assertEqual(asked(table, column, drops), (200, {"msg": "Error", "code": 1, "data": text, "count": 0}))
        path = "/api/enable_light_schema_change/d/t"
        self.assertEqual(self.ask("GET", path)[0], 400)  # a GET without its body
        self.assertEqual(self.ask("GET", path, {"columnName": "v"})[0], 500)
        self.assertEqual(asked("t", "v", True, method="POST")[0], 405)


class DoubleTest(unittest.TestCase):
    def catalog(self, product="starrocks", version="3.2.11", **options):
        catalog = Catalog(product, version, **options)
        catalog.execute("CREATE DATABASE IF NOT EXISTS `d`")
        catalog.execute(KEYED[product])
        return catalog

    def refuses(self, catalog, sql, text):
        with self.assertRaises(SqlError) as caught:
            catalog.execute(sql)
        self.assertIn(text, str(caught.exception))

    def test_key_columns_lead(self):
        sql = ("CREATE TABLE `d`.`x` (`v` INT NULL, `k` INT NOT NULL) PRIMARY KEY (`k`) DISTRIBUTED BY HASH (`k`) "
               "PROPERTIES (\"replication_num\" = \"1\")")
        self.refuses(self.catalog(), sql, "ordered prefix")

    def test_key_types(self):
        for kind in ("DECIMAL(10, 2)", "DOUBLE", "VARBINARY"):
            sql = (f"CREATE TABLE `d`.`x` (`k` {kind} NOT NULL) PRIMARY KEY (`k`) DISTRIBUTED BY HASH (`k`) "
                   "PROPERTIES (\"replication_num\" = \"1\")")
            self.refuses(self.catalog(), sql, "not supported as primary key")
        sql = ("CREATE TABLE `d`.`x` (`k` STRING NOT NULL) UNIQUE KEY (`k`) DISTRIBUTED BY HASH (`k`) BUCKETS 1 "
               "PROPERTIES (\"replication_num\" = \"1\")")
        self.refuses(self.catalog("doris", "3.0"), sql, "can not be a key")

    def test_replicas_need_back_ends(self):
        sql = KEYED["starrocks"].replace("`t`", "`x`").replace('"1"', '"3"')
        self.refuses(self.catalog(), sql, "available backends")

    def test_unknown_properties(self):
        self.refuses(self.catalog(), "ALTER TABLE `d`.`t` ADD COLUMN `c` INT PROPERTIES (\"replication_num\" = \"1\")",
                     "Unknown properties")

    def test_add_column(self):
        catalog = self.catalog()
        self.refuses(catalog, "ALTER TABLE `d`.`t` ADD COLUMN `v` INT", "already exists")
        self.refuses(catalog, "ALTER TABLE `d`.`t` ADD COLUMN `c` INT NOT NULL", "no default value")
        self.refuses(catalog, "ALTER TABLE `d`.`t` ADD COLUMN `c` INT FIRST", "first")
        catalog.execute("ALTER TABLE `d`.`t` ADD COLUMN `c` INT NOT NULL DEFAULT \"4\" AFTER `k`")
        self.assertEqual([c.name for c in catalog.table("d", "t").columns], ["k", "c", "v"])

    def test_key_columns_stay(self):
        self.refuses(self.catalog(), "ALTER TABLE `d`.`t` DROP COLUMN `k`", "Can not drop key column")
        self.refuses(self.catalog(), "ALTER TABLE `d`.`t` MODIFY COLUMN `k` BIGINT NOT NULL", "Can not modify key column")

    def test_modify_restates_everything(self):
        catalog = self.catalog()
        self.refuses(catalog, "ALTER TABLE `d`.`t` MODIFY COLUMN `v` VARCHAR(9) NULL", "Can not change default value")
        self.refuses(catalog, "ALTER TABLE `d`.`t` MODIFY COLUMN `v` VARCHAR(9) NOT NULL DEFAULT \"x\"",
                     "from nullable to non-nullable")
        self.refuses(catalog, "ALTER TABLE `d`.`t` MODIFY COLUMN `v` VARCHAR(3) NULL DEFAULT \"x\"", "Can not change")
        catalog.execute("ALTER TABLE `d`.`t` MODIFY COLUMN `v` VARCHAR(9) NULL DEFAULT \"x\"")
        self.assertEqual(catalog.table("d", "t").find("v").length, 9)

    def test_rename_needs_a_version(self):
        self.refuses(self.catalog(version="3.3.1"), "ALTER TABLE `d`.`t` RENAME COLUMN `v` TO `w`", "not supported")
        catalog = self.catalog(version="3.3.2")
        catalog.execute("ALTER TABLE `d`.`t` RENAME COLUMN `v` TO `w`")
        self.refuses(catalog, "ALTER TABLE `d`.`t` ADD COLUMN `v` INT", "renamed before")

    def test_one_job_per_table(self):
        catalog = self.catalog(job_ms=80, gap_ms=80)
        catalog.execute("ALTER TABLE `d`.`t` ADD COLUMN `c` INT")
        self.refuses(catalog, "ALTER TABLE `d`.`t` ADD COLUMN `e` INT", "is not NORMAL")
        time.sleep(0.1)
        catalog.tick()
        self.assertEqual(catalog.jobs[0].state, "FINISHED")
        self.refuses(catalog, "ALTER TABLE `d`.`t` ADD COLUMN `e` INT", "is not NORMAL")  # the gap behind a job
        time.sleep(0.1)
        catalog.execute("ALTER TABLE `d`.`t` ADD COLUMN `e` INT")

    def test_a_job_waits_for_transactions(self):
        catalog = self.catalog()
        transaction = catalog.begin("label", "d", "t")
        catalog.execute("ALTER TABLE `d`.`t` ADD COLUMN `c` INT")
        self.assertEqual(catalog.jobs[0].state, "WAITING_TXN")
        self.assertEqual(catalog.waited, [["d.t", "label", "PREPARE"]])
        catalog.publish(transaction)
        catalog.tick()
        self.assertEqual(catalog.jobs[0].state, "FINISHED")

    def test_rows_of_one_load_come_in_order(self):
        catalog = self.catalog()
        transaction = catalog.begin("label", "d", "t")
        rows = [{"k": 1, "v": "a", "__op": 0}, {"k": 1, "__op": 1}, {"k": 1, "v": "b", "__op": 0}]
        self.assertEqual(catalog.parse_rows(transaction, rows, "__op"), [])
        self.assertEqual(catalog.dump("d", "t"), [])
        catalog.publish(transaction)
        self.assertEqual(catalog.dump("d", "t"), [{"k": 1, "v": "b"}])

    def test_values_that_are_refused(self):
        catalog = self.catalog()
        transaction = catalog.begin("label", "d", "t")
        refused = catalog.parse_rows(transaction, [{"k": None, "v": "a"}, {"k": 1, "v": "1234567"}, {"k": 2 ** 31}], "__op")
        self.assertEqual([why.split(" ")[0] for why, _ in refused], ["NULL", "the", "the"])
        self.assertEqual(len(refused), 3)
        self.assertIsNone(misfit(Column("d", "DECIMAL", 5, 2), "123.45", "starrocks"))
        self.assertIsNotNone(misfit(Column("d", "DECIMAL", 5, 2), "1234.5", "starrocks"))

    def test_rows_that_delete_need_what_is_not_null(self):
        for product, field, text in (("starrocks", "__op", "NULL value in non-nullable column 'n'"),
                                     ("doris", "__DORIS_DELETE_SIGN__", "column(n) values is null while columns is not nullable")):
            catalog = self.catalog(product, "3.2.11")
            catalog.execute(KEYED[product].replace("`t`", "`x`").replace("`v` VARCHAR(6) NULL DEFAULT \"x\"", "`n` INT NOT NULL"))
            transaction = catalog.begin("label", "d", "x")
            refused = catalog.parse_rows(transaction, [{"k": 1, field: 1}, {"k": 1, "n": 0, field: 1}], field)
            self.assertEqual([why for why, _ in refused], [text])

    def test_partial_updates_keep_the_rest(self):
        catalog = self.catalog()
        first = catalog.begin("a", "d", "t")
        catalog.parse_rows(first, [{"k": 1, "v": "a", "__op": 0}], "__op")
        catalog.publish(first)
        catalog.execute("ALTER TABLE `d`.`t` ADD COLUMN `w` INT DEFAULT \"7\"")
        second = catalog.begin("b", "d", "t")
        catalog.parse_rows(second, [{"k": 1, "w": 9, "v": "ignored"}, {"k": 2, "w": 8}], "__op", ["k", "w"])
        catalog.publish(second)
        self.assertEqual(catalog.dump("d", "t"), [{"k": 1, "v": "a", "w": 9}, {"k": 2, "v": "x", "w": 8}])
        third = catalog.begin("c", "d", "t")
        for only, text in (["v"], "all key columns"), (["k", "z"], "does not exist"):
            with self.assertRaises(SqlError) as caught:
                catalog.parse_rows(third, [], "__op", only)
            self.assertIn(text, str(caught.exception))
        doris = self.catalog("doris", "3.0")  # no merge on write
        with self.assertRaises(SqlError):
            doris.parse_rows(doris.begin("a", "d", "t"), [], "__DORIS_DELETE_SIGN__", ["k"])

    def test_partitions(self):
        sql = ("CREATE TABLE `d`.`x` (`k` INT NOT NULL, `day` DATEV2 %s) UNIQUE KEY (%s) "
               "AUTO PARTITION BY RANGE (date_trunc(`day`, 'day')) () DISTRIBUTED BY HASH (`k`) BUCKETS 1 "
               "PROPERTIES (\"replication_num\" = \"1\")")
        self.refuses(self.catalog("doris", "2.1.5"), sql % ("NOT NULL", "`k`, `day`"), "syntax")
        self.refuses(self.catalog("doris", "2.1.6"), sql % ("NOT NULL", "`k`"), "is not key column")
        self.refuses(self.catalog("doris", "2.1.6"), sql % ("NULL", "`k`, `day`"), "doesn't support NULL")
        catalog = self.catalog("doris", "2.1.6")
        catalog.execute(sql % ("NOT NULL", "`k`, `day`"))
        self.assertEqual(catalog.table("d", "x").partitions, ["day"])

    def test_arrow(self):
        columns = {column.name: column for column in (
            Column("k", "INT"), Column("v", "VARCHAR", 6), Column("d", "DECIMALV3", 5, 2), Column("day", "DATEV2"),
            Column("ok", "BOOLEAN"), Column("f", "DOUBLE"), Column("at", "DATETIMEV2", 6))}
        rows = arrow_stream.read_rows(ARROW_STREAM, columns)
        self.assertEqual([list(row.values()) for row in rows],
                         [[1, "\u00e9", "-0.05", "2024-03-18", True, 1.5, "2024-01-01 08:00:00.000005"],  # eight hours off
                          [2, None, "123.40", "1969-12-31", None, None, None], [3, "x", None, None, False, -2.0, None]])
        others = {"another width": {**columns, "k": Column("k", "BIGINT")}, "one more": {**columns, "x": Column("x", "INT")},
                  "one less": {name: column for name, column in columns.items() if name != "v"}}
        for what, expected in others.items():
            with self.assertRaises(ValueError, msg=what):
                arrow_stream.read_rows(ARROW_STREAM, expected)
        for end in (8, 20, len(ARROW_STREAM) - 8):
            with self.assertRaises(ValueError):
                arrow_stream.read_rows(ARROW_STREAM[:-end], columns)

    def test_packed_bodies(self):
        text = b"abcabcabcabc" * 50 + b"end"
        self.assertEqual(gunzip(gzip.compress(text)), text)
        with self.assertRaises(ValueError):
            gunzip(gzip.compress(text)[:-12])
        # One block: "abc", a match of 9 at distance 3, "x"; then a stored block.
        frame = (b"\x04\x22\x4d\x18\x40\x40\xc0" + b"\x08\0\0\0" + b"\x35abc\x03\0\x10x" +
                 b"\x02\0\0\x80yz" + b"\0\0\0\0")
        self.assertEqual(unlz4(frame), b"abcabcabcabcxyz")

    def test_quotes(self):
        self.assertEqual([t.text for t in tokens_of('`a``b` "c\\"d"')], ["a`b", 'c"d'])
        with self.assertRaises(SqlError):
            tokens_of('"open')


if __name__ == "__main__":
    unittest.main()
