"""Many clients of `tessera serve` for a while: python3 bench/serve/load.py MODEL [--seconds 600] [--clients 64]

Clients ask for texts out of a fixed list, in random order; some leave before their answer is there. What must hold:

  - every answer has status 200, or 503 with Retry-After
  - all answers to one request are the same, and the same as that of a second server that computes it alone and reuses
    no prefix
  - the private memory of the server does not grow after the first third of the time
  - when all clients have gone, nothing runs or waits, and no page of the cache is needed

Prints figures, and exits with 1 if something does not hold. Standard library alone.
"""

import argparse
import collections
import http.client
import json
import pathlib
import random
import re
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Server:
    """A server of its own, on a port that is free."""

    def __init__(self, options, *more):
        command = [options.tessera, "serve", options.model, "--port", "0", *options.serve.split(), *more]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            print(line, end="", file=sys.stderr)
            if found := re.search(r"listening at http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found.group(1))
                break
        else:
            raise SystemExit("the server did not start")
        threading.Thread(target=collections.deque, args=[self.process.stderr, 0], daemon=True).start()

    def memory(self):
        """Private memory in MB: weights are mapped, and not part of it."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+) kB", status).group(1)) / 1024

    def metrics(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        return {name: float(value) for name, value in re.findall(r"^([a-z_]+) (\S+)$", text, re.MULTILINE)}

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)


def make_requests(count, seed):
    """Texts of several lengths. Half of them begin alike, so that prefixes are found."""
    draw = random.Random(seed)
    words = "the a river city engine small old light runs over under because tensor reads writes many few and of".split()
    shared = " ".join(draw.choice(words) for _ in range(60))
    requests = []
    for i in range(count):
        own = " ".join(draw.choice(words) for _ in range(draw.choice([3, 20, 150])))
        requests.append({
            "prompt": f"{shared} {own}" if i % 2 else own,
            "max_tokens": draw.choice([1, 8, 24, 48]),
            "temperature": draw.choice([0, 0.7, 1.2]),
            "seed": i,
            "stream": i % 3 == 0,
            **({"stream_options": {"include_usage": True}} if i % 3 == 0 else {}),
        })
    return requests


def ask(connection, request):
    """Status, text and tokens. @raise http.client.HTTPException"""
    connection.request("POST", "/v1/completions", json.dumps(request), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    body = answer.read().decode()
    if answer.status != 200:
        return answer.status, "" if answer.getheader("Retry-After") else "no Retry-After: " + body, 0
    if not request["stream"]:
        whole = json.loads(body)
        return 200, whole["choices"][0]["text"], whole["usage"]["completion_tokens"]
    events = [line[6:] for line in body.splitlines() if line.startswith("data: ")]
    if not events or events[-1] != "[DONE]":
        return 200, "a stream without an end: " + body[-200:], 0
    *pieces, counts = map(json.loads, events[:-1])
    return 200, "".join(one["choices"][0]["text"] for one in pieces), counts["usage"]["completion_tokens"]


class Load:
    def __init__(self, server, requests, options):
        self.server, self.requests, self.options = server, requests, options
        self.lock = threading.Lock()
        self.statuses = collections.Counter()
        self.answers = [collections.Counter() for _ in requests]
        self.faults = []
        self.left = self.tokens = 0
        self.end = time.monotonic() + options.seconds

    def client(self, number):
        draw = random.Random(number)
        connection = None
        while time.monotonic() < self.end:
            connection = connection or http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=600)
            index = draw.randrange(len(self.requests))
            try:
                if draw.random() < self.options.leaving:
                    self.leave(connection, index, draw)
                    connection = None
                    continue
                status, text, tokens = ask(connection, self.requests[index])
            except (OSError, http.client.HTTPException) as fault:
                connection = None
                with self.lock:
                    self.faults.append(f"{type(fault).__name__}: {fault}")
                continue
            with self.lock:
                self.statuses[status] += 1
                self.tokens += tokens
                if status == 200:
                    self.answers[index][text] += 1
                elif text:
                    self.faults.append(text)
            if status == 503:
                time.sleep(draw.uniform(0.2, 1))

    def leave(self, connection, index, draw):
        """Asks, waits for a moment, which may end while the prompt is read, and closes the connection."""
        connection.request("POST", "/v1/completions", json.dumps(self.requests[index] | {"stream": True}))
        time.sleep(draw.choice([0, 0.01, 0.3]))
        connection.close()
        with self.lock:
            self.left += 1

    def run(self):
        """The memory of the server over time."""
        threads = [threading.Thread(target=self.client, args=[i]) for i in range(self.options.clients)]
        for thread in threads:
            thread.start()
        memory = []
        while any(thread.is_alive() for thread in threads):
            memory.append(self.server.memory())
            time.sleep(1)
        return memory


def check(holds, text):
    print(("ok    " if holds else "FAULT ") + text)
    return holds


def is_idle(server):
    for _ in range(100):
        now = server.metrics()
        if now["tessera_requests_running"] == now["tessera_requests_waiting"] == 0:
            return now["tessera_cache_pages_available"] == now["tessera_cache_pages"]
        time.sleep(0.1)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="artefact, HuggingFace folder or GGUF file")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=120, help="different ones")
    parser.add_argument("--leaving", type=float, default=0.05, help="part of the requests whose clients leave")
    parser.add_argument("--serve", default="--context 1024 --queue 32", help="options of `tessera serve`")
    parser.add_argument("--tessera", default=ROOT / "build" / "release" / "tessera")
    options = parser.parse_args()

    server = Server(options)
    requests = make_requests(options.requests, 1)
    load = Load(server, requests, options)
    memory = load.run()
    holds = check(is_idle(server), "nothing runs or waits, and no page is needed")
    counts = server.metrics()
    holds &= check(server.stop() == 0, "the server ends with exit code 0")

    alone = Server(options, "--no-prefix-reuse")
    connection = http.client.HTTPConnection("127.0.0.1", alone.port, timeout=600)
    expected = [ask(connection, request)[1] for request in requests]
    alone.stop()

    answered = sum(sum(one.values()) for one in load.answers)
    wrong = [i for i, one in enumerate(load.answers) if set(one) - {expected[i]}]
    third = len(memory) // 3
    print(f"{options.clients} clients, {options.seconds:.0f} s: {answered} answers ({answered / options.seconds:.1f}/s), "
          f"{load.tokens / options.seconds:.1f} tokens/s, status {dict(load.statuses)}, {load.left} clients left early")
    print(f"reused {counts.get('tessera_reused_tokens_total', 0):.0f} tokens of prompts, computed "
          f"{counts.get('tessera_prompt_tokens_total', 0):.0f}")
    print(f"private memory: {memory[0]:.1f} MB at the start, {max(memory[:third + 1]):.1f} MB at most in the first third, "
          f"{max(memory[third:]):.1f} MB at most after it, {memory[-1]:.1f} MB at the end")
    holds &= check(set(load.statuses) <= {200, 503} and not load.faults, f"no error but 503 {load.faults[:3]}")
    holds &= check(answered > 0 and not wrong, f"every answer is that of the request alone {wrong[:3]}")
    holds &= check(max(memory[third:]) <= 1.02 * max(memory[:third + 1]) + 2, "memory does not grow")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
