#!/usr/bin/env python3
"""Records a session of the shell as an asciinema v2 file, which https://docs.asciinema.org plays:

    scripts/record.py OUT.cast --folder DIR [--path BIN] COMMAND..

Runs bash in a pseudo-terminal in DIR, with BIN first in PATH and an empty cache, and types the commands one after the other,
each when the prompt is there again. A command that ends with "|TEXT|.." is typed up to the first bar; each text follows when
the program asks for a line with "> ". Standard library alone.
"""

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time

PROMPT = "$ "
COLUMNS, LINES = 100, 28
QUESTION = "> "  # of a program


class Recorder:
    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.start = time.monotonic()
        self.events = []
        self.tail = ""

    def read(self, seconds):
        """What comes within this time; none at the end of the session."""
        if not select.select([self.descriptor], [], [], seconds)[0]:
            return ""
        try:
            data = os.read(self.descriptor, 65536)
        except OSError:
            return None
        text = data.decode(errors="replace")
        now = time.monotonic() - self.start
        # Pieces of one moment are one event, or a stream of tokens would be thousands.
        if self.events and now - self.events[-1][0] < 0.05:
            self.events[-1][2] += text
        else:
            self.events.append([round(now, 3), "o", text])
        self.tail = (self.tail + text)[-200:]
        return text

    def wait_for(self, prompt, seconds):
        end = time.monotonic() + seconds
        while not self.tail.endswith(prompt):
            if time.monotonic() > end:
                sys.exit(f"{prompt!r} did not come in time")
            if self.read(0.1) is None:
                sys.exit("the shell has ended")

    def type(self, text):
        for character in text:
            os.write(self.descriptor, character.encode())
            time.sleep(0.03)
            self.read(0)
        os.write(self.descriptor, b"\n")
        self.tail = ""
        self.read(0.2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    parser.add_argument("--folder", default=".")
    parser.add_argument("--path", help="folder of tessera")
    parser.add_argument("--limit", type=float, default=900, help="seconds that a command may take")
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="home-") as cache:
        environment = {"HOME": cache, "TERM": "xterm-256color", "PS1": PROMPT, "LANG": "C.UTF-8",
                       "PATH": os.pathsep.join(filter(None, [options.path and os.path.abspath(options.path), os.environ["PATH"]]))}
        child, descriptor = pty.fork()
        if child == 0:
            os.chdir(options.folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "--noediting"], environment)
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        recorder = Recorder(descriptor)
        recorder.wait_for(PROMPT, 10)
        for command in options.commands:
            line, *answers = command.split("|")
            recorder.type(line)
            for answer in answers:
                recorder.wait_for("\n" + QUESTION, options.limit)
                recorder.type(answer)
            recorder.wait_for(PROMPT, options.limit)
        os.kill(child, signal.SIGHUP)
        os.waitpid(child, 0)
    header = {"version": 2, "width": COLUMNS, "height": LINES, "idle_time_limit": 2,
              "title": "tessera: a first answer", "env": {"TERM": "xterm-256color", "SHELL": "/bin/bash"}}
    with open(options.out, "w", encoding="utf-8") as file:
        for entry in [header, *recorder.events]:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
