"""Many Iceberg tables read by one process each of the reference implementation, DuckDB and pyiceberg."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PEER = os.path.join(HERE, "..", "peers")
ENGINES = ("duckdb", "pyiceberg")
# How the error of an engine begins that does not know a kind of deletes; see iceberg_rows.py.
NO_SUCH_DELETES = "equality deletes"


def newest_metadata(warehouse, table):
    """The metadata file that stands for a table of a hadoop catalog."""
    folder = os.path.join(warehouse, *table.split(".", 1), "metadata")
    versions = [name for name in os.listdir(folder) if re.fullmatch(r"v\d+\.metadata\.json", name)]
    return os.path.join(folder, max(versions, key=lambda name: int(name[1:].split(".")[0])))


def loaded(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def by_reference(sink, requests):
    """The texts that the reference implementation answers to commands (lists of words) of tests/peers/oracle."""
    asked = "".join("\t".join(words) + "\n" for words in requests)
    answers = subprocess.run([os.path.join(PEER, "oracle"), sink, "batch"], input=asked, capture_output=True, text=True,
                             encoding="utf-8")
    got = re.findall(r"(.*?)^#end (\d)(.*?)$\n?", answers.stdout, re.S | re.M)
    if len(got) != len(requests):
        sys.exit(f"the reference reader ended early:\n{answers.stderr[-3000:]}")
    for words, (text, failed, error) in zip(requests, got):
        if failed != "0":
            sys.exit(f"the reference reader refuses {' '.join(words)}:{error}\n{text[-2000:]}")
    return [text for text, _, _ in got]


def by_engine(engine, jobs):
    """Reads with DuckDB or pyiceberg. `jobs`: [{"to", "metadata", "snapshot"}], as iceberg_rows.py wants them. What
    could not be read: {"to": error}."""
    for folder in {os.path.dirname(job["to"]) for job in jobs}:
        os.makedirs(folder, exist_ok=True)
    read = subprocess.run([os.path.join(PEER, "readers"), "py", os.path.join(HERE, "iceberg_rows.py"), engine],
                          input="".join(json.dumps(job) + "\n" for job in jobs), capture_output=True, text=True, encoding="utf-8")
    if read.returncode:
        sys.exit(f"{engine} failed:\n" + read.stderr[-3000:])
    errors = {}
    for job in jobs:
        if os.path.exists(job["to"] + ".error"):
            with open(job["to"] + ".error", encoding="utf-8") as f:
                errors[job["to"]] = f.read().strip()
        elif not os.path.exists(job["to"] + ".jsonl"):
            sys.exit(f"{engine} has not read {job['metadata']}")
    return errors


def beyond(errors, unreadable):
    """Errors of an engine that no case names: `unreadable` are the tables that it cannot read."""
    return {to: text for to, text in errors.items()
            if not text.startswith(NO_SUCH_DELETES) and os.path.basename(to).split("@")[0] not in unreadable}
