#!/usr/bin/env python3
"""INSERTs of a Flink SQL session run as pipelines: a script and a statement set move rows of recorded changes into
Paimon, a second run goes on where the first one stood, and what cannot run is refused before anything has started.

usage: sql_jobs.py --driftless BIN
"""
import argparse
import atexit
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

from pipelines import Records, check, run_all

TABLES = """CREATE TABLE orders (
  id BIGINT NOT NULL, item STRING, qty INT, price DOUBLE, total AS qty * price,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ('connector' = 'file', 'path' = '@FOLDER@/orders.jsonl', 'database-name' = 'shop'@MORE@);
CREATE VIEW sold AS SELECT id, UPPER(item) AS item, total FROM orders WHERE qty > 0;
CREATE TABLE lake (id BIGINT NOT NULL, item STRING, total DECIMAL(10, 2), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'paimon', 'warehouse' = '@FOLDER@/warehouse', 'database-name' = 'ods', 'table-name' = 'sold');
CREATE TABLE copy WITH ('connector' = 'paimon', 'warehouse' = '@FOLDER@/warehouse', 'database-name' = 'ods');
"""
OLD = [("id", "BIGINT", True), ("item", "VARCHAR(20)", False), ("price", "DOUBLE", False)]
COLUMNS = [("id", "BIGINT", True), ("item", "VARCHAR(20)", False), ("qty", "INT", False), ("price", "DOUBLE", False)]


def records(folder):
    out = Records(os.path.join(folder, "orders.jsonl"))
    out.ddl("orders", "CREATE TABLE orders (id BIGINT PRIMARY KEY, item VARCHAR(20), qty INT, price DOUBLE)", COLUMNS)
    out.row("orders", {"id": 1, "item": "tea", "qty": 2, "price": 2.5})
    out.row("orders", {"id": 2, "item": "milk", "qty": 0, "price": 1.0})
    out.row("orders", {"id": 3, "item": "salt", "qty": 1, "price": 0.75})
    return out


def sql(driftless, folder, text, name="job.sql"):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return [driftless, "sql", path]


def text_of(folder, inserts, more=""):
    return TABLES.replace("@FOLDER@", folder).replace("@MORE@", more) + inserts


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", timeout=600)


