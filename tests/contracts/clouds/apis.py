"""The APIs of Vast.ai, RunPod, Prime Intellect and Lambda, as far as midwatch uses them and as they are documented."""
import json
import re
import urllib.parse

from cloud import Api

GPU, PRICE = "H100", 2.0


class Vast(Api):
    STATES = {"provisioning": ("loading", "running"), "running": ("running", "running"), "stopped": ("exited", "stopped"),
              "lost": ("offline", "running"), "odd": ("unheard-of", "running")}

    def operation(self, body):
        url = urllib.parse.urlparse(self.path)
        data = json.loads(body or b"{}")
        if self.command == "POST" and url.path == "/api/v0/bundles/":
            return "search", data
        if self.command == "PUT" and re.fullmatch(r"/api/v0/asks/\d+/", url.path):
            return "create", data
        if self.command == "GET" and url.path == "/api/v1/instances/":
            return "list", dict(urllib.parse.parse_qsl(url.query))
        if self.command == "DELETE":
            return "destroy", url.path.split("/")[4]
        raise ValueError(self.path)

    def full(self):
        self.say(400, {"success": False, "error": "no_such_ask", "msg": "error 404/3603: no_such_ask: it is not available"})

    def search(self, query):
        assert query["type"] in ("on-demand", "bid") and query["rentable"] == {"eq": True}, query
        spot = query["type"] == "bid"
        offer = {"id": 77, "machine_id": 4242, "gpu_name": "H100 SXM", "num_gpus": query.get("num_gpus", {"eq": 1})["eq"], "gpu_ram": 81559,
                 "disk_space": 900.5, "dph_base": PRICE - 0.1, "dph_total": PRICE, "min_bid": 0.8, "reliability2": 0.99, "geolocation": "Sweden, SE",
                 "rentable": True, "rented": False, "is_bid": spot}
        self.say(200, {"offers": [offer, {**offer, "id": 78, "dph_total": None, "min_bid": None}]})

    def create(self, order):
        assert order["client_id"] == "me" and order["disk"] > 0 and order["image"], order
        machine = self.cloud.create(order["label"], order["env"], order["onstart"], order["price"] or PRICE)
        if order["price"] is not None and order["price"] < 0.8:
            machine.state = "stopped"
            return self.say(400, {"success": False, "error": "insufficient_bid", "msg": "bid too low", "new_contract": machine.id})
        return self.say(200, {"success": True, "new_contract": machine.id})

    def answer(self, operation, details):
        if operation in ("search", "create"):
            return getattr(self, operation)(details)
        if operation == "destroy":
            if self.cloud.destroy(details):
                return self.say(200, {"success": True})
            return self.say(404, {"success": False, "error": "no_such_instance", "msg": "it is gone"})
        begin, size = int(details.get("after_token", 0)), int(details["limit"])
        listed = self.cloud.listed()
        page = [{"id": one.id, "label": one.label, "machine_id": 4242, "actual_status": self.STATES[one.state][0],
                 "cur_state": self.STATES[one.state][1], "intended_status": self.STATES[one.state][1], "dph_total": PRICE,
                 "status_msg": None} for one in listed[begin:begin + size]]
        more = begin + size < len(listed)
        return self.say(200, {"instances": page, "next_token": str(begin + size) if more else None, "total_instances": len(listed)})


