"""An object store that a test can take down and bring back: what S3 answers to the few requests that a warehouse makes.

The contract of real stores is tested with real ones (tests/interop/s3_store_test.cc); this one keeps its objects in
memory, checks no signature, and while it is down it answers nothing but 503.
"""
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape


class ObjectServer:
    def __init__(self):
        self.objects = {}
        self.lock = threading.Lock()
        self.up = True
        self.refused = 0  # requests while it was down
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def _handler(outer):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def answer(self, status, body=b"", headers=()):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                if "Content-Length" not in dict(headers):
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            def taken(self):
                """(key, query, body); None: the store is down, and has said so."""
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if not outer.up:
                    outer.refused += 1
                    self.answer(503)
                    return None
                url = urllib.parse.urlsplit(self.path)
                key = urllib.parse.unquote(url.path).split("/", 2)[2]
                return key, dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True)), body

            def do_PUT(self):
                request = self.taken()
                if request is None:
                    return
                key, query, body = request
                if query:
                    return self.answer(501)
                with outer.lock:
                    if self.headers.get("If-None-Match") == "*" and key in outer.objects:
                        return self.answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
                    outer.objects[key] = body
                self.answer(200, headers=[("ETag", '"1"')])

            def do_DELETE(self):
                request = self.taken()
                if request is None:
                    return
                with outer.lock:
                    outer.objects.pop(request[0], None)
                self.answer(204)

            def do_HEAD(self):
                request = self.taken()
                if request is None:
                    return
                with outer.lock:
                    body = outer.objects.get(request[0])
                if body is None:
                    return self.answer(404)
                self.answer(200, headers=[("Content-Length", str(len(body)))])

            def do_GET(self):
                request = self.taken()
                if request is None:
                    return
                key, query, _ = request
                if "list-type" in query:
                    return self.answer(200, outer._listing(query).encode())
                with outer.lock:
                    body = outer.objects.get(key)
                if body is None:
                    return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
                span = self.headers.get("Range")
                if span is None:
                    return self.answer(200, body)
                first, last = span.removeprefix("bytes=").split("-")
                self.answer(206, body[int(first):int(last) + 1])

        return Handler

    def _listing(self, query):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys, folders = [], set()
        with self.lock:
            for key in sorted(self.objects):
                if not key.startswith(prefix):
                    continue
                rest = key[len(prefix):]
                if delimiter and delimiter in rest:
                    folders.add(prefix + rest.split(delimiter)[0] + delimiter)
                else:
                    keys.append((key, len(self.objects[key])))
        return ("<ListBucketResult><IsTruncated>false</IsTruncated>"
                + "".join(f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size></Contents>" for key, size in keys)
                + "".join(f"<CommonPrefixes><Prefix>{escape(f)}</Prefix></CommonPrefixes>" for f in sorted(folders))
                + "</ListBucketResult>")