def rows(driftless, folder, job, table):
    file = os.path.join(folder, "driftless-state", job + ".yaml")
    result = run([driftless, "peek", file, "--table", table, "--output", "json"], folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    found = [json.loads(line) for line in result.stdout.splitlines() if line.strip()]
    return sorted(found, key=lambda row: row["id"])


LAKE = "insert-into_default_catalog.default_database.lake"
COPY = "insert-into_default_catalog.default_database.copy"
SOLD = [{"id": 1, "item": "TEA", "total": "5.00"}, {"id": 3, "item": "SALT", "total": "0.75"}]


def test_script(driftless, folder):
    """Projection, filter, a view and a computed column; the second run goes on."""
    out = records(folder)
    command = sql(driftless, folder, text_of(folder, "INSERT INTO lake SELECT id, item, total FROM sold;\n"))
    result = run(command, folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    check("successfully submitted" in result.stdout, result.stdout)
    check(rows(driftless, folder, LAKE, "ods.sold") == SOLD, str(rows(driftless, folder, LAKE, "ods.sold")))
    out.row("orders", {"id": 2, "item": "milk", "qty": 3, "price": 1.0}, op="u",
            before={"id": 2, "item": "milk", "qty": 0, "price": 1.0})
    out.row("orders", None, op="d", before={"id": 3, "item": "salt", "qty": 1, "price": 0.75})
    result = run(command, folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    wanted = [SOLD[0], {"id": 2, "item": "MILK", "total": "3.00"}]
    check(rows(driftless, folder, LAKE, "ods.sold") == wanted, str(rows(driftless, folder, LAKE, "ods.sold")))
    # Another sink table needs a new state: nothing starts, and the reason is told.
    text = text_of(folder, "INSERT INTO lake SELECT id, item, total FROM sold;\n")
    other = sql(driftless, folder, text.replace("'table-name' = 'sold'", "'table-name' = 'other'"), "other.sql")
    result = run(other, folder)
    check(result.returncode == 1 and "cannot go on where it stood" in result.stdout, result.stdout + result.stderr)
    check("runs:" not in result.stderr, result.stderr)


def test_alter(driftless, folder):
    """An ALTER of the sink's table before the same INSERT is a schema change of the lake when it runs again."""
    out = records(folder)
    insert = "INSERT INTO lake SELECT id, item, total FROM sold;\n"
    result = run(sql(driftless, folder, text_of(folder, insert)), folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    out.row("orders", {"id": 5, "item": "oil", "qty": 2, "price": 3.0})
    more = ("ALTER TABLE lake ADD label STRING AFTER item;\n"
            "INSERT INTO lake SELECT id, item, CONCAT('no. ', CAST(id AS STRING)), total FROM sold;\n")
    result = run(sql(driftless, folder, text_of(folder, more)), folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    found = rows(driftless, folder, LAKE, "ods.sold")
    check([row.get("label") for row in found] == [None, None, "no. 5"], str(found))


def test_values(driftless, folder):
    """Rows of a query over memory go into a lake; nothing is left of the pipeline that took them there."""
    inserts = ("INSERT INTO lake VALUES (7, 'it''s', 1.25), (8, CAST(NULL AS STRING), 2);\n"
               "CREATE TABLE kinds (kind STRING, n BIGINT, seen TIMESTAMP(3)) WITH ('connector' = 'paimon', "
               f"'warehouse' = '{folder}/warehouse', 'database-name' = 'ods');\n"
               "INSERT INTO kinds SELECT k, COUNT(*), TIMESTAMP '2031-04-05 06:07:08.9' "
               "FROM (VALUES ('a'), ('b'), ('a')) AS t (k) GROUP BY k;\n")
    result = run(sql(driftless, folder, text_of(folder, inserts)), folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    check(os.listdir(os.path.join(folder, "driftless-state")) == [], "the pipelines left something")
    records(folder)
    result = run(sql(driftless, folder, text_of(folder, "INSERT INTO lake SELECT id, item, total FROM sold;\n")), folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    found = rows(driftless, folder, LAKE, "ods.sold")
    check([row["id"] for row in found] == [1, 3, 7, 8] and found[2]["item"] == "it's", str(found))
    file = os.path.join(folder, "driftless-state", LAKE + ".yaml")
    result = run([driftless, "peek", file, "--table", "ods.kinds", "--output", "json"], folder)
    counts = sorted((row["kind"], row["n"]) for row in map(json.loads, result.stdout.splitlines()))
    check(counts == [("a", 2), ("b", 1)], result.stdout + result.stderr)


def test_statement_set(driftless, folder):
    """Two pipelines beside each other; a sink without columns follows the source through an ALTER."""
    out = records(folder)
    out.ddl("orders", "ALTER TABLE orders ADD note VARCHAR(9)", COLUMNS + [("note", "VARCHAR(9)", False)])
    out.row("orders", {"id": 4, "item": "rice", "qty": 1, "price": 4.0, "note": "new"})
    inserts = ("EXECUTE STATEMENT SET BEGIN\nINSERT INTO lake SELECT id, item, total FROM sold;\n"
               "INSERT INTO copy SELECT * FROM orders;\nEND;\n")
    result = run(sql(driftless, folder, text_of(folder, inserts)), folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    check(len(rows(driftless, folder, LAKE, "ods.sold")) == 3, "lake")
    copied = rows(driftless, folder, COPY, "ods.copy")
    check(len(copied) == 4 and copied[3]["note"] == "new" and copied[0]["note"] is None, str(copied))


def test_union(driftless, folder):
    """UNION ALL of two tables of one file and one of another; both go on, and an ALTER reaches all."""
    out = records(folder)
    out.ddl("older", "CREATE TABLE older (id BIGINT PRIMARY KEY, item VARCHAR(20), price DOUBLE)", OLD)
    out.row("older", {"id": 1, "item": "ink", "price": 9.0})
    far = Records(os.path.join(folder, "far.jsonl"))
    far.ddl("far", "CREATE TABLE far (id BIGINT PRIMARY KEY, item VARCHAR(20), price DOUBLE)", OLD)
    far.row("far", {"id": 1, "item": "map", "price": 7.5})
    tables = "".join(
        f"CREATE TABLE {name} (id BIGINT NOT NULL, item STRING, price DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH "
        f"('connector' = 'file', 'path' = '{folder}/{file}.jsonl', 'database-name' = 'shop');\n"
        for name, file in (("older", "orders"), ("far", "far")))
    insert = ("INSERT INTO lake {} SELECT id, item, total FROM sold UNION ALL SELECT id + 100, item, price FROM older "
              "UNION ALL SELECT id + 200, UPPER(item), price FROM far WHERE price > 1;\n")
    result = run(sql(driftless, folder, text_of(folder, tables + insert.format(""))), folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    wanted = SOLD + [{"id": 101, "item": "ink", "total": "9.00"}, {"id": 201, "item": "MAP", "total": "7.50"}]
    check(rows(driftless, folder, LAKE, "ods.sold") == wanted, str(rows(driftless, folder, LAKE, "ods.sold")))
    far.row("far", {"id": 2, "item": "pen", "price": 2.0})
    out.row("older", None, op="d", before={"id": 1, "item": "ink", "price": 9.0})
    more = tables + "ALTER TABLE lake ADD label STRING;\n" + insert.format("(id, item, total)")
    result = run(sql(driftless, folder, text_of(folder, more)), folder)
    check(result.returncode == 0, result.stdout + result.stderr)
    found = rows(driftless, folder, LAKE, "ods.sold")
    check([row["id"] for row in found] == [1, 3, 201, 202], str(found))
    check(all(row["label"] is None for row in found), str(found))


def test_create_table_as(driftless, folder):
    """CREATE TABLE .. AS SELECT from a connector makes the table and fills it."""
    records(folder)
    create = ("CREATE TABLE made (PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'paimon', 'warehouse' = "
              f"'{folder}/warehouse', 'database-name' = 'ods') AS SELECT id, UPPER(item) AS what FROM orders "
              "WHERE qty > 0;\nDESCRIBE made;\n")
    result = run(sql(driftless, folder, text_of(folder, create)), folder)
    check(result.returncode == 0 and "PRI(id)" in result.stdout, result.stdout + result.stderr)
    found = rows(driftless, folder, "insert-into_default_catalog.default_database.made", "ods.made")
    check(found == [{"id": 1, "what": "TEA"}, {"id": 3, "what": "SALT"}], str(found))


class Typing:
    """A session that gets its statements one by one."""

    def __init__(self, driftless, folder):
        self.driftless = driftless
        self.folder = folder
        self.log = open(os.path.join(folder, "session.log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen([driftless, "sql"], cwd=folder, stdin=subprocess.PIPE, stdout=self.log,
                                        stderr=self.log, text=True, encoding="utf-8")
        atexit.register(self.process.kill)  # where a test fails; its pipelines stop with it

    def send(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def said(self):
        with open(self.log.name, encoding="utf-8") as log:
            return log.read()

    def wait(self, what, is_so):
        deadline = time.time() + 300
        while not is_so():
            check(self.process.poll() is None and time.time() < deadline, f"{what} did not come:\n{self.said()}")
            time.sleep(0.2)

    def wait_for_rows(self, is_so):
        """Until the lake's rows, by id, are as they should be; no table has no rows."""
        file = os.path.join(self.folder, "driftless-state", LAKE + ".yaml")
        found = {}

        def look():
            result = run([self.driftless, "peek", file, "--table", "ods.sold", "--output", "json"], self.folder)
            found.clear()
            if result.returncode == 0:
                found.update({row["id"]: row for row in map(json.loads, result.stdout.splitlines())})
            return is_so(found)

        self.wait("the rows", look)
        return found

    def end(self):
        """Ends the input, and stops the pipelines as soon as the session waits for them."""
        self.process.stdin.close()
        self.wait("the end of the input", lambda: "done." in self.said())

        def takes_signals():
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
                blocked = next(line for line in status if line.startswith("SigBlk:"))
            return int(blocked.split()[1], 16) >> (signal.SIGTERM - 1) & 1 == 1

        self.wait("the wait for the pipelines", takes_signals)
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=300)


def test_alter_of_a_running_pipeline(driftless, folder):
    """ALTERs in a session whose pipeline runs: schema changes at the lake, planned before, audited, no row lost."""
    out = records(folder)
    session = Typing(driftless, folder)
    session.send("SET 'pipeline.schema.change.behavior' = 'EVOLVE';\n" +
                 text_of(folder, "INSERT INTO lake SELECT id, item, total FROM sold;\n", more=", 'follow' = 'true'"))
    session.wait_for_rows(lambda found: set(found) == {1, 3})
    # Without any row behind it: the change is one of the table.
    session.send("ALTER TABLE lake ADD label STRING AFTER item;\n")
    session.wait_for_rows(lambda found: set(found) == {1, 3} and "label" in found[1])
    check("add.column on shop.orders: add column label" in session.said(), session.said())
    out.row("orders", {"id": 5, "item": "oil", "qty": 2, "price": 3.0})
    found = session.wait_for_rows(lambda found: 5 in found)
    check([found[i]["item"] for i in (1, 3, 5)] == ["TEA", "SALT", "OIL"], str(found))
    check(found[5]["label"] is None and found[5]["total"] == "6.00", str(found))
    # What is worked out goes on under its new name, rows of before included.
    session.send("ALTER TABLE lake RENAME item TO product;\n")
    found = session.wait_for_rows(lambda found: 5 in found and "product" in found[5])
    check([found[i]["product"] for i in (1, 3, 5)] == ["TEA", "SALT", "OIL"], str(found))
    session.send("ALTER TABLE lake ADD n INT NOT NULL;\n")
    session.wait("the refusal", lambda: "does not allow NULLs" in session.said())
    # A view that changes changes the rows to come.
    session.send("ALTER VIEW sold AS SELECT id, LOWER(item) AS item, total FROM orders;\n")
    session.wait("the new view", lambda: session.said().count("runs:") >= 4)
    out.row("orders", {"id": 6, "item": "RYE", "qty": 0, "price": 3.0})
    found = session.wait_for_rows(lambda found: 6 in found)
    check(found[6]["product"] == "rye" and found[1]["product"] == "TEA", str(found))
    check(session.end() == 1, session.said())  # a statement was refused
    described = run([driftless, "peek", os.path.join(folder, "driftless-state", LAKE + ".yaml"), "--table", "ods.sold",
                     "--schema", "--output", "json"], folder)
    names = [column["name"] for column in json.loads(described.stdout)["columns"]]
    check(names == ["id", "product", "label", "total"], described.stdout)
    audit = run([driftless, "audit", "--state", os.path.join(folder, "driftless-state", LAKE)], folder).stdout
    check("paimon/add.column = apply" in audit and "paimon/rename.column = apply" in audit, audit)


def test_alter_that_would_stop_the_pipeline(driftless, folder):
    """The plan says so: the statement is refused, nothing is changed, and the pipeline goes on."""
    out = records(folder)
    session = Typing(driftless, folder)
    session.send("SET 'pipeline.schema.change.behavior' = 'EXCEPTION';\n" +
                 text_of(folder, "INSERT INTO lake SELECT id, item, total FROM sold;\n", more=", 'follow' = 'true'"))
    session.wait_for_rows(lambda found: set(found) == {1, 3})
    session.send("ALTER TABLE lake ADD label STRING;\n")
    session.wait("the refusal", lambda: "would stop it" in session.said())
    check("add.column on shop.orders: add column label" in session.said(), session.said())
    out.row("orders", {"id": 5, "item": "oil", "qty": 2, "price": 3.0})
    found = session.wait_for_rows(lambda found: 5 in found)
    check("label" not in found[5], str(found))
    session.send("DESCRIBE lake;\n")
    check(session.end() == 1, session.said())
    described = session.said().split("DESCRIBE lake", 1)[-1]
    check("label" not in described[described.rfind("| name"):], described)


def test_refused(driftless, folder):
    """State over an unbounded source, and an option that is not known: refused, and nothing has started."""
    records(folder)
    for insert, wanted in (
            ("INSERT INTO lake SELECT id, item, SUM(total) FROM orders GROUP BY id, item;\n", "Apache Flink"),
            ("CREATE TABLE bad (a BIGINT) WITH ('connector' = 'paimon', 'warehose' = 'x');\n"
             "INSERT INTO bad SELECT id FROM orders;\n", "warehose")):
        result = run(sql(driftless, folder, text_of(folder, insert)), folder)
        check(result.returncode == 1, result.stdout + result.stderr)
        check(wanted in result.stdout + result.stderr, result.stdout + result.stderr)
        check("runs:" not in result.stderr, result.stderr)
    check(not os.path.exists(os.path.join(folder, "warehouse")), "something was written")


def test_signal(driftless, folder):
    """A signal to the session stops its pipelines, which commit first; exit code 0."""
    records(folder)
    text = text_of(folder, "INSERT INTO lake SELECT id, item, total FROM sold;\n", more=", 'follow' = 'true'")
    process = subprocess.Popen(sql(driftless, folder, text), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, encoding="utf-8")
    snapshots = os.path.join(folder, "warehouse", "ods.db", "sold", "snapshot")
    deadline = time.time() + 300
    while not (os.path.isdir(snapshots) and os.listdir(snapshots)):
        check(process.poll() is None and time.time() < deadline, "the pipeline wrote nothing")
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=300)
    check(process.returncode == 0, out + err)
    check("has ended" in err, err)
    check(rows(driftless, folder, LAKE, "ods.sold") == SOLD, err)


class Terminal:
    """The session at a terminal of its own."""

    def __init__(self, driftless, folder):
        environment = dict(os.environ, HOME=folder, TERM="xterm", LC_ALL="C.UTF-8")
        self.text = ""
        self.seen = 0  # what was waited for ends here
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execve(driftless, [driftless, "sql"], environment)

    def wait_for(self, wanted):
        """Reads on until it stands behind everything that was waited for before."""
        deadline = time.time() + 180
        while (at := self.text.find(wanted, self.seen)) < 0:
            check(time.time() < deadline, f"no {wanted!r} in {self.text[self.seen:]!r}")
            if select.select([self.file], [], [], 1)[0]:
                self.text += os.read(self.file, 65536).decode("utf-8", "replace")
        self.seen = at + len(wanted)

    def send(self, text, *wanted):
        """`wanted`: what comes, one behind the other; the prompt last. The terminal is taken over a moment after it."""
        while termios.tcgetattr(self.file)[3] & termios.ICANON:
            time.sleep(0.01)
        os.write(self.file, text.encode())
        for each in wanted:
            self.wait_for(each)

    def end(self):
        self.send("QUIT;\n")
        status = os.waitpid(self.process, 0)[1]
        os.close(self.file)
        check(status == 0, f"status {status}")


def test_terminal(driftless, folder):
    """Several lines, the tab key, Ctrl-C, and a history that the next session has."""
    terminal = Terminal(driftless, folder)
    terminal.wait_for("Flink SQL> ")
    terminal.send("CREATE TABLE bins (\n", "> ")
    terminal.send("  weight INT);\n", "succeeded.", "Flink SQL> ")
    terminal.send("SELECT 40 +\n", "> ")
    terminal.send("\x03", "Flink SQL> ")
    terminal.send("desc bin\t;\n", "weight", "Flink SQL> ")
    terminal.send("VALUES ('wörter');\n", "total of 1 row", "Flink SQL> ")
    terminal.end()
    history = os.path.join(folder, ".driftless-sql-history")
    check(os.stat(history).st_mode & 0o077 == 0, "the history is not its owner's alone")
    terminal = Terminal(driftless, folder)
    terminal.wait_for("Flink SQL> ")
    terminal.send("\x1b[A\n", "total of 1 row", "Flink SQL> ")  # the statement before QUIT
    terminal.end()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--driftless", required=True)
    args = parser.parse_args()
    sys.exit(run_all([test_script, test_alter, test_alter_of_a_running_pipeline,
                      test_alter_that_would_stop_the_pipeline, test_union, test_create_table_as, test_values,
                      test_statement_set, test_refused, test_signal, test_terminal], args.driftless))
