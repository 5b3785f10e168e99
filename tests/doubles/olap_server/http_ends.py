"""The HTTP ports of a front end and a back end: redirects, labels, transactions, and what both refuse."""
import base64
import json
import socketserver
import threading
import time
import urllib.parse

from arrow_stream import read_rows
from catalog import LABEL
from mysql_front_end import Answers
from sql_text import SqlError, tokens_of
from unpack import gunzip, unlz4

OPEN = ("PREPARE", "PREPARED", "PRECOMMITTED")


class Faults:
    """What is to go wrong, so many times each; tests add to it while the double runs."""

    def __init__(self):
        self.lock = threading.Lock()
        self.left = {}

    def add(self, name, count, skip=0, ms=0):
        with self.lock:
            self.left[name] = [count, skip, ms]

    def pending(self):
        """Those that have not struck as often as they were to."""
        with self.lock:
            return {name: count for name, (count, *_) in self.left.items() if count > 0}

    def take(self, name):
        with self.lock:
            entry = self.left.get(name)
            if entry is None or entry[0] <= 0:
                return False
            if entry[1] > 0:
                entry[1] -= 1
                return False
            entry[0] -= 1
            return True

    def wait(self, name):
        """Holds an answer back for the time that the fault was given; callers hold no lock."""
        if self.take(name):
            with self.lock:
                ms = self.left[name][2]
            time.sleep(ms / 1000)


