"""A Kafka broker of its own for a test, and a producer that is none of ours: librdkafka by ctypes."""
import argparse
import ctypes
import ctypes.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
import replay  # noqa: E402
from pipelines import check, default_seed, run_all  # noqa: E402

KAFKA = os.path.join(replay.TOP, "tests/peers/kafka")


def is_installed():
    return os.path.exists(os.path.join(replay.PEERS, "dist", "kafka", ".stamp"))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Broker:
    """A broker of its own for this run. `with_users`: it has a second listener (`sasl_bootstrap`) for the users admin,
    who may do everything, and stranger, who may do nothing; their passwords are their names. A third one speaks TLS
    (`tls_bootstrap`), with a certificate of its own (`certificate`, PEM)."""

    def __init__(self, name, with_users=False):
        self.env = {**os.environ, "PEERS_DIR": replay.PEERS, "KAFKA_JIT": "1", "KAFKA_START_S": "300",
                    "PEERS_INSTANCE": f"kafka-{name}-{os.getpid()}"}
        self.bootstrap = None
        self.sasl_bootstrap = None
        self.tls_bootstrap = None
        self.keys = None
        if with_users:
            plain, controller, sasl, tls = (free_port() for _ in range(4))
            self.sasl_bootstrap = f"127.0.0.1:{sasl}"
            self.tls_bootstrap = f"127.0.0.1:{tls}"
            self.keys = tempfile.mkdtemp(prefix="driftless-kafka-keys-")
            listeners = (f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl},"
                         f"SSL://127.0.0.1:{tls}")
            self.env |= {"PEER_KAFKA_PORT": str(plain), "PEER_KAFKA_CONTROLLER_PORT": str(controller), "KAFKA_EXTRA": f"""
listeners={listeners},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={listeners}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT
ssl.keystore.type=PKCS12
ssl.keystore.location={self.keys}/broker.p12
ssl.keystore.password=password
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_admin="admin" user_stranger="stranger";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:admin
"""}

    @property
    def certificate(self):
        return os.path.join(self.keys, "broker.pem")

    def _make_keys(self):
        """By the JDK's own tool: a key, and a certificate for this address that nobody else has signed."""
        keytool = os.path.join(os.environ["JAVA_HOME"], "bin", "keytool") if "JAVA_HOME" in os.environ else "keytool"
        store = ["-alias", "broker", "-keystore", os.path.join(self.keys, "broker.p12"), "-storepass", "password"]
        for words in (["-genkeypair", "-keyalg", "RSA", "-validity", "30", "-dname", "CN=broker",
                       "-ext", "SAN=ip:127.0.0.1", "-storetype", "PKCS12"],
                      ["-exportcert", "-rfc", "-file", self.certificate]):
            made = subprocess.run([keytool, *words, *store], capture_output=True, text=True)
            check(made.returncode == 0, f"keytool: {made.stdout}{made.stderr}")

    def start(self):
        if self.keys and not os.path.exists(self.certificate):
            self._make_keys()
        for _ in range(2):
            started = subprocess.run([KAFKA, "start"], env=self.env, capture_output=True, text=True)
            found = re.search(r"KAFKA_BOOTSTRAP=(\S+)", started.stdout)
            if found:
                self.bootstrap = found[1]
                return
        sys.exit("the broker does not start:\n" + started.stdout[-1000:] + started.stderr[-3000:])

    def kill(self):
        """At once; start() brings it back on the same port, with what it had."""
        subprocess.run([KAFKA, "kill"], env=self.env, capture_output=True)

    def stop(self):
        subprocess.run([KAFKA, "wipe"], env=self.env, capture_output=True)
        shutil.rmtree(os.path.join(replay.PEERS, "inst", self.env["PEERS_INSTANCE"]), ignore_errors=True)
        if self.keys:
            shutil.rmtree(self.keys, ignore_errors=True)

    def committed_records(self, topics, expected=1):
        """The committed records of all topics that match: [(partition, key, message)], each partition in its order."""
        for _ in range(6):  # on a busy machine it may give up before a record has come
            read = subprocess.run(
                [KAFKA, "cli", "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", self.bootstrap,
                 "--include", topics, "--from-beginning", "--isolation-level", "read_committed",
                 "--timeout-ms", "20000", "--formatter-property", "print.partition=true",
                 "--formatter-property", "print.key=true"],
                env=self.env, capture_output=True, text=True, encoding="utf-8")
            # The client's log stands between the records.
            found = re.findall(r"^Partition:(\d+)\t(\{.*\})\t(\{.*\}|null)$", read.stdout, re.M)
            if len(found) >= expected:
                break
        total = re.search(r"Processed a total of (\d+) messages", read.stdout + read.stderr)
        check(total and int(total[1]) == len(found) > 0,
              f"{len(found)} records\n{read.stdout[-1000:]}{read.stderr[-2000:]}")
        return [(int(partition), key, json.loads(message)) for partition, key, message in found]


def written(bootstrap, topics, partitions):
    """Producer.written, by a client that knows nothing old of the topics."""
    producer = Producer(bootstrap)
    try:
        return producer.written(topics, partitions)
    finally:
        producer.close()


