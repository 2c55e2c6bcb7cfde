"""Malformed requests to `tessera serve`: python3 bench/serve/malformed.py MODEL [--count 100000]

Heads and bodies that are damaged: bytes changed, left out, repeated, swapped between requests, ends cut off, sizes that are
wrong. Each must get an answer with status 2xx (some stay right), 100 (some ask for it), 4xx, 501 or 503, or a closed
connection, within the time of a request; the server must live on with the memory that it had. Standard library alone.
"""

import argparse
import collections
import json
import random
import socket
import sys
import threading

from load import ROOT, Server, check, is_idle

BODIES = [
    {"prompt": "a b", "max_tokens": 1, "logprobs": 2, "echo": True, "stop": ["x"], "logit_bias": {"1": 2}, "seed": -1},
    {"prompt": [[1, 2], [3]], "max_tokens": 1, "stream": True, "stream_options": {"include_usage": True}},
    {"messages": [{"role": "user", "content": "a"}], "max_tokens": 1, "top_logprobs": 2, "logprobs": True},
    {"input": ["a", "b"], "encoding_format": "base64"},
]
PATHS = ["/v1/completions", "/v1/completions", "/v1/chat/completions", "/v1/embeddings"]
PIECES = [b"\x00", b"\xff", b"{", b"}", b"[", b"\"", b"\\u", b"1e999", b"-", b"\r\n", b":", b"Transfer-Encoding: chunked\r\n",
          b"Content-Length: 99999999999999999999\r\n", b"Expect: 100-continue\r\n", b"[" * 2000, b"a" * 20000]


def damaged(data, draw):
    data = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5])):
        place = draw.randrange(len(data) + 1)
        what = draw.randrange(5)
        if what == 0 and data:
            data[place % len(data)] = draw.randrange(256)
        elif what == 1:
            del data[place : place + draw.randrange(1, 30)]
        elif what == 2:
            data[place:place] = draw.choice(PIECES)
        elif what == 3:
            data[place:place] = data[draw.randrange(len(data) + 1) :][: draw.randrange(1, 40)]
        else:
            del data[place:]
    return bytes(data)


def request(draw):
    kind = draw.randrange(len(BODIES))
    body = json.dumps(BODIES[kind]).encode()
    if draw.random() < 0.6:
        body = damaged(body, draw)
    length = len(body) if draw.random() < 0.9 else draw.choice([0, 1, len(body) + 1, -1])
    head = (f"POST {PATHS[kind]} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n"
            f"Content-Length: {length}\r\n\r\n").encode()
    return damaged(head, draw) + body if draw.random() < 0.5 else head + body


def ask(port, data):
    """The status; "closed" without an answer, "reset" within it. A server that waits for the rest of a request is told that
    there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        answer = b""
        try:
            connection.sendall(data)
            connection.settimeout(0.5)
            while True:
                try:
                    if not (piece := connection.recv(65536)):
                        break
                    answer += piece
                except TimeoutError:
                    connection.settimeout(120)
                    connection.shutdown(socket.SHUT_WR)
        except ConnectionError:
            return "closed" if not answer else "reset"
    return answer.split(b" ")[1].decode() if answer.startswith(b"HTTP/") else "closed" if not answer else "no HTTP"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="artefact, HuggingFace folder or GGUF file")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--serve", default="", help="options of `tessera serve`")
    parser.add_argument("--tessera", default=ROOT / "build" / "release" / "tessera")
    options = parser.parse_args()

    server = Server(options)
    seen, faults, memory = collections.Counter(), [], []
    lock = threading.Lock()

    def client(number):
        draw = random.Random(number)
        for i in range(options.count // options.clients):
            data = request(draw)
            try:
                status = ask(server.port, data)
            except OSError as fault:
                status = type(fault).__name__
            with lock:
                seen[status] += 1
                if not (status in ("closed", "reset", "100") or status[:1] in "24" or status in ("501", "503")):
                    faults.append((status, data[:300]))
            if number == 0 and i % 100 == 0:
                memory.append(server.memory())

    threads = [threading.Thread(target=client, args=[i]) for i in range(options.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{sum(seen.values())} requests: {dict(sorted(seen.items()))}")
    third = len(memory) // 3
    print(f"private memory: {max(memory[:third + 1]):.1f} MB at most in the first third, {max(memory[third:]):.1f} MB after it")
    holds = check(not faults, f"every request is answered as it should be, or closed {faults[:3]}")
    holds &= check(max(memory[third:]) <= 1.02 * max(memory[:third + 1]) + 2, "memory does not grow")
    holds &= check(is_idle(server), "nothing runs or waits, and no page is needed")
    holds &= check(server.stop() == 0, "the server ends with exit code 0")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
