"""A cloud that rents out machines which exist only in its books: the part that all fake APIs share.

A test drives it by POST /_control with {"fault": {"op", "how", "times"}}, {"machine": {"id", "state"}}, {"others": N} or {"reset": true},
and reads GET /_books. What a fault means is said beside fail().
"""
import http.server
import json
import threading

KEY = "key-of-the-account-0123456789"
LAG = 2  # listings that do not show a new machine yet, where a fault asks for it


class Machine:
    def __init__(self, number, label, environment, start, price):
        self.id, self.label, self.environment, self.start, self.price = number, label, environment, start, price
        self.state, self.hidden, self.job, self.metadata = "provisioning", 0, "", {}


class Cloud:
    """States of machines are the words of midwatch: provisioning, running, stopped, lost, gone."""

    def __init__(self):
        self.machines, self.faults, self.calls, self.next = {}, [], {"search": 0, "create": 0, "list": 0, "destroy": 0}, 1000
        self.lag = 0  # of machines that are made now

    def create(self, label, environment, start, price):
        self.next += 1
        machine = Machine(self.next, label, environment, start, price)
        machine.hidden = self.lag
        self.machines[machine.id] = machine
        return machine

    def listed(self):
        out = []
        for machine in self.machines.values():
            if machine.hidden > 0:
                machine.hidden -= 1
            elif machine.state != "gone":
                out.append(machine)
        return out

    def destroy(self, number):
        """False: there is none."""
        return self.machines.pop(int(number), None) is not None if str(number).isdigit() else False

    def fault(self, operation):
        self.calls[operation] += 1
        for fault in self.faults:
            if fault["op"] == operation and fault["times"] > 0:
                fault["times"] -= 1
                return fault["how"]
        return ""

    def control(self, order):
        if "reset" in order:
            self.machines, self.faults, self.calls = {}, [], dict.fromkeys(self.calls, 0)
        if "fault" in order:
            self.faults.append(order["fault"])
        if "machine" in order:
            self.machines[int(order["machine"]["id"])].state = order["machine"]["state"]
        for i in range(order.get("others", 0)):
            self.create(f"somebody-else-{i}", {}, "", 1.0).state = "running"

    def books(self):
        machines = [{"id": str(one.id), "label": one.label, "environment": one.environment, "start": one.start} for one in self.machines.values()]
        return {"machines": machines, "calls": self.calls}


class Api(http.server.BaseHTTPRequestHandler):
    """One kind of API: a subclass says what a request asks for (operation()), and answers it."""
    cloud = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def say(self, status, body, kind="application/json", headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (("Content-Type", kind), ("Content-Length", str(len(data))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def denied(self):
        """A rude API: it quotes what it was sent."""
        self.say(401, {"error": "denied", "msg": f"no rights with {self.headers.get('Authorization', '')}"})

    def full(self):
        raise NotImplementedError

    def fail(self, how):
        """False: it is answered as usual. "silent": it is done, and the connection is closed without an answer."""
        if how == "busy":
            self.say(429, {"error": "rate limited"}, headers=(("Retry-After", "0"),))
        elif how == "broken":
            self.say(503, b"<html>Service Unavailable</html>", "text/html")
        elif how == "html":
            self.say(200, b"<!DOCTYPE html><html>Just a moment</html>", "text/html")
        elif how == "garbage":
            self.say(200, b'{"instances": [{"id": \x00\xff', "application/json")
        elif how == "empty":
            self.say(200, {})
        elif how == "huge":
            self.say(200, b'{"data": "' + b"x" * (9 << 20) + b'"}')
        elif how == "denied":
            self.denied()
        elif how == "full":
            self.full()
        else:
            return False
        return True

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0) or 0))
        if self.path == "/_books":
            return self.say(200, self.cloud.books())
        if self.path == "/_control":
            self.cloud.control(json.loads(body))
            return self.say(200, {})
        if self.headers.get("Authorization") not in (f"Bearer {KEY}", self.other_key()):
            return self.denied()
        operation, details = self.operation(body)
        how = self.cloud.fault(operation)
        if self.fail(how):
            return None
        if how == "silent":  # it does what is asked, and nobody hears of it
            self.wfile = open("/dev/null", "wb")  # pylint: disable=consider-using-with
            self.answer(operation, details)
            self.close_connection = True
            return self.connection.shutdown(2)
        self.cloud.lag = LAG if how == "late" else 0  # before the answer: who has it may list at once
        self.answer(operation, details)
        return None

    @staticmethod
    def other_key():
        return f"Bearer {KEY}"

    do_GET = do_POST = do_PUT = do_DELETE = serve


def start(api):
    """The port of a server of that kind, in a thread of its own."""
    api.cloud = Cloud()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), api)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
