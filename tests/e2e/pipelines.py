"""What the end-to-end tests share: pipelines over files of Debezium records that the test writes itself."""
import concurrent.futures
import json
import os
import random
import signal
import subprocess
import tempfile
import time


class Failed(Exception):
    pass


def default_seed():
    """The same in every run, so that a run tells of a change; another one in each of the long runs, which look for faults."""
    return int(time.time()) if os.environ.get("DRIFTLESS_LONG_TESTS") == "1" else 1796052417


def check(condition, text):
    if not condition:
        raise Failed(text)


class Records:
    """Writes one file of Debezium records of a MySQL server, as its connector does."""

    def __init__(self, path):
        self.path = path
        self.file = open(path, "w", encoding="utf-8")
        self.position = 1000

    def _source(self, table):
        self.position += 1
        return {"version": "3.5.0.Final", "connector": "mysql", "name": "shop", "ts_ms": 1700000000000 + self.position,
                "snapshot": "false", "db": "shop", "table": table, "server_id": 1, "file": "binlog.000001",
                "pos": self.position, "row": 0}

    def raw(self, text):
        self.file.write(text + "\n")
        self.file.flush()

    def ddl(self, table, text, columns=None, drop=False):
        """`columns`: [(name, type, key)], the table afterwards; None: the record shows no table."""
        changes = []
        if drop:
            changes = [{"type": "DROP", "id": f'"shop"."{table}"', "table": None}]
        elif columns is not None:
            changes = [{"type": "CREATE" if text.startswith("CREATE") else "ALTER", "id": f'"shop"."{table}"',
                        "table": {"defaultCharsetName": "utf8mb4",
                                  "primaryKeyColumnNames": [c[0] for c in columns if c[2]],
                                  "columns": [{"name": name, "typeName": kind, "typeExpression": kind,
                                               "position": i + 1, "optional": not key}
                                              for i, (name, kind, key) in enumerate(columns)]}}]
        self.raw(json.dumps({"topic": "shop", "key": {"databaseName": "shop"},
                             "value": {"source": self._source(table), "ts_ms": 1700000000000,
                                       "databaseName": "shop", "schemaName": None, "ddl": text,
                                       "tableChanges": changes}}))

    def row(self, table, after, op="c", before=None, key=("id",)):
        image = after or before
        self.raw(json.dumps({"topic": f"shop.shop.{table}", "key": {k: image[k] for k in key} if key else None,
                             "value": {"before": before, "after": after, "source": self._source(table),
                                       "op": op, "ts_ms": 1700000000000}}))

    def close(self):
        self.file.close()


class Pipeline:
    """One pipeline file with its state and warehouse in a folder of its own."""

    def __init__(self, driftless, folder, text):
        self.driftless = driftless
        self.folder = folder
        self.state = os.path.join(folder, "state")
        self.warehouse = os.path.join(folder, "warehouse")
        self.file = os.path.join(folder, "pipeline.yaml")
        self.log = os.path.join(folder, "run.log")
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(text.replace("@FOLDER@", folder))

    def start(self, *flags, **options):
        with open(self.log, "ab") as log:
            return subprocess.Popen([self.driftless, "run", self.file, "--state", self.state, *flags],
                                    stdout=log, stderr=log, **options)

    def run(self, expected=0, **options):
        """Runs until the end of the files; returns what was logged."""
        before = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        process = self.start("--until-end", **options)
        try:
            code = process.wait(timeout=600)  # a busy machine, and peers that start
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = "no end"
        with open(self.log, "rb") as f:
            f.seek(before)
            text = f.read().decode("utf-8", "replace")
        check(code == expected, f"the run ended with {code}, not {expected}:\n{text[-4000:]}")
        return text

    def command(self, *words):
        result = subprocess.run([self.driftless, *words], capture_output=True, text=True, encoding="utf-8")
        check(result.returncode == 0, f"{' '.join(words)}: {result.stdout}{result.stderr}")
        return result.stdout

    def decide(self, *words):
        return self.command(*words, "--state", self.state)

    def audit(self):
        return [json.loads(line) for line in self.decide("audit", "--output", "json").splitlines()]

    def rows(self, table, sink="lake"):
        text = self.command("peek", self.file, "--table", table, "--sink", sink, "--output", "json")
        return [json.loads(line) for line in text.splitlines()]

    def rows_or_none(self, table, sink="lake"):
        """None yet is no rows."""
        try:
            return self.rows(table, sink)
        except Failed:
            return []

    def columns(self, table, sink="lake"):
        text = self.command("peek", self.file, "--table", table, "--sink", sink, "--schema", "--output", "json")
        return [column["name"] for column in json.loads(text)["columns"]]


class Kills:
    """Ends pipelines by kill -9 at random moments, `wanted` times over as many replays as that takes."""

    def __init__(self, wanted, seed=0):
        self.wanted = wanted
        self.seed = seed or default_seed()
        self.rng = random.Random(self.seed)
        self.done = 0
        self.replays = 0
        self.longest = None  # a run without a kill; the moments are drawn from it
        print(f"        seed {self.seed}", flush=True)

    def replay(self, pipeline):
        """Runs to the end of the files, with kills on the way."""
        while True:
            spared = self.longest is None or self.done == self.wanted
            began = time.monotonic()
            process = pipeline.start("--until-end")
            try:
                code = process.wait(timeout=300 if spared else self.rng.uniform(0, self.longest))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                check(not spared, "the run does not end")
                self.done += 1
                continue
            with open(pipeline.log, encoding="utf-8", errors="replace") as f:
                check(code == 0, f"after {self.done} kills the run ended with {code}:\n{f.read()[-4000:]}")
            self.longest = self.longest or time.monotonic() - began
            self.replays += 1
            check(self.replays <= 10 * self.wanted, "replays end before they can be killed")
            return

    def over(self):
        if self.done < self.wanted:
            return False
        print(f"        {self.done} kills over {self.replays} replays", flush=True)
        return True


def eventually(condition, what, process=None, seconds=180):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        check(process is None or process.poll() is None, f"{what}: the pipeline has ended")
        time.sleep(0.05)
    raise Failed(f"{what}: did not happen within {seconds} s")


def run_all(tests, driftless, side_by_side=1):
    """Each test gets a folder of its own; so many run at a time. Exit status for the process."""
    def passes(test):
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="driftless-e2e-") as folder:
            try:
                test(driftless, folder)
                print(f"ok      {test.__name__} ({time.monotonic() - started:.1f} s)", flush=True)
                return True
            except Failed as error:
                print(f"FAILED  {test.__name__}: {error}", flush=True)
                return False

    with concurrent.futures.ThreadPoolExecutor(side_by_side) as pool:
        return 0 if all(list(pool.map(passes, tests))) else 1