class Dropped(Exception):
    """The connection ends without an answer."""


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        try:
            while self.one():
                pass
        except (Dropped, ConnectionError, OSError):
            return

    def one(self):
        line = self.rfile.readline().decode().strip()
        if not line:
            return False
        self.method, target, _ = line.split(" ")
        url = urllib.parse.urlsplit(target)
        self.path = [urllib.parse.unquote(part) for part in url.path.split("/")[1:]]
        self.target = target
        self.query = dict(urllib.parse.parse_qsl(url.query))
        self.headers = {}
        while True:
            line = self.rfile.readline().decode().strip()
            if not line:
                break
            name, _, value = line.partition(":")
            self.headers[name.lower()] = value.strip()
        if self.path[0] not in ("_double", "errors"):
            self.note()
        if self.path[0] not in ("_double", "errors") and not self.authorised():
            return self.answer({"status": "FAILED", "msg": "Access denied"}, 401)
        return self.serve()

    def note(self):
        """What was asked, for golden files: without what differs from run to run."""
        varying = ("host", "authorization", "content-length", "user-agent", "accept", "accept-encoding")
        headers = [f"{name}: {value}" for name, value in self.headers.items() if name not in varying]
        end = "BE" if isinstance(self, BackEnd) else "FE"
        with self.server.catalog.lock:
            self.server.catalog.requests.append(" | ".join([f"{end} {self.method} {self.target}", *headers]))

    def authorised(self):
        text = self.headers.get("authorization", "")
        if not text.startswith("Basic "):
            return False
        return base64.b64decode(text[6:]).decode() == f"{self.server.user}:{self.server.password}"

    def body(self):
        """Asks for the body and reads it."""
        if self.headers.get("expect", "").lower() == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(self.headers.get("content-length", "0"))
        data = self.rfile.read(length)
        if len(data) < length:
            raise Dropped
        return data

    def answer(self, content, status=200, headers=()):
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        text = f"HTTP/1.1 {status} X\r\nContent-Length: {len(data)}\r\n"
        for name, value in headers:
            text += f"{name}: {value}\r\n"
        # A body that was announced and never asked for must not be read as the next request.
        close = status == 307 or (status >= 400 and int(self.headers.get("content-length", "0")) > 0)
        if close:
            text += "Connection: close\r\n"
        if data and self.path[0] not in ("_double", "errors") and self.server.faults.take("answer_cut"):
            self.wfile.write(text.encode() + b"\r\n" + data[:len(data) // 2])
            raise Dropped
        self.wfile.write(text.encode() + b"\r\n" + data)
        return not close

    def drop_if(self, fault):
        if self.server.faults.take(fault):
            raise Dropped

    # ---- StarRocks: transactions ----------------------------------------------------------------

    def transaction(self, operation):
        self.drop_if(f"{operation}_gone_before")
        with self.server.catalog.lock:
            answer = self.transaction_answer(operation)
        self.drop_if(f"{operation}_gone_after")
        return self.answer(answer)

    def transaction_answer(self, operation):
        catalog = self.server.catalog
        label, database = self.headers.get("label", ""), self.headers.get("db", "")
        found = catalog.find_label(database, label)
        if operation == "begin":
            if not label or not self.headers.get("table"):
                return {"Status": "FAILED", "Message": "empty label or table"}
            if found is not None and found.state not in ("ABORTED",):
                if found.state != "PREPARE":
                    return {"Status": "LABEL_ALREADY_EXISTS", "Message": f"Label [{label}] has already been used.",
                            "ExistingJobStatus": "FINISHED" if found.state in ("COMMITTED", "VISIBLE") else "RUNNING"}
                found.state = "ABORTED"  # of the same client: begun anew
            try:
                begun = catalog.begin(label, database, self.headers["table"])
            except SqlError as error:
                return {"Status": "FAILED", "Message": str(error)}
            return {"Status": "OK", "Label": label, "TxnId": begun.number, "Message": ""}
        if found is None:
            return {"Status": "TXN_NOT_EXISTS", "Message": f"transaction with label {label} not exists"}
        if operation == "prepare":
            if found.state != "PREPARE":
                return {"Status": "TXN_NOT_EXISTS" if found.state == "ABORTED" else "FAILED",
                        "Message": f"transaction with label {label} is {found.state}"}
            found.state = "PREPARED"
        elif operation == "commit":
            if found.state in ("COMMITTED", "VISIBLE"):
                return {"Status": "OK", "Label": label, "Message": "already committed"}
            if found.state != "PREPARED":
                return {"Status": "FAILED", "Message": f"transaction with label {label} is {found.state}, not prepared"}
            catalog.publish(found)
            if self.server.faults.take("publish_timeout"):
                return {"Status": "Publish Timeout", "Label": label, "Message": ""}
        elif operation == "rollback":
            if found.state in ("COMMITTED", "VISIBLE"):
                return {"Status": "FAILED", "Message": f"transaction with label {label} is already {found.state}"}
            found.state = "ABORTED"
            found.changes = []
        else:
            return {"Status": "FAILED", "Message": f"no operation {operation}"}
        return {"Status": "OK", "Label": label, "TxnId": found.number, "Message": ""}


class FrontEnd(Handler):
    def serve(self):
        faults = self.server.faults
        if self.path[0] == "_double":
            return self.control()
        if faults.take("fe_503"):
            return self.answer({"status": "FAILED", "msg": "not master"}, 503)
        if self.path[0] == "api" and self.path[-1] == "get_load_state":
            return self.load_state(self.path[1], self.query.get("label", ""))
        if self.path[0] == "api" and self.path[-1] == "_stream_load":
            return self.redirect(with_body=True)
        if self.path[:3] == ["api", "query", "default_cluster"] and self.server.catalog.product == "doris":
            return self.statement()
        if self.path[:2] == ["api", "enable_light_schema_change"] and self.server.catalog.product == "doris":
            return self.light_schema_change(*self.path[2:])
        if self.path[0] == "api" and self.path[-1] == "_stream_load_2pc" and self.server.catalog.product == "doris":
            return self.redirect(with_body=False)
        if self.path[:2] == ["api", "transaction"] and self.server.catalog.product == "starrocks":
            if self.is_of_back_end(self.path[2]):
                return self.redirect(with_body=self.path[2] == "load")
            return self.transaction(self.path[2])
        return self.answer({"status": "FAILED", "msg": f"Not implemented: {self.target}"}, 404)

    def answer(self, content, status=200, headers=()):
        if self.path[0] != "_double":
            self.server.faults.wait("fe_slow")
        return super().answer(content, status, headers)

    def is_of_back_end(self, operation):
        """Front ends carry out themselves what comes behind prepare (TransactionWithoutChannelHandler)."""
        with self.server.catalog.lock:
            found = self.server.catalog.find_label(self.headers.get("db", ""), self.headers.get("label", ""))
        return operation in ("begin", "load", "prepare") or (operation == "rollback" and found and found.state == "PREPARE")

    def redirect(self, with_body):
        if with_body and self.headers.get("expect", "").lower() != "100-continue":
            return self.answer({"status": "FAILED", "msg": "There is no 100-continue header"}, 400)
        back = self.server.back_end
        port = 1 if self.server.faults.take("dead_be") else back.server_address[1]
        return self.answer(b"", 307, [("Location", f"{back.scheme}://{self.server.user}@127.0.0.1:{port}{self.target}")])

    def statement(self):
        """Runs one; answers when an ALTER is submitted, not when its job has ended."""
        if self.method != "POST":
            return self.answer({"msg": "only POST", "code": 1}, 405)
        body = self.body()
        if not body.isascii():  # a front end reads it in a character set of its own choice
            body = body.decode("latin-1").encode()
        sql = json.loads(body)["stmt"]
        with self.server.catalog.lock:
            self.server.catalog.requests.append(f"    with {body.decode()}")
        faults, catalog = self.server.faults, self.server.catalog
        self.drop_if("sql_gone_before")
        try:
            if catalog.execute(sql):
                self.drop_if("sql_gone_after")
                data = {"type": "exec_status", "status": {}}
            else:
                names, rows = Answers(catalog).answer(sql)
                data = {"type": "result_set", "meta": [{"name": name, "type": "CHAR"} for name in names],
                        "data": [[None if value is None else str(value) for value in row] for row in rows], "time": 1}
        except SqlError as error:
            return self.answer({"msg": "Error", "code": 1, "data": f"errCode = 2, detailMessage = {error}", "count": 0})
        return self.answer({"msg": "success", "code": 0, "data": data, "count": 0})

    def light_schema_change(self, database, name):
        """Whether a column can come or go without a job; a GET that has a body (TableSchemaAction.columnChangeCanSync)."""
        if self.method != "GET":
            return self.answer({"msg": f"Request method '{self.method}' not supported", "code": 1}, 405)
        body = self.body()
        if not body:
            return self.answer({"msg": "Required request body is missing", "code": 1}, 400)
        asked = json.loads(body)
        if not isinstance(asked.get("isDropColumn"), bool):  # read without a look whether it is there
            return self.answer({"msg": "Internal Error", "code": 1}, 500)
        with self.server.catalog.lock:
            try:
                problem = self.server.catalog.needs_job(database, name, asked["isDropColumn"], asked.get("columnName", ""))
            except SqlError as error:
                problem = str(error)
        if problem is not None:
            return self.answer({"msg": "Error", "code": 1, "data": problem, "count": 0})
        return self.answer({"msg": "success", "code": 0, "data": None, "count": 0})

    def load_state(self, database, label):
        with self.server.catalog.lock:
            found = self.server.catalog.find_label(database, label)
            state = found.state if found else "UNKNOWN"
            if found and found.runs_on and state == "PREPARE":
                found.runs_on -= 1
                if found.runs_on == 0:
                    self.end_of_load(found)
        if self.server.catalog.product == "doris":
            return self.answer({"msg": "success", "code": 0, "data": state, "count": 0})
        return self.answer({"state": state, "status": "OK", "msg": ""})

    def end_of_load(self, transaction):
        """Of Doris: what a back end does behind the last row."""
        transaction.state = "PRECOMMITTED"
        if not transaction.two_phase:
            self.server.catalog.publish(transaction)

    # ---- for tests ------------------------------------------------------------------------------

    def control(self):
        catalog = self.server.catalog
        what = self.path[1]
        if what == "rows":
            try:
                return self.answer(catalog.dump(self.query["db"], self.query["table"]))
            except SqlError as error:
                return self.answer({"error": str(error)}, 404)
        if what == "execute":  # somebody else's statement
            try:
                catalog.execute(self.query["sql"])
            except SqlError as error:
                return self.answer({"error": str(error)}, 400)
            return self.answer({})
        if what == "statements":
            with catalog.lock:
                return self.answer(catalog.statements)
        if what == "queries":
            with catalog.lock:
                return self.answer(catalog.queries)
        if what == "requests":
            with catalog.lock:
                return self.answer(catalog.requests)
        if what == "columns":
            with catalog.lock:
                catalog.tick()
                table = catalog.table(self.query["db"], self.query["table"])
                return self.answer([[c.name, c.kind, c.length, c.scale, c.nullable, c.is_key] for c in table.columns])
        if what == "tables":
            with catalog.lock:
                return self.answer([[database, name] for database, tables in catalog.databases.items() for name in tables])
        if what == "open":
            with catalog.lock:
                return self.answer([[t.label, t.state] for t in catalog.transactions if t.state in OPEN])
        if what == "history":
            with catalog.lock:
                return self.answer(catalog.history)
        if what == "faults":
            return self.answer(self.server.faults.pending())
        if what == "waited":
            with catalog.lock:
                return self.answer(catalog.waited)
        if what == "fault":
            numbers = {key: int(self.query.get(key, default)) for key, default in (("count", 1), ("skip", 0), ("ms", 0))}
            self.server.faults.add(self.query["name"], **numbers)
            return self.answer({})
        if what == "job":
            with catalog.lock:
                if "fault" in self.query:
                    catalog.job_faults.append(self.query["fault"])
                if "ms" in self.query:
                    catalog.job_ms = int(self.query["ms"])
                if "free" in self.query:
                    for job in catalog.jobs:
                        if job.message == "stuck":
                            job.message = ""
            return self.answer({})
        return self.answer({"error": "unknown"}, 404)


class BackEnd(Handler):
    def serve(self):
        if self.path[0] == "errors":
            return self.answer(self.server.errors.get(self.path[1], "").encode())
        if self.path[0] == "api" and self.path[-1] == "_stream_load" and self.server.catalog.product == "doris":
            return self.stream_load()
        if self.path[0] == "api" and self.path[-1] == "_stream_load_2pc" and self.server.catalog.product == "doris":
            return self.finish_2pc()
        if self.path[:3] == ["api", "transaction", "load"] and self.server.catalog.product == "starrocks":
            return self.transaction_load()
        if self.path[:2] == ["api", "transaction"] and self.server.catalog.product == "starrocks":
            return self.transaction(self.path[2])
        return self.answer({"Status": "Fail", "Message": f"Not implemented: {self.target}"}, 404)

    def objects(self, body, table=None):
        """The rows of a body, by the headers that say how it is written."""
        if self.headers.get("format") == "arrow" and table is not None:
            return self.arrow_objects(body, table)
        if self.headers.get("format") != "json":
            raise ValueError("only json is read here")
        body = self.unpacked(body)
        by_line = self.headers.get("read_json_by_line") == "true"
        stripped = self.headers.get("strip_outer_array") == "true"
        if by_line and stripped:
            raise ValueError("read_json_by_line and strip_outer_array exclude each other")
        if stripped:
            if len(body) > 104857600 and self.headers.get("ignore_json_size") != "true":
                raise ValueError("The size of this batch exceed the max size [104857600]")
            rows = json.loads(body)
            if not isinstance(rows, list) or not rows:
                raise ValueError("an empty array, or none")
            return rows
        return [json.loads(line) for line in body.split(b"\n") if line]

    def arrow_objects(self, body, table):
        """Of Doris."""
        if self.server.catalog.older("2.1.0"):
            raise ValueError("unknown data format arrow")
        if "hidden_columns" in self.headers or "read_json_by_line" in self.headers or "compress_type" in self.headers:
            raise ValueError("hidden columns have no type, and JSON's headers no meaning, with arrow")
        only = self.only()
        columns = {c.name.lower() if only is None else c.name: c for c in table.columns if only is None or c.name in only}
        return read_rows(body, columns)

    def unpacked(self, body):
        catalog = self.server.catalog
        starrocks = catalog.product == "starrocks"
        packing = self.headers.get("compression" if starrocks else "compress_type")
        if packing is None:
            return body
        if catalog.older("3.2.7" if starrocks else "3.0.5"):
            raise ValueError("compress data of JSON format is not supported.")
        known = {"gzip": gunzip, "lz4_frame": unlz4} if starrocks else {"gz": gunzip, "lz4": unlz4}
        if packing.lower() not in known:
            raise ValueError(f"unknown compression {packing}")
        return known[packing.lower()](body)

    def only(self):
        """The columns of a partial update; None: it is none."""
        starrocks = self.server.catalog.product == "starrocks"
        if self.headers.get("partial_update" if starrocks else "partial_columns") != "true":
            if "columns" in self.headers:
                raise ValueError("columns without a partial update are not expected here")
            return None
        if "columns" not in self.headers:
            raise ValueError("a partial update of JSON needs columns")
        return [token.text for token in tokens_of(self.headers["columns"]) if token.kind != "mark"]

    def check_disk(self):
        if self.server.faults.take("be_full"):
            raise ValueError("[E-232]disk 10878111130781813261 exceed capacity limit.")

    def refused_of(self, rows):
        """What a server refuses that Driftless could not know of."""
        return [("no partition for this tuple", rows[-1])] if self.server.faults.take("no_partition") else []

    def refuse(self, refused, total, label):
        self.server.errors[label] = "".join(f"Error: {why}. Row: {json.dumps(row)}\n" for why, row in refused)
        port = self.server.server_address[1]
        return {"Status": "Fail", "Label": label, "Message": "too many filtered rows", "NumberTotalRows": total,
                "NumberFilteredRows": len(refused), "ErrorURL": f"{self.server.scheme}://127.0.0.1:{port}/errors/{label}"}

    def transaction_load(self):
        catalog = self.server.catalog
        self.drop_if("load_gone_before")
        body = self.body()
        label, database, table = (self.headers.get(k, "") for k in ("label", "db", "table"))
        with catalog.lock:
            found = catalog.find_label(database, label)
            if found is None or found.state != "PREPARE" or found.table != table:
                return self.answer({"Status": "TXN_NOT_EXISTS", "Message": f"transaction with label {label} not exists"})
            parameters = {k: v for k, v in self.headers.items() if k in ("format", "strip_outer_array", "columns", "jsonpaths",
                                                                         "partial_update", "compression")}
            try:
                if found.parameters not in (None, parameters):
                    raise ValueError("the parameters of the loads of one transaction differ")
                if self.server.faults.take("be_busy"):
                    raise ValueError("too many tablet versions (-235)")
                self.check_disk()
                found.parameters = parameters
                rows = self.objects(body)
                refused = self.refused_of(rows) or catalog.parse_rows(found, rows, "__op", self.only())
            except (ValueError, SqlError) as error:
                found.state = "ABORTED"
                return self.answer({"Status": "FAILED", "Message": str(error), "Label": label})
            if refused:
                found.state = "ABORTED"  # an error in a transaction rolls it back
                return self.answer(self.refuse(refused, len(rows), label))
            catalog.history.append(("loaded", label))
        self.drop_if("load_gone_after")
        return self.answer({"Status": "OK", "Label": label, "TxnId": found.number, "Message": "",
                            "NumberLoadedRows": len(rows), "NumberFilteredRows": 0})

    def stream_load(self):
        catalog = self.server.catalog
        self.drop_if("load_gone_before")
        body = self.body()
        database, table, label = self.path[1], self.path[2], self.headers.get("label", "")
        two_phase = self.headers.get("two_phase_commit") == "true"
        with catalog.lock:
            if not LABEL.match(label):
                return self.answer({"Status": "Fail", "Message": f"Label format error. regex: {LABEL.pattern}, label: {label}"})
            if "group_commit" in self.headers:
                return self.answer({"Status": "Fail", "Message": "label and group_commit can't be set at the same time"})
            found = catalog.find_label(database, label)
            if found is not None and found.state != "ABORTED":
                running = found.state in OPEN
                return self.answer({"TxnId": -1, "Label": label, "Status": "Label Already Exists",
                                    "ExistingJobStatus": "RUNNING" if running else "FINISHED",
                                    "Message": f"Label [{label}] has already been used, relate to txn [{found.number}]"})
            if "columns" in self.headers and "hidden_columns" in self.headers:
                return self.answer({"Status": "Fail", "Message": "hidden_columns is not allowed with columns"})
            if self.server.faults.take("be_busy"):
                return self.answer({"Status": "Fail", "Label": label, "Message": "[E-235]too many tablet versions"})
            try:
                self.check_disk()
                begun = catalog.begin(label, database, table)
                hides = self.headers.get("hidden_columns") == "__DORIS_DELETE_SIGN__"
                rows = self.objects(body, catalog.table(database, table))
                sign = "__DORIS_DELETE_SIGN__" if hides else "\0none"
                refused = self.refused_of(rows) or catalog.parse_rows(begun, rows, sign, self.only())
            except (ValueError, SqlError) as error:
                if found := catalog.find_label(database, label):
                    found.state = "ABORTED"
                return self.answer({"Status": "Fail", "Label": label, "Message": str(error)})
            if refused:
                begun.state = "ABORTED"
                return self.answer(self.refuse(refused, len(rows), label))
            begun.two_phase = two_phase
            catalog.history.append(("loaded", label))
            if self.server.faults.take("load_runs_on"):  # the client is gone, and the load goes on
                begun.runs_on = 4
                raise Dropped
            begun.state = "PRECOMMITTED"
            if not two_phase:
                catalog.publish(begun)
        self.drop_if("load_gone_after")
        return self.answer({"TxnId": begun.number, "Label": label, "Status": "Success", "Message": "OK",
                            "TwoPhaseCommit": "true" if two_phase else "false", "NumberTotalRows": len(rows),
                            "NumberLoadedRows": len(rows), "NumberFilteredRows": 0})

    # ---- Doris: two phases ----------------------------------------------------------------------

    def finish_2pc(self):
        operation = self.headers.get("txn_operation", "")
        self.drop_if(f"{operation}_gone_before")
        with self.server.catalog.lock:
            answer = self.answer_2pc(self.path[1], operation)
        self.drop_if(f"{operation}_gone_after")
        return self.answer(answer)

    def answer_2pc(self, database, operation):
        catalog = self.server.catalog
        number = self.headers.get("txn_id")
        if number is not None:
            found = next((t for t in catalog.transactions if str(t.number) == number), None)
        else:
            label = self.headers.get("label", "")
            found = catalog.find_label(database, label)
            # Front ends look for precommitted loads; newer ones for those that run, too, where they are given up.
            if found is not None and (found.state not in ("PREPARE", "PRECOMMITTED") or found.runs_on or
                                      (found.state == "PREPARE" and operation == "commit")):
                return {"status": "Fail", "msg": f"transaction not found, label={label}"}
        if found is None:
            return {"status": "Fail", "msg": f"transaction [{number}] not found"}
        if operation == "commit":
            if found.state in ("COMMITTED", "VISIBLE"):
                return {"status": "Fail", "msg": f"transaction [{found.number}] is already {found.state}, not pre-committed."}
            if found.state != "PRECOMMITTED":
                return {"status": "Fail", "msg": f"transaction [{found.number}] is {found.state}"}
            catalog.publish(found)
        elif operation == "abort":
            if found.state in ("COMMITTED", "VISIBLE"):
                return {"status": "Fail", "msg": f"transaction [{found.number}] is already {found.state}, could not abort."}
            found.state = "ABORTED"
            found.changes = []
        else:
            return {"status": "Fail", "msg": "txn_operation should be \'commit\' or \'abort\'"}
        return {"status": "Success", "msg": f"transaction [{found.number}] {operation} successfully."}


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, port, handler, catalog, faults, user, password, tls=None):
        super().__init__(("127.0.0.1", port), handler)
        self.catalog, self.faults, self.user, self.password, self.tls = catalog, faults, user, password, tls
        self.errors = {}
        self.back_end = None  # of a front end

    @property
    def scheme(self):
        return "http" if self.tls is None else "https"

    def get_request(self):
        connection, address = super().get_request()
        if self.tls is not None:  # the handshake is the handler's: it may take its time
            connection = self.tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address
