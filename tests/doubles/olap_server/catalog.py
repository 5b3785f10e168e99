"""Tables, their jobs and transactions, with the rules that the servers enforce. Rows lie in SQLite."""
import json
import re
import sqlite3
import threading
import time

from sql_text import Reader, SqlError, read_column
from values import INTEGERS, converts, misfit, normal, sortable

LABEL = re.compile(r"^[-_A-Za-z0-9:]{1,128}$")


class Table:
    def __init__(self, database, name, columns, keys, model, properties, comment, partitions=()):
        self.database = database
        self.name = name
        self.columns = columns
        self.keys = keys
        self.model = model  # PRIMARY, UNIQUE, DUPLICATE
        self.properties = properties
        self.comment = comment
        self.partitions = list(partitions)  # columns
        self.former_names = set()
        self.next_uid = 1
        for column in columns:
            self.give_uid(column)

    def give_uid(self, column):
        column.uid = self.next_uid
        self.next_uid += 1

    def find(self, name):
        for column in self.columns:
            if column.name.lower() == name.lower():
                return column
        return None

    @property
    def path(self):
        return f"{self.database}.{self.name}"


class Job:
    def __init__(self, number, table, apply, watershed):
        self.number = number
        self.table = table
        self.apply = apply
        self.watershed = watershed  # transactions begun before it
        self.state = "PENDING"
        self.message = ""
        self.created = time.time()
        self.finished = None
        self.running_since = None
        self.normal_at = None


class Transaction:
    def __init__(self, number, label, database, table):
        self.number = number
        self.label = label
        self.database = database
        self.table = table
        self.state = "PREPARE"
        self.changes = []  # (is_delete, {uid: value}, uids that are updated; None: all)
        self.parameters = None
        self.two_phase = True
        self.runs_on = 0  # so many times more it is asked for before it has all rows; abort finds it then only


