"""Stands in for SGLang Omni's first process: answers /health, has a child of its own, dies or is deaf if told."""

import http.server
import os
import signal
import subprocess
import sys


class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        print("profile", self.path, self.rfile.read(size).decode(), flush=True)
        self.do_GET()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    _, host, port = sys.argv[1:]
    manner = os.environ.get("FAKE_CHILD", "")
    if manner == "dies":
        print("first words\nTraceback (most recent call last):\n  ^^^^\nValueError: no such layer")
        sys.exit(3)
    if manner == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    below = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print("below", below.pid, flush=True)
    http.server.HTTPServer((host, int(port)), Health).serve_forever()
