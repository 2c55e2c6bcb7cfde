"""Tokens per second of `tessera serve` beside llama-server: python3 bench/serve/throughput.py MODEL.gguf LLAMA_SERVER

The servers take turns on the same file, each started for its turn. Clients ask for completions of different prompts,
as fast as answers come. Prints the tokens of answers per second of each turn, and the ratio of the medians. Standard
library alone.
"""

import argparse
import http.client
import json
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS = "river stone cloud market winter engine garden letter silver travel history number summer forest island".split()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process):
    for _ in range(1200):
        if process.poll() is not None:
            raise SystemExit(f"the server ended with exit code {process.returncode}")
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit("the server did not get ready in two minutes")


def client(options, port, seed, ends, counts):
    """Asks until the time is over; answers that end later do not count."""
    rng = random.Random(seed)
    while time.monotonic() < ends:
        prompt = " ".join(rng.choice(WORDS) for _ in range(options.prompt))
        body = {"model": "m", "prompt": prompt, "max_tokens": options.tokens, "temperature": 0, "stream": False}
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
            connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = response.read()
        except OSError:
            continue  # the server ends
        if response.status == 503:
            time.sleep(0.05)
            continue
        if response.status != 200:
            raise SystemExit(f"status {response.status}: {answer[:300]}")
        if time.monotonic() < ends:
            counts.append(json.loads(answer)["usage"])


def turn(options, command):
    port = free_port()
    process = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        counts, begins = [], time.monotonic()
        threads = [
            threading.Thread(target=client, args=(options, port, seed, begins + options.seconds, counts))
            for seed in range(options.clients)
        ]
        for thread in threads:
            thread.start()
        time.sleep(options.seconds)
    finally:
        process.kill()  # clients still wait for answers
        process.wait()
    for thread in threads:
        thread.join()
    return (
        sum(usage["completion_tokens"] for usage in counts) / options.seconds,
        sum(usage["prompt_tokens"] for usage in counts) / options.seconds,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="GGUF file")
    parser.add_argument("llama_server", help="the program of llama.cpp")
    parser.add_argument("--tessera", default=str(ROOT / "build/release/tessera"))
    parser.add_argument("--seconds", type=int, default=30, help="of each turn")
    parser.add_argument("--repeat", type=int, default=3, help="turns of each")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=64, help="words of each prompt")
    parser.add_argument("--tokens", type=int, default=64, help="of each answer, at most")
    options = parser.parse_args()
    slots = str(options.clients)
    commands = {
        "tessera": [options.tessera, "serve", options.model, "--threads", str(options.threads)],
        "llama-server": [options.llama_server, "-m", options.model, "-t", str(options.threads), "-np", slots, "-c"]
        + [str(1024 * options.clients)],
    }
    rates = {name: [] for name in commands}
    for _ in range(options.repeat):
        for name, command in commands.items():
            answered, prompts = turn(options, command)
            rates[name].append(answered)
            print(f"{name:13} {answered:8.1f} tokens/s of answers, {prompts:8.1f} of prompts", flush=True)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    print(f"ratio of the medians {medians['tessera'] / medians['llama-server']:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