class Catalog:
    """Everything that survives in a cluster. Methods take the lock; callers need none."""

    def __init__(self, product, version, backends=1, job_ms=0, gap_ms=0, path=":memory:"):
        self.product = product
        self.version = version
        self.backends = backends
        self.job_ms = job_ms
        self.gap_ms = gap_ms
        self.lock = threading.RLock()
        self.databases = {"information_schema": {}}
        self.jobs = []
        self.transactions = []
        self.next_number = 100
        self.history = []  # ("loaded" or "visible", label), as it happened
        self.waited = []  # transactions that a job of their table has had to wait for
        self.job_faults = []  # "cancel:TEXT", "stuck" or "none", each for one job
        self.requests = []  # of HTTP, as golden files have them
        self.statements = []  # everything that changed something, for tests
        self.queries = []  # everything else
        self.rows = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.rows.execute("CREATE TABLE IF NOT EXISTS kept (tab TEXT, key TEXT, value TEXT, PRIMARY KEY (tab, key))")
        self.rows.execute("PRAGMA synchronous = OFF")
        self.sequence = 0

    def number(self):
        self.next_number += 1
        return self.next_number

    def table(self, database, name):
        tables = self.databases.get(database)
        if tables is None:
            raise SqlError(f"Unknown database '{database}'", 1049)
        if name not in tables:
            raise SqlError(f"Unknown table '{database}.{name}'", 1146 if self.product == "starrocks" else 1105)
        return tables[name]

    # ---- statements -----------------------------------------------------------------------------

    def execute(self, sql):
        """Runs a statement that changes something; True where it was one."""
        reader = Reader(sql)
        with self.lock:
            for words, action in ((("CREATE", "DATABASE"), self.create_database), (("CREATE", "TABLE"), self.create),
                                  (("ALTER", "TABLE"), self.alter), (("DROP", "TABLE"), self.drop),
                                  (("TRUNCATE", "TABLE"), self.truncate)):
                if reader.take(*words):
                    action(reader)
                    self.statements.append(sql)
                    return True
        return False

    def create_database(self, reader):
        if_not_exists = reader.take("IF", "NOT", "EXISTS")
        name = reader.any("name", "word")
        reader.end()
        if name in self.databases and not if_not_exists:
            raise SqlError(f"Can't create database '{name}'; database exists", 1007)
        self.databases.setdefault(name, {})

    def create(self, reader):
        if_not_exists = reader.take("IF", "NOT", "EXISTS")
        database, name = reader.path()
        reader.expect("(")
        columns = [read_column(reader, self.product)]
        while reader.take(","):
            columns.append(read_column(reader, self.product))
        reader.expect(")")
        if self.product == "starrocks":
            if reader.take("ENGINE"):
                reader.expect("=")
                reader.expect("OLAP")
            reader.expect("PRIMARY", "KEY")
            model, keys = "PRIMARY", reader.names()
        elif reader.take("UNIQUE", "KEY"):
            model, keys = "UNIQUE", reader.names()
        else:
            reader.expect("DUPLICATE", "KEY")
            model, keys = "DUPLICATE", reader.names()
        comment = reader.text() if reader.take("COMMENT") else ""
        partitions = self.read_partitions(reader)
        reader.expect("DISTRIBUTED", "BY", "HASH")
        buckets = reader.names()
        has_buckets = reader.take("BUCKETS")
        if has_buckets and not (self.product == "doris" and reader.take("AUTO")):
            reader.number()
        properties = reader.properties()
        reader.end()
        table = Table(database, name, columns, keys, model, properties, comment, partitions)
        self.check_new(table, buckets, has_buckets)
        if database not in self.databases:
            raise SqlError(f"Unknown database '{database}'", 1049)
        if name in self.databases[database]:
            if if_not_exists:
                return
            raise SqlError(f"Table '{name}' already exists", 1050)
        for key in keys:
            table.find(key).is_key = True
            if model != "DUPLICATE" and self.product == "starrocks":
                table.find(key).nullable = False
        self.databases[database][name] = table

    def read_partitions(self, reader):
        """StarRocks: PARTITION BY (`a`, ...); Doris: AUTO PARTITION BY LIST (`a`) () or BY RANGE (date_trunc(`a`, 'day')) ()."""
        if self.product == "starrocks" and reader.take("PARTITION", "BY"):
            if self.older("3.1"):
                reader.fail()
            return reader.names()
        if self.product != "doris" or not reader.take("AUTO", "PARTITION", "BY"):
            return []
        if self.older("2.1.6"):
            reader.fail()
        if reader.take("LIST"):
            columns = reader.names()
        else:
            reader.expect("RANGE", "(", "DATE_TRUNC", "(")
            columns = [reader.name()]
            reader.expect(",")
            if reader.text() not in ("year", "quarter", "month", "week", "day", "hour"):
                raise SqlError("date_trunc takes year, quarter, month, week, day or hour")
            reader.expect(")", ")")
        reader.expect("(", ")")
        return columns

    def check_partitions(self, table):
        for name in table.partitions:
            column = table.find(name)
            if column is None:
                raise SqlError(f"Partition column[{name}] does not exist")
            if table.model in ("PRIMARY", "UNIQUE") and name not in table.keys:
                raise SqlError(f"Partition column[{name}] is not key column")
            if column.nullable:
                raise SqlError(f"AUTO RANGE PARTITION doesn't support NULL column: {name}")

    KNOWN_PROPERTIES = {"replication_num", "light_schema_change", "enable_unique_key_merge_on_write",
                        "fast_schema_evolution", "enable_persistent_index", "compression", "storage_format",
                        "replicated_storage", "bucket_size"}

    def check_new(self, table, buckets, has_buckets):
        leading = [c.name for c in table.columns[:len(table.keys)]]
        if leading != table.keys:
            raise SqlError("Key columns should be a ordered prefix of the schema. " + str(table.keys))
        names = [c.name.lower() for c in table.columns]
        for name in names:
            if names.count(name) > 1:
                raise SqlError(f"Duplicate column name '{name}'", 1060)
        starrocks = {"BOOLEAN", "LARGEINT", "VARCHAR", "DATE", "DATETIME", *INTEGERS}
        for key in table.keys:
            kind = table.find(key).kind
            if table.model == "PRIMARY" and kind not in starrocks:
                raise SqlError(f"Type {kind} is not supported as primary key: {key}")
            if kind in ("FLOAT", "DOUBLE", "STRING", "JSON", "VARBINARY"):
                raise SqlError(f"{kind} column can not be a key: {key}")
        for bucket in buckets:
            if table.find(bucket) is None or (table.model != "DUPLICATE" and bucket not in table.keys):
                raise SqlError(f"Distribution column[{bucket}] is not key column")
        if not has_buckets and (self.product == "doris" or self.older("2.5.7")):
            raise SqlError("Should specify the number of buckets")
        for key, value in table.properties.items():
            if key not in self.KNOWN_PROPERTIES:
                raise SqlError(f"Unknown properties: {{{key}={value}}}")
        replicas = int(table.properties.get("replication_num", "3"))
        if replicas > self.backends:
            raise SqlError("Table replication num should be less than or equal to the number of available backends. "
                           f"You can change this default by setting the replication_num table properties. "
                           f"Current alive backend is [{self.backends}]")
        for column in table.columns:
            self.check_default(column)
        self.check_partitions(table)

    def check_default(self, column):
        if column.default is None or column.default == ("now",):
            return
        problem = misfit(column, column.default, self.product)
        if problem:
            raise SqlError(f"Invalid default value for '{column.name}': {problem}", 1067)

    def older(self, than):
        numbers = [int(n) for n in re.findall(r"\d+", self.version.split("-")[0])]
        return numbers < [int(n) for n in than.split(".")]

    def drop(self, reader):
        if_exists = reader.take("IF", "EXISTS")
        database, name = reader.path()
        reader.take("FORCE")
        reader.end()
        try:
            table = self.table(database, name)
        except SqlError:
            if if_exists:
                return
            raise
        self.check_normal(table)
        del self.databases[database][name]
        for transaction in self.transactions:
            if (transaction.database, transaction.table) == (database, name) and transaction.state in ("PREPARE", "PREPARED", "PRECOMMITTED"):
                transaction.state = "ABORTED"
        self.rows.execute("DELETE FROM kept WHERE tab = ?", (table.path,))

    def truncate(self, reader):
        database, name = reader.path()
        reader.end()
        table = self.table(database, name)
        self.check_normal(table)
        self.rows.execute("DELETE FROM kept WHERE tab = ?", (table.path,))

    # ---- ALTER ----------------------------------------------------------------------------------

    def check_normal(self, table):
        self.tick()
        for job in self.jobs:
            if job.table is not table:
                continue
            if job.state not in ("FINISHED", "CANCELLED") or (job.normal_at or 0) > time.time():
                raise SqlError(f"Table[{table.name}]'s state(SCHEMA_CHANGE) is not NORMAL. "
                               "Do not allow doing ALTER ops")

    def alter(self, reader):
        table = self.table(*reader.path())
        self.check_normal(table)
        if reader.take("ADD", "COLUMN"):
            return self.add_column(table, reader)
        if reader.take("DROP", "COLUMN"):
            return self.drop_column(table, reader)
        if reader.take("RENAME", "COLUMN"):
            return self.rename_column(table, reader)
        if reader.take("MODIFY", "COLUMN"):
            return self.modify_column(table, reader)
        if self.product == "doris" and reader.take("MODIFY", "COMMENT"):
            table.comment = reader.text()
            return reader.end()
        if self.product == "starrocks" and reader.take("COMMENT"):
            reader.expect("=")
            table.comment = reader.text()
            return reader.end()
        reader.fail()

    def job_properties(self, reader):
        for key in reader.properties():
            if key != "timeout":
                raise SqlError(f"Unknown properties: {key}")
        reader.end()

    def start_job(self, table, apply, heavy):
        watershed = [t for t in self.transactions if (t.database, t.table) == (table.database, table.name) and
                     t.state in ("PREPARE", "PREPARED", "PRECOMMITTED")]
        job = Job(self.number(), table, apply, watershed)
        self.waited += [[table.path, t.label, t.state] for t in watershed]
        if self.job_faults:
            fault = self.job_faults.pop(0)
            job.message = "" if fault == "none" else fault
        job.heavy = heavy
        self.jobs.append(job)
        self.tick()

    def tick(self):
        """Moves jobs on. A job waits for the transactions that were begun before it."""
        now = time.time()
        for job in self.jobs:
            if job.state in ("FINISHED", "CANCELLED"):
                continue
            if any(t.state in ("PREPARE", "PREPARED", "PRECOMMITTED") for t in job.watershed):
                job.state = "WAITING_TXN"
                continue
            if job.running_since is None:
                job.running_since = now
            job.state = "RUNNING"
            if job.message == "stuck":
                continue
            if now < job.running_since + self.job_ms / 1000:
                continue
            if job.message.startswith("cancel:"):
                job.state, job.message = "CANCELLED", job.message[len("cancel:"):]
            else:
                job.apply()
                job.state = "FINISHED"
            job.finished = now
            job.normal_at = now + self.gap_ms / 1000

    def add_column(self, table, reader):
        column = read_column(reader, self.product)
        place = None
        if reader.take("FIRST"):
            place = ""
        elif reader.take("AFTER"):
            place = reader.name()
        self.job_properties(reader)
        if table.find(column.name) is not None:
            raise SqlError(f"Can not add column which already exists in base table: {column.name}")
        if column.name in table.former_names and self.product == "starrocks":
            raise SqlError(f"Column {column.name} was renamed before; its name can not be used again")
        if not column.nullable and column.default is None:
            raise SqlError(f"Column {column.name} is NOT NULL and has no default value")
        if place == "":
            raise SqlError(f"Can not add value column as the first: {column.name}")
        if place is not None and table.find(place) is None:
            raise SqlError(f"Column[{place}] does not exists")
        if place is not None and table.find(place).is_key and place != table.keys[-1]:
            raise SqlError(f"Can not add value column {column.name} between key columns")
        self.check_default(column)

        def apply():
            table.give_uid(column)
            if place is None:
                table.columns.append(column)
            else:
                table.columns.insert(table.columns.index(table.find(place)) + 1, column)
            if column.default is not None:
                self.fill(table, column)
        self.start_job(table, apply, heavy=False)

    def fill(self, table, column):
        """Old rows read the default."""
        value = time.strftime("%Y-%m-%d %H:%M:%S") if column.default == ("now",) else normal(column, column.default)
        for key, text in self.rows.execute("SELECT key, value FROM kept WHERE tab = ?", (table.path,)).fetchall():
            row = json.loads(text)
            row[str(column.uid)] = value
            self.rows.execute("UPDATE kept SET value = ? WHERE tab = ? AND key = ?", (json.dumps(row), table.path, key))

    def drop_column(self, table, reader):
        name = reader.name()
        self.job_properties(reader)
        column = table.find(name)
        if column is None:
            raise SqlError(f"Column does not exists: {name}")
        if column.is_key:
            raise SqlError("Can not drop key column in primary data model table")
        if name in table.partitions:
            raise SqlError(f"Partition column[{name}] cannot be dropped")
        self.start_job(table, lambda: table.columns.remove(column), heavy=False)

    def rename_column(self, table, reader):
        if self.product == "starrocks" and self.older("3.3.2"):
            raise SqlError("RENAME COLUMN is not supported")
        old = reader.name()
        if self.product == "starrocks":
            reader.take("TO")
        new = reader.name()
        reader.end()
        column = table.find(old)
        if column is None:
            raise SqlError(f"Column[{old}] does not exists")
        if table.find(new) is not None and table.find(new) is not column:
            raise SqlError(f"Column name[{new}] is already used")
        if self.product == "doris" and table.properties.get("light_schema_change", "true") != "true":
            raise SqlError("Column rename is not supported without light schema change")
        table.former_names.add(column.name)
        table.keys = [new if key == column.name else key for key in table.keys]
        column.name = new

    def needs_job(self, database, name, drops, column):
        """Of Doris: why a column cannot come, or go, by a light schema change; None: it can."""
        table = self.table(database, name)
        if table.properties.get("light_schema_change", "true") != "true":
            return f"table {name} disable light schema change"
        found = table.find(column)
        if drops and found is not None and found.is_key:
            return f"Column {column} is primary key in materializedIndex that can't do the light schema change"
        return None

    def modify_column(self, table, reader):
        start = reader.at
        name = reader.name()
        if reader.take("COMMENT"):
            column = table.find(name)
            if column is None:
                raise SqlError(f"Column[{name}] does not exists")
            comment = reader.text()
            reader.end()
            column.comment = comment
            return
        reader.at = start
        new = read_column(reader, self.product)
        self.job_properties(reader)
        old = table.find(new.name)
        if old is None:
            raise SqlError(f"Column[{new.name}] does not exists")
        if old.is_key and not (old.kind == new.kind == "VARCHAR"):
            raise SqlError(f"Can not modify key column: {new.name} for primary key table except for increasing varchar length")
        if old.is_key and new.nullable and not old.nullable:
            raise SqlError(f"primary key column[{new.name}] cannot be nullable")
        if old.nullable and not new.nullable:
            raise SqlError("Can not change from nullable to non-nullable")
        if old.default != new.default:
            raise SqlError("Can not change default value")
        if not converts(self.product, old, new):
            raise SqlError(f"Can not change {old.kind} to {new.kind}")

        def apply():
            before = (old.kind, old.length, old.scale)
            old.kind, old.length, old.scale = new.kind, new.length, new.scale
            old.nullable, old.comment = new.nullable, new.comment
            if before != (new.kind, new.length, new.scale):
                self.convert(table, old)
        self.start_job(table, apply, heavy=True)

    def convert(self, table, column):
        for key, text in self.rows.execute("SELECT key, value FROM kept WHERE tab = ?", (table.path,)).fetchall():
            row = json.loads(text)
            value = row.get(str(column.uid))
            if value is not None:
                row[str(column.uid)] = normal(column, value)
                self.rows.execute("UPDATE kept SET value = ? WHERE tab = ? AND key = ?",
                                  (json.dumps(row), table.path, key))

    # ---- loads ----------------------------------------------------------------------------------

    def find_label(self, database, label):
        """The newest transaction under a label."""
        for transaction in reversed(self.transactions):
            if transaction.database == database and transaction.label == label:
                return transaction
        return None

    def begin(self, label, database, table):
        with self.lock:
            self.table(database, table)
            transaction = Transaction(self.number(), label, database, table)
            self.transactions.append(transaction)
            return transaction

    def parse_rows(self, transaction, objects, delete_field, only=None):
        """Fills the transaction; returns the refused rows as (reason, row). `only`: the columns of a partial update."""
        with self.lock:
            table = self.table(transaction.database, transaction.table)
            refused = []
            columns = {c.name: c for c in table.columns}
            updated = None
            if only is not None:
                self.check_partial(table, columns, only, delete_field)
                columns = {name: column for name, column in columns.items() if name in only}
                updated = [str(column.uid) for column in columns.values()]
            for row in objects:
                sign = row.pop(delete_field, 0)
                is_delete = str(sign) == "1"
                values = {}
                problem = None
                for name, column in columns.items():
                    value = row.get(name)
                    if value is None and name not in row and not column.is_key:
                        value = time.strftime("%Y-%m-%d %H:%M:%S") if column.default == ("now",) else column.default
                    if value is None:
                        if not column.nullable:  # also of a row that deletes: neither server looks at that first
                            problem = (f"NULL value in non-nullable column '{name}'" if self.product == "starrocks" else
                                       f"column({name}) values is null while columns is not nullable")
                        continue
                    problem = problem or misfit(column, value, self.product)
                    if not problem:
                        values[str(column.uid)] = normal(column, value)
                if problem:
                    refused.append((problem, row))
                else:
                    transaction.changes.append((is_delete, values, updated))
            return refused

    def check_partial(self, table, columns, only, delete_field):
        """What servers ask of a load that updates some columns."""
        if table.model == "DUPLICATE" or (table.model == "UNIQUE" and
                                          table.properties.get("enable_unique_key_merge_on_write") != "true"):
            raise SqlError("Only primary key table support partial update" if self.product == "starrocks" else
                           "Only unique key merge on write table support partial update")
        for name in only:
            if name not in columns and name != delete_field:
                raise SqlError(f"Column {name} does not exist in table {table.name}")
        for key in table.keys:
            if key not in only:
                raise SqlError(f"Partial update should include all key columns, missing: {key}")

    def publish(self, transaction):
        with self.lock:
            table = self.table(transaction.database, transaction.table)
            uids = [str(table.find(k).uid) for k in table.keys]
            alive = {str(c.uid) for c in table.columns}
            self.rows.execute("BEGIN")
            for is_delete, values, updated in transaction.changes:
                if table.model == "DUPLICATE":
                    self.sequence += 1
                    key = str(self.sequence)
                else:
                    key = json.dumps([values.get(u) for u in uids])
                if is_delete:
                    self.rows.execute("DELETE FROM kept WHERE tab = ? AND key = ?", (table.path, key))
                else:
                    if updated is not None:
                        values = self.merged(table, key, values, updated)
                    kept = json.dumps({u: v for u, v in values.items() if u in alive})
                    self.rows.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (table.path, key, kept))
            self.rows.execute("COMMIT")
            transaction.changes = []
            transaction.state = "VISIBLE"
            self.history.append(("visible", transaction.label))

    def merged(self, table, key, values, updated):
        """The row that is there, or the defaults, with the columns of a partial update over it."""
        old = self.rows.execute("SELECT value FROM kept WHERE tab = ? AND key = ?", (table.path, key)).fetchone()
        if old:
            row = json.loads(old[0])
        else:
            row = {str(c.uid): normal(c, c.default) for c in table.columns if c.default not in (None, ("now",))}
        return {**{u: v for u, v in row.items() if u not in updated}, **values}

    def dump(self, database, name):
        """All rows, by key, as {column: value}."""
        with self.lock:
            self.tick()
            table = self.table(database, name)
            found = []
            for (text,) in self.rows.execute("SELECT value FROM kept WHERE tab = ?", (table.path,)):
                row = json.loads(text)
                found.append({c.name: row.get(str(c.uid)) for c in table.columns})
            found.sort(key=lambda row: json.dumps([sortable(row.get(k)) for k in table.keys]))
            return found