class Runpod(Api):
    """Only what midwatch writes is understood: the query is read by patterns."""

    def operation(self, body):
        assert self.command == "POST" and self.path == "/graphql", self.path
        query = json.loads(body)["query"]
        for word, operation in (("gpuTypes", "search"), ("myself", "list"), ("podTerminate", "destroy")):
            if word in query:
                return operation, query
        return "create", query

    def error(self, message, code="INTERNAL_SERVER_ERROR"):
        self.say(200, {"errors": [{"message": message, "extensions": {"code": code}}], "data": None})

    def full(self):
        self.error("There are no longer any instances available with the requested specifications. Please refresh and try again.")

    def denied(self):
        self.error(f"not logged in with {self.headers.get('Authorization', '')}", "UNAUTHENTICATED")

    def fail(self, how):
        if how == "broken" or how == "unclear":
            self.error("Something went wrong. Please try again later or contact support.")
            return True
        return super().fail(how)

    def pod(self, one):
        state = {"provisioning": "RUNNING", "running": "RUNNING", "stopped": "EXITED", "lost": "DEAD", "odd": "UNHEARD_OF"}[one.state]
        runtime = {"ports": []} if one.state == "running" else None
        return {"id": str(one.id), "name": one.label, "desiredStatus": state, "costPerHr": PRICE, "machineId": "m1", "podType": "RESERVED",
                "lastStatusChange": "", "runtime": runtime}

    def create(self, query):
        def text(key):
            return json.loads(re.search(rf'\b{key}: ("(?:[^"\\]|\\.)*")', query)[1])
        pairs = re.findall(r'{key: ("(?:[^"\\]|\\.)*"), value: ("(?:[^"\\]|\\.)*")}', query)
        environment = {json.loads(key): json.loads(value) for key, value in pairs}
        assert "cloudType: SECURE" in query and text("gpuTypeId") == "NVIDIA H100 80GB HBM3" and text("imageName"), query
        assert "MIDWATCH_FLEET_START" in text("dockerArgs")
        machine = self.cloud.create(text("name"), environment, environment.pop("MIDWATCH_FLEET_START"), PRICE)
        spot = "podRentInterruptable" in query
        assert not spot or float(re.search(r"bidPerGpu: ([\d.]+)", query)[1]) > 1.0, query
        name = "podRentInterruptable" if spot else "podFindAndDeployOnDemand"
        self.say(200, {"data": {name: {"id": str(machine.id), "machineId": "m1", "costPerHr": PRICE}}})

    def answer(self, operation, details):
        if operation == "create":
            return self.create(details)
        if operation == "list":
            return self.say(200, {"data": {"myself": {"pods": [self.pod(one) for one in self.cloud.listed()]}}})
        if operation == "destroy":
            if self.cloud.destroy(re.search(r'podId: "(\w*)"', details)[1]):
                return self.say(200, {"data": {"podTerminate": None}})
            return self.error("pod not found to terminate")
        kinds = [{"id": "NVIDIA H100 80GB HBM3", "displayName": "H100 SXM", "memoryInGb": 80, "secureCloud": True, "communityCloud": False,
                  "securePrice": PRICE, "communityPrice": None, "secureSpotPrice": 1.0, "communitySpotPrice": None, "maxGpuCount": 8,
                  "lowestPrice": {"minimumBidPrice": 1.0, "uninterruptablePrice": PRICE}},
                 {"id": "NVIDIA A40", "displayName": "A40", "memoryInGb": 48, "secureCloud": True, "communityCloud": True, "securePrice": 0.4,
                  "lowestPrice": {"minimumBidPrice": None, "uninterruptablePrice": None}}]
        return self.say(200, {"data": {"gpuTypes": kinds}})