class Producer:
    """Sends bytes. `transactional`: an id; then begin() and commit() or abort() stand around the sends."""

    def __init__(self, bootstrap, transactional=None):
        name = ctypes.util.find_library("rdkafka") or "librdkafka.so.1"
        self.lib = lib = ctypes.CDLL(name)
        for function, kind in (("rd_kafka_conf_new", ctypes.c_void_p), ("rd_kafka_new", ctypes.c_void_p),
                               ("rd_kafka_topic_new", ctypes.c_void_p), ("rd_kafka_queue_new", ctypes.c_void_p),
                               ("rd_kafka_NewTopic_new", ctypes.c_void_p),
                               ("rd_kafka_NewPartitions_new", ctypes.c_void_p), ("rd_kafka_queue_poll", ctypes.c_void_p),
                               ("rd_kafka_init_transactions", ctypes.c_void_p),
                               ("rd_kafka_begin_transaction", ctypes.c_void_p),
                               ("rd_kafka_commit_transaction", ctypes.c_void_p),
                               ("rd_kafka_abort_transaction", ctypes.c_void_p)):
            getattr(lib, function).restype = kind
        text = ctypes.create_string_buffer(512)
        conf = ctypes.c_void_p(lib.rd_kafka_conf_new())
        settings = {"bootstrap.servers": bootstrap, "partitioner": "murmur2_random", "enable.idempotence": "true",
                    "linger.ms": "1", "log_level": "0", "isolation.level": "read_uncommitted"}  # the last: for written()
        if transactional:
            settings["transactional.id"] = transactional
        for key, value in settings.items():
            check(lib.rd_kafka_conf_set(conf, key.encode(), value.encode(), text, 512) == 0, text.value)
        self.handle = ctypes.c_void_p(lib.rd_kafka_new(0, conf, text, 512))
        check(self.handle.value, text.value)
        self.topics = {}
        if transactional:
            check(not lib.rd_kafka_init_transactions(self.handle, 60000), "no transactions")

    def create(self, **partitions):
        """Creates topics; the names are those of the arguments."""
        queue = ctypes.c_void_p(self.lib.rd_kafka_queue_new(self.handle))
        text = ctypes.create_string_buffer(512)
        new = [ctypes.c_void_p(self.lib.rd_kafka_NewTopic_new(name.encode(), count, 1, text, 512))
               for name, count in partitions.items()]
        self.lib.rd_kafka_CreateTopics(self.handle, (ctypes.c_void_p * len(new))(*new), ctypes.c_size_t(len(new)),
                                       None, queue)
        check(self.lib.rd_kafka_queue_poll(queue, 60000), "no topics")

    def grow(self, topic, partitions):
        queue = ctypes.c_void_p(self.lib.rd_kafka_queue_new(self.handle))
        text = ctypes.create_string_buffer(512)
        new = ctypes.c_void_p(self.lib.rd_kafka_NewPartitions_new(topic.encode(), ctypes.c_size_t(partitions), text, 512))
        self.lib.rd_kafka_CreatePartitions(self.handle, (ctypes.c_void_p * 1)(new), ctypes.c_size_t(1), None, queue)
        check(self.lib.rd_kafka_queue_poll(queue, 60000), "no partitions")
        self.topics.pop(topic, None)

    def send(self, topic, key, value, partition=-1):
        """`key` and `value` are text; a None is null."""
        if topic not in self.topics:
            self.topics[topic] = ctypes.c_void_p(self.lib.rd_kafka_topic_new(self.handle, topic.encode(), None))
        key, value = (None if t is None else t.encode() for t in (key, value))
        arguments = (self.topics[topic], ctypes.c_int32(partition), 2, value, ctypes.c_size_t(len(value or b"")), key,
                     ctypes.c_size_t(len(key or b"")), None)
        while self.lib.rd_kafka_produce(*arguments):
            self.lib.rd_kafka_poll(self.handle, 100)

    def written(self, topics, partitions):
        """How many records were ever written, those of open transactions and the marks of others too."""
        total = 0
        for topic in topics:
            for partition in range(partitions):
                low, high = ctypes.c_int64(), ctypes.c_int64()
                if not self.lib.rd_kafka_query_watermark_offsets(self.handle, topic.encode(), ctypes.c_int32(partition),
                                                                 ctypes.byref(low), ctypes.byref(high), 10000):
                    total += high.value
        return total

    def close(self):
        self.lib.rd_kafka_destroy(self.handle)

    def flush(self):
        check(self.lib.rd_kafka_flush(self.handle, 60000) == 0, "not all was sent")

    def begin(self):
        check(not self.lib.rd_kafka_begin_transaction(self.handle), "no transaction")

    def commit(self):
        check(not self.lib.rd_kafka_commit_transaction(self.handle, 60000), "not committed")

    def abort(self):
        check(not self.lib.rd_kafka_abort_transaction(self.handle, 60000), "not aborted")


def main(broker, options, tests, more_arguments=lambda parser: None):
    """The command line of a test of this broker; `options` takes its values. Returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--driftless", required=True)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--seed", type=int, default=default_seed())
    parser.add_argument("--bootstrap", help="a broker that runs already, not yet used with this seed")
    more_arguments(parser)
    parser.parse_args(namespace=options)
    if not is_installed():
        return replay.SKIPPED
    print(f"seed {options.seed}", flush=True)
    broker.bootstrap = options.bootstrap
    try:
        if not options.bootstrap:
            broker.start()
        return run_all([t for t in tests if not options.only or t.__name__ in options.only], options.driftless)
    finally:
        if not options.bootstrap:
            broker.stop()
