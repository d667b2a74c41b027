"""An HTTP proxy that stands before a server and fails as networks and servers do.

with FaultyProxy(port_of_server, plan) as proxy: proxy.url. plan(number, method, path) says of each request what happens:
None     it is passed on
"503"    the server is busy
"cut"    the connection ends before an answer, and the server never saw the request
"early"  likewise, while the request's body is still on its way
"lost"   the server did it, and the connection ends before the answer
"half"   the connection ends in the middle of the answer's body
number   it is passed on, at so many bytes a second
"""
import http.client
import http.server
import socket
import threading
import time

PIECE = 1 << 16


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def end_here(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def paced(self, size, rate):
        if rate:
            time.sleep(size / rate)

    def handle_one(self):
        proxy = self.server.proxy
        what = proxy.plan(proxy.count(), self.command, self.path)
        rate = what if isinstance(what, (int, float)) else None
        if what == "early":
            return self.end_here()
        body, left = [], int(self.headers.get("content-length", 0))
        while left:
            piece = self.rfile.read(min(left, PIECE))
            if not piece:
                return self.end_here()
            if proxy.arrived:
                proxy.arrived(len(piece))
            self.paced(len(piece), rate)
            left -= len(piece)
            body.append(piece)
        if what == "cut":
            return self.end_here()
        if what == "503":
            text = b"<?xml version=\"1.0\"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
            self.send_response(503)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(text)
            return None
        upstream = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=60)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                upstream.putheader(name, value)
            upstream.endheaders(b"".join(body) if body else None)
            answer = upstream.getresponse()
            content = answer.read()
        finally:
            upstream.close()
        if what == "lost":
            return self.end_here()
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        length = answer.getheader("content-length") if self.command == "HEAD" else str(len(content))
        if length is not None and answer.status != 204:
            self.send_header("Content-Length", length)
        self.end_headers()
        if what == "half":
            content = content[:len(content) // 2]
        for at in range(0, len(content), PIECE):
            self.paced(min(PIECE, len(content) - at), rate)
            self.wfile.write(content[at:at + PIECE])
        if what == "half":
            self.wfile.flush()
            self.end_here()
        return None

    def answered(self):
        try:
            self.handle_one()
        except (OSError, http.client.HTTPException):
            self.end_here()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answered


class FaultyProxy:
    def __init__(self, port, plan, context=None):
        """`context`: of ssl; then it speaks TLS."""
        self.port, self.plan = port, plan
        self.number, self.lock = 0, threading.Lock()
        self.arrived = None  # is called with the bytes of each piece that came
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)  # what arrives is seen when it does
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.server.proxy = self
        self.url = f"http{'' if context is None else 's'}://127.0.0.1:{self.server.server_address[1]}"

    def count(self):
        with self.lock:
            self.number += 1
            return self.number

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
