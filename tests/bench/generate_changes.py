#!/usr/bin/env python3
"""Writes a Debezium JSON change stream of one ten-column orders table for the whole-path benchmarks.

usage: generate_changes.py OUT.jsonl --changes N [--no-key] [--seed 7]

60 % inserts, 30 % updates, 10 % deletes (with --no-key: inserts only); a change is about 500 bytes, in the form that
Debezium 3 writes without embedded schemas. The first record is the CREATE TABLE.
"""
import argparse
import base64
import json
import random

DDL = ("CREATE TABLE `orders` (`id` bigint NOT NULL, `customer_id` bigint NOT NULL, `sku` varchar(24) NOT NULL, "
       "`status` varchar(12) NOT NULL, `quantity` int NOT NULL, `price` decimal(12,2) NOT NULL, `weight` double DEFAULT NULL, "
       "`gift` tinyint(1) NOT NULL, `note` varchar(80) DEFAULT NULL, `changed_at` datetime(6) NOT NULL%s) DEFAULT CHARSET=utf8mb4")
STATES = ["new", "paid", "packed", "shipped", "delivered", "returned"]


def decimal_bytes(cents):
    size = max(1, (cents.bit_length() + 8) // 8)
    return base64.b64encode(cents.to_bytes(size, "big", signed=True)).decode()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("--changes", type=int, required=True)
    ap.add_argument("--no-key", action="store_true")
    ap.add_argument("--seed", type=int, default=7)
    a = ap.parse_args()
    rng = random.Random(a.seed)
    next_id, live, row_of = 1, [], {}
    source = {"version": "3.6.1.Final", "connector": "mysql", "name": "b", "ts_ms": 0, "snapshot": "false", "db": "shop",
              "table": "orders", "server_id": 1, "file": "binlog.000001", "pos": 4, "row": 0}

    def image(i):
        return {"id": i, "customer_id": rng.randrange(50000), "sku": f"SKU-{rng.randrange(10**9):09d}-{i % 97:02d}",
                "status": rng.choice(STATES), "quantity": rng.randrange(1, 100), "price": decimal_bytes(rng.randrange(10**7)),
                "weight": rng.random() * 50, "gift": i & 1, "note": None if i % 3 else f"leave at door {i % 1000}",
                "changed_at": 1790000000000000 + i * 1000}

    with open(a.out, "w", encoding="utf-8") as f:
        dump = json.JSONEncoder(separators=(",", ":")).encode
        key = "" if a.no_key else ", PRIMARY KEY (`id`)"
        f.write(dump({"source": dict(source, snapshot="true", table="orders"), "ts_ms": 1, "databaseName": "shop",
                      "schemaName": None, "ddl": DDL % key, "tableChanges": []}) + "\n")
        for n in range(a.changes):
            source.update(ts_ms=1790000000000 + n, pos=4 + n * 100)
            roll = rng.random()
            if a.no_key or roll < 0.6 or not live:
                before, after, op = None, image(next_id), "c"
                live.append(next_id)
                if not a.no_key:
                    row_of[next_id] = after
                next_id += 1
            elif roll < 0.9:
                i = live[rng.randrange(len(live))]
                before, after, op = row_of[i], image(i), "u"
                row_of[i] = after
                before = None  # as with a minimal row image: the stream stays near 500 bytes a change
            else:
                at = rng.randrange(len(live))
                live[at], live[-1] = live[-1], live[at]
                i = live.pop()
                before, after, op = row_of.pop(i), None, "d"
            f.write(dump({"before": before, "after": after, "source": source, "op": op, "ts_ms": 1790000000000 + n,
                          "transaction": None}) + "\n")


if __name__ == "__main__":
    main()
