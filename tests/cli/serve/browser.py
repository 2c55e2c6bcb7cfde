"""A headless Chromium, driven over the pipe of its DevTools protocol."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_SECONDS = 60


def program():
    """The path of Chromium; None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One page. `problems`: what its console shows as errors, and exceptions that nobody has caught."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tessera-browser-", ignore_cleanup_errors=True)
        ours_in, theirs_out = os.pipe()
        theirs_in, self.orders = os.pipe()
        self.answers = ours_in
        # Chromium reads orders from descriptor 3 and answers at 4.
        command = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["sh", "-c", command, program(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", f"--user-data-dir={self.folder.name}",
             "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.held, self.number, self.session, self.problems = b"", 0, None, []
        while not (target := self.first_page()):
            time.sleep(0.05)
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def first_page(self):
        """The window that it opens by itself, once it is there."""
        targets = self.call("Target.getTargets")["targetInfos"]
        return next((target["targetId"] for target in targets if target["type"] == "page"), None)

    def receive(self):
        while b"\0" not in self.held:
            if not select.select([self.answers], [], [], PATIENCE_SECONDS)[0]:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise EOFError("Chromium has ended")
            self.held += part
        message, self.held = self.held.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        order = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.orders, json.dumps(order).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            entry = message.get("params", {}).get("entry", {})
            if message["method"] == "Log.entryAdded" and entry["level"] == "error":
                self.problems.append(f"{entry['text']} {entry.get('url', '')}")
            if message["method"] == "Runtime.exceptionThrown":
                self.problems.append(json.dumps(message["params"]["exceptionDetails"]))

    def value(self, expression):
        """Of an expression of JavaScript, or of its promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression):
        """Until the expression is true."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not (value := self.value(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {PATIENCE_SECONDS} s: {expression}")
            time.sleep(0.05)
        return value

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("location.href !== 'about:blank' && document.readyState === 'complete'")

    def type(self, selector, text):
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)

    def press_enter(self):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13,
                      text="\r" if kind == "keyDown" else "")

    def click(self, selector):
        self.value(f"document.querySelector({json.dumps(selector)}).click()")

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
