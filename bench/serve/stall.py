"""How much clients that ask for much delay the others: python3 bench/serve/stall.py MODEL [--pairs 3] [--seconds 20]

64 clients stream texts. In every second round, besides,

  - one client sends 4 MB of digits, again and again
  - 256 connections stand and say nothing
  - one text follows a grammar that can be read in many ways, again and again

What must hold:

  - the 99th percentile of the time between two events of a stream is at most 1.5 times that of the rounds without them
  - 480 answers that were asked for meanwhile are those of the same requests alone
  - /health is answered at any time

Prints figures, and exits with 1 if something does not hold. Standard library alone.
"""

import argparse
import http.client
import json
import pathlib
import selectors
import socket
import sys
import threading
import time

from load import ROOT, Server, ask, check, make_requests

# A text of n letters is read in more ways than n^3, and no two places are alike: each has a mask of its own.
AMBIGUOUS = """root ::= e{1,500}
e ::= [a-z ]{1,50} f? | [a-m ]{1,70} e
f ::= [a-z ]{2,60} e | [n-z ]{1,40} f?"""
DIGITS = json.dumps({"prompt": "1" * 4_000_000, "max_tokens": 1}).encode()


class Streams:
    """Clients of one thread, each of which asks for the next text when one is complete."""

    def __init__(self, port, clients):
        self.port = port
        self.selector = selectors.DefaultSelector()
        self.number = 0
        self.gaps = []
        for _ in range(clients):
            connection = socket.create_connection(("127.0.0.1", port))
            self.selector.register(connection, selectors.EVENT_READ, {"rest": b"", "last": None})
            self.begin(connection)

    def begin(self, connection):
        self.number += 1
        body = json.dumps({"prompt": f"{self.number} + 1 = ", "max_tokens": 60, "temperature": 1.5,
                           "seed": self.number, "stream": True}).encode()
        connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def run(self, seconds):
        """The times between events of one stream, in seconds."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            for key, _ in self.selector.select(0.1):
                self.take(key.fileobj, key.data, time.monotonic())
        return self.gaps

    def take(self, connection, state, now):
        piece = connection.recv(65536)
        if not piece:
            raise SystemExit("the server has closed a stream")
        text = state["rest"] + piece
        state["rest"] = text[-16:]
        for _ in range(piece.count(b"data: ")):
            if state["last"] is not None:
                self.gaps.append(now - state["last"])
            state["last"] = now
        if text.endswith(b"\r\n0\r\n\r\n"):
            state["last"], state["rest"] = None, b""
            self.begin(connection)

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()


class Nuisance:
    """Everything that must not disturb anybody."""

    def __init__(self, port):
        self.port = port
        self.is_over = threading.Event()
        self.digits = self.texts = 0
        self.idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(256)]
        self.threads = [threading.Thread(target=self.send_digits), threading.Thread(target=self.follow_grammar)]
        for thread in self.threads:
            thread.start()

    def post(self, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request("POST", "/v1/completions", body)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status

    def send_digits(self):
        while not self.is_over.is_set():
            self.post(DIGITS)
            self.digits += 1

    def follow_grammar(self):
        while not self.is_over.is_set():
            self.post(json.dumps({"prompt": "count", "max_tokens": 40, "temperature": 1, "grammar": AMBIGUOUS}))
            self.texts += 1

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        for connection in self.idle:
            connection.close()


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def health(port):
    start = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/health")
    is_ok = connection.getresponse().status == 200
    connection.close()
    return is_ok, time.monotonic() - start


def answers(port, requests):
    """The text of each, with status; again where the queue is full."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    texts = []
    for request in requests:
        while (found := ask(connection, request))[0] == 503:
            time.sleep(0.05)
        texts.append(found[:2])
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="artefact, HuggingFace folder or GGUF file")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20, help="of one round")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--serve", default="--queue 128", help="options of `tessera serve`")
    parser.add_argument("--tessera", default=ROOT / "build" / "release" / "tessera")
    options = parser.parse_args()

    server = Server(options)
    holds, gaps, waits = True, {False: [], True: []}, []
    for _ in range(options.pairs):
        for is_disturbed in (False, True):
            nuisance = Nuisance(server.port) if is_disturbed else None
            streams = Streams(server.port, options.clients)
            polls = threading.Thread(target=lambda: waits.extend(health(server.port) for _ in range(20)))
            if is_disturbed:
                polls.start()
            found = streams.run(options.seconds)
            streams.close()
            gaps[is_disturbed].append(percentile(found, 0.99))
            print(f"{'disturbed' if is_disturbed else 'alone    '}  {len(found)} events, time between two: "
                  f"median {percentile(found, 0.5) * 1e3:.1f} ms, 99 % {percentile(found, 0.99) * 1e3:.1f} ms, "
                  f"longest {max(found) * 1e3:.1f} ms", flush=True)
            if is_disturbed:
                polls.join()
                nuisance.stop()
                print(f"           beside {nuisance.digits} prompts of digits and {nuisance.texts} texts by the grammar")
    ratio = percentile(gaps[True], 0.5) / percentile(gaps[False], 0.5)
    holds &= check(ratio <= 1.5, f"the 99th percentile is {ratio:.2f} times that of the clients alone (medians of the rounds)")
    holds &= check(all(is_ok for is_ok, _ in waits), f"/health answers: {max(wait for _, wait in waits) * 1e3:.0f} ms at most")

    requests = [request | {"stream": False} for request in make_requests(480, 2)]
    nuisance = Nuisance(server.port)
    parts = [requests[i::8] for i in range(8)]
    found = [None] * 8
    threads = [threading.Thread(target=lambda i=i: found.__setitem__(i, answers(server.port, parts[i]))) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    nuisance.stop()
    server.stop()
    alone = Server(options, "--no-prefix-reuse")
    wrong = sum(a != b for i in range(8) for a, b in zip(found[i], answers(alone.port, parts[i])))
    alone.stop()
    holds &= check(wrong == 0, f"{wrong} of {len(requests)} answers differ from those alone")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
