"""Pipelines into a double of StarRocks or Doris (tests/doubles/olap_server): what tests of these sinks share."""
import json
import os
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from pipelines import Pipeline, Records

DOUBLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "doubles", "olap_server")
CERTIFICATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "tls")
PRODUCTS = ("starrocks", "doris")
PASSWORD = "it's \"secret\""

TEXT = """source:
  type: file
  path: @FOLDER@/records.jsonl
sink:
@SINK@
  username: root
  password: '@PASSWORD@'
  table.create.properties.replication_num: 1
@MORE@pipeline:
  name: olap
  http.address: off
  checkpoint.interval: @INTERVAL@
  schema.change.behavior: @BEHAVIOR@
@PIPELINE@"""


class Cluster:
    """One double, with what tests ask of it."""

    def __init__(self, product, *flags, certificate=None):
        self.product = product
        self.tls = certificate is not None
        if self.tls:
            flags += ("--tls-cert", os.path.join(CERTIFICATES, f"{certificate}.pem"), "--tls-key", os.path.join(CERTIFICATES, "server.key"))
        self.process = subprocess.Popen([sys.executable, DOUBLE, "--product", product, "--password", PASSWORD, *flags],
                                        stdout=subprocess.PIPE, text=True)
        self.ports = json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def ask(self, what, **query):
        url = f"{self.scheme()}127.0.0.1:{self.ports['http']}/_double/{what}?{urllib.parse.urlencode(query)}"
        # Whoever it is: what Driftless thinks of the certificate is the test.
        with urllib.request.urlopen(url, context=ssl._create_unverified_context() if self.tls else None) as answer:
            return json.load(answer)

    def scheme(self):
        return "https://" if self.tls else "http://"

    def rows(self, table):
        return self.ask("rows", db="shop", table=table)

    def rows_or_none(self, table):
        try:
            return self.rows(table)
        except urllib.error.HTTPError:
            return []

    def columns(self, table):
        return self.ask("columns", db="shop", table=table)

    def sink(self, dead_address=False, over_http=False):
        query, http = self.ports["query"], self.ports["http"]
        first = "127.0.0.1:1," if dead_address else ""
        jdbc = f"  jdbc-url: jdbc:mysql://{first}127.0.0.1:{query}{'?useSSL=true' if self.tls else ''}\n"
        loads = f"{'https://' if self.tls else ''}127.0.0.1:{http}"
        if self.product == "starrocks":
            return f"  type: starrocks\n  name: olap\n{jdbc}  load-url: {first.replace(',', ';')}{loads}\n"
        return f"  type: doris\n  name: olap\n{'' if over_http else jdbc}  fenodes: {first}{loads}\n"


def make_pipeline(driftless, folder, cluster, behavior="LENIENT", more="", pipeline="",
                  dead_address=False, over_http=False, interval="100 ms"):
    os.makedirs(folder, exist_ok=True)
    text = (TEXT.replace("@SINK@\n", cluster.sink(dead_address, over_http)).replace("@PASSWORD@", PASSWORD.replace("'", "''"))
            .replace("@BEHAVIOR@", behavior).replace("@MORE@", more)
            .replace("@PIPELINE@", pipeline).replace("@INTERVAL@", interval))
    return Pipeline(driftless, folder, text)


def records_of(folder):
    os.makedirs(folder, exist_ok=True)
    return Records(os.path.join(folder, "records.jsonl"))


ORDERS = [("id", "INT", True), ("name", "VARCHAR(20)", False), ("amount", "DECIMAL(10, 2)", False)]


def each_product(test):
    """Makes the test one of each product, or of each of its cases: what `cases(product)` gives comes as a last argument."""
    test.cases = lambda product: {product: ()}
    return test


def each_case(cases):
    def decorated(test):
        test.cases = lambda product: {f"{product}, {name}": (case,) for name, case in cases(product).items()}
        return test
    return decorated
