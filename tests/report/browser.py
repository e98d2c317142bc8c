"""Controls Chromium without a window through the DevTools protocol on a pipe, so that only the browser must be
installed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]


class Browser:
    """One page in one browser process of its own."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="tacho-browser-")
        program = os.environ.get("TACHO_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            raise FileNotFoundError(
                "chromium is not on the path: apt-get install chromium, or name it in TACHO_CHROMIUM"
            )
        commands_read, self.commands = os.pipe()
        self.replies, replies_write = os.pipe()

        def pipes():
            # The browser reads descriptor 3 and writes descriptor 4, which our ends may be, so they first move to high
            # numbers.
            high = [os.dup2(end, fd, inheritable=True) for end, fd in ((commands_read, 60), (replies_write, 61))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        # The files in its temporary folder go with its profile.
        environment = {**os.environ, "TMPDIR": self.profile}
        self.process = subprocess.Popen(
            command, preexec_fn=pipes, close_fds=False, stderr=subprocess.DEVNULL, env=environment
        )
        os.close(commands_read)
        os.close(replies_write)
        self.unread = b""
        self.serial = 0
        self.session = None
        self.events = []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        # Without a window, the page would never get the focus.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=600)
        os.close(self.commands)
        os.close(self.replies)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **params):
        """Calls a method of the protocol and returns its result; events that come before it are kept."""
        self.serial += 1
        message = {"id": self.serial, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self.serial:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _receive(self):
        while b"\0" not in self.unread:
            piece = os.read(self.replies, 1 << 20)
            assert piece, f"the browser ended with {self.process.poll()}"
            self.unread += piece
        line, self.unread = self.unread.split(b"\0", 1)
        return json.loads(line)

    def open(self, path, width=1280, height=900, dark=False, media="", fragment=""):
        """Opens a file at a size and waits until it has drawn. `fragment` is the rest of its address: #node=..."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        # Another fragment alone would not load the page again.
        rest = f"?{self.serial}{fragment}" if fragment else ""
        self.visit(f"file://{os.path.abspath(path)}{rest}")

    def visit(self, address):
        """Opens an address and waits until it has drawn."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())
        # Drawings are made when their size is known, which takes two frames after loading.
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def evaluate(self, expression):
        """Evaluates an expression in the page, and waits for the result of a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait_for(self, condition):
        """Waits until a condition holds in the page; it fails if that takes a minute."""
        late = f"setTimeout(() => failed(new Error({json.dumps(condition)})), 60000)"
        look = f"const look = () => ({condition}) ? done(1) : setTimeout(look, 20); look();"
        self.evaluate(f"new Promise((done, failed) => {{ {late}; {look} }})")

    def complaints(self):
        """What the page wrote to the console, exceptions, and violations of its policy."""
        wanted = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event["params"] for event in self.events if event.get("method") in wanted]

    def requests(self):
        """Addresses that the page requested."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def key(self, name, code):
        """Presses a key."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)

    def move(self, x, y):
        """Moves the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        """Clicks at a place of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path):
        """The whole page as PNG."""
        image = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
