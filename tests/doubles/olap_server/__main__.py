"""A double of a StarRocks or Doris cluster: one front end (MySQL protocol and HTTP) and one back end, on loopback.

    python3 tests/doubles/olap_server --product starrocks --query-port 9030 --http-port 8030 --load-port 8040

It keeps real table state, runs ALTER jobs beside the statements, and refuses what the documentation says that the real
ones refuse (README.md beside this file lists it). It prints one JSON line with its ports when it is ready.
"""
import argparse
import json
import os
import ssl
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import http_ends
import mysql_front_end
from catalog import Catalog


def main():
    parser = argparse.ArgumentParser(prog="olap_server", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--product", choices=("starrocks", "doris"), required=True)
    parser.add_argument("--version", help="what it says it is (3.2.11 or 3.0.4)")
    parser.add_argument("--query-port", type=int, default=0)
    parser.add_argument("--http-port", type=int, default=0)
    parser.add_argument("--load-port", type=int, default=0)
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", default="")
    parser.add_argument("--job-ms", type=int, default=0, help="how long a job of ALTER runs")
    parser.add_argument("--gap-ms", type=int, default=0, help="how long a table is not NORMAL behind its job")
    parser.add_argument("--tls-cert", help="every port speaks TLS, with this certificate; without, none does")
    parser.add_argument("--tls-key", help="the certificate's key")
    parser.add_argument("--plain-back-ends", action="store_true", help="the back end speaks no TLS")
    arguments = parser.parse_args()
    tls = None
    if arguments.tls_cert:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(arguments.tls_cert, arguments.tls_key)
    version = arguments.version or ("3.2.11" if arguments.product == "starrocks" else "3.0.4")
    catalog = Catalog(arguments.product, version, job_ms=arguments.job_ms, gap_ms=arguments.gap_ms)
    faults = http_ends.Faults()
    access = (arguments.user, arguments.password)
    query = mysql_front_end.Server(arguments.query_port, catalog, faults, *access, tls=tls)
    front = http_ends.Server(arguments.http_port, http_ends.FrontEnd, catalog, faults, *access, tls=tls)
    back = http_ends.Server(arguments.load_port, http_ends.BackEnd, catalog, faults, *access,
                            tls=None if arguments.plain_back_ends else tls)
    front.back_end = back
    for server in (query, front, back):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"query": query.server_address[1], "http": front.server_address[1],
                      "load": back.server_address[1]}), flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
