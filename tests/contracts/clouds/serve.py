"""One fake API, until its standard input ends: serve.py KIND FOLDER. Prints the port. Programs are put into the folder."""
import sys

import apis
import programs
from cloud import start

KINDS = {"vast": apis.Vast, "runpod": apis.Runpod, "prime": apis.Prime, "lambda": apis.Lambda, "kubernetes": programs.Kubectl, "skypilot": programs.Sky}

if __name__ == "__main__":
    api = KINDS[sys.argv[1]]
    port = start(api)
    if issubclass(api, programs.Program):
        api.install(sys.argv[2], port)
    print(port, flush=True)
    sys.stdin.read()