class Prime(Api):
    STATES = {"provisioning": ("PROVISIONING", "PENDING"), "running": ("ACTIVE", "FINISHED"), "stopped": ("STOPPED", "FINISHED"),
              "lost": ("ERROR", "FINISHED"), "odd": ("UNHEARD_OF", "FINISHED")}

    def operation(self, body):
        url = urllib.parse.urlparse(self.path)
        if url.path == "/api/v1/availability/gpus":
            return "search", dict(urllib.parse.parse_qsl(url.query))
        if self.command == "POST" and url.path == "/api/v1/pods":
            return "create", json.loads(body)
        if self.command == "GET" and url.path == "/api/v1/pods":
            return "list", dict(urllib.parse.parse_qsl(url.query))
        if self.command == "DELETE":
            return "destroy", url.path.split("/")[4]
        raise ValueError(self.path)

    def full(self):
        self.say(409, {"detail": "No more of this GPU is available"})

    def answer(self, operation, details):
        if operation == "search":
            item = {"cloudId": "8xH100", "gpuType": "H100_80GB", "socket": "SXM5", "provider": "hyperstack", "dataCenter": "CA-1", "country": "CA",
                    "gpuCount": 1, "gpuMemory": 80, "disk": {"minCount": 10, "maxCount": 3000}, "stockStatus": "High", "security": "secure_cloud",
                    "prices": {"onDemand": PRICE, "communityPrice": None, "isVariable": False, "currency": "USD"}, "isSpot": False}
            return self.say(200, {"items": [item, {**item, "stockStatus": "Unavailable"}], "totalCount": 2})
        if operation == "create":
            pod, provider = details["pod"], details["provider"]
            assert provider == {"type": "hyperstack"} and pod["cloudId"] == "8xH100" and pod["customTemplateId"] == "tpl", details
            environment = {one["key"]: one["value"] for one in pod["envVars"]}
            machine = self.cloud.create(pod["name"], environment, environment.pop("MIDWATCH_FLEET_START"), PRICE)
            return self.say(200, {"id": str(machine.id), "name": pod["name"], "status": "PROVISIONING", "priceHr": PRICE})
        if operation == "list":
            begin, size = int(details["offset"]), int(details["limit"])
            listed = self.cloud.listed()
            page = [{"id": str(one.id), "name": one.label, "status": self.STATES[one.state][0], "installationStatus": self.STATES[one.state][1],
                     "priceHr": PRICE} for one in listed[begin:begin + size]]
            return self.say(200, {"data": page, "totalCount": len(listed), "offset": begin, "limit": size})
        if self.cloud.destroy(details):
            return self.say(200, {"status": "ok"})
        return self.say(404, {"detail": "Pod not found"})


class Lambda(Api):
    STATES = {"provisioning": "booting", "running": "active", "stopped": "preempted", "lost": "unhealthy", "odd": "unheard-of"}

    def operation(self, body):
        if self.path == "/api/v1/instance-types":
            return "search", None
        if self.path == "/api/v1/instances":
            return "list", None
        data = json.loads(body)
        return ("create", data) if self.path.endswith("/launch") else ("destroy", data["instance_ids"])

    def full(self):
        self.say(400, {"error": {"code": "instance-operations/launch/insufficient-capacity", "message": "Not enough capacity", "suggestion": ""}})

    def answer(self, operation, details):
        kind = {"name": "gpu_1x_h100_sxm5", "description": "1x H100 (80 GB SXM5)", "gpu_description": "H100 (80 GB SXM5)",
                "price_cents_per_hour": int(PRICE * 100), "specs": {"vcpus": 26, "memory_gib": 225, "storage_gib": 2816, "gpus": 1}}
        if operation == "search":
            here, none = [{"name": "us-east-1", "description": "Virginia"}], []
            return self.say(200, {"data": {kind["name"]: {"instance_type": kind, "regions_with_capacity_available": here},
                                           "gpu_8x_a100": {"instance_type": kind, "regions_with_capacity_available": none}}})
        if operation == "create":
            assert details["region_name"] == "us-east-1" and details["ssh_key_names"] == ["mine"] and details["quantity"] == 1, details
            machine = self.cloud.create(details["name"], details["user_data"], details["user_data"], PRICE)
            return self.say(200, {"data": {"instance_ids": [str(machine.id)]}})
        if operation == "list":
            listed = [{"id": str(one.id), "name": one.label, "status": self.STATES[one.state], "instance_type": kind} for one in self.cloud.listed()]
            return self.say(200, {"data": listed})
        if self.cloud.destroy(details[0]):
            return self.say(200, {"data": {"terminated_instances": []}})
        return self.say(404, {"error": {"code": "global/object-does-not-exist", "message": "Specified instance does not exist"}})
