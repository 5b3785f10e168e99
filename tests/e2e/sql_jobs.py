#!/usr/bin/env python3
"""INSERTs of a Flink SQL session run as pipelines: a script and a statement set move rows of recorded changes into
Paimon, a second run goes on where the first one stood, and what cannot run is refused before anything has started.

usage: sql_jobs.py --driftless BIN
"""
import argparse
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
    sys.exit(run_all([test_script, test_alter, test_values, test_statement_set, test_refused, test_signal, test_terminal], args.driftless))
