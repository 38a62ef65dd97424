"""The first process of a workspace: keeps its one program running, reaps, and ends with its lifeline."""

import json
import os
import select
import signal
import time

REFUSED = 7
GIVEN_UP = 71
STATUS = 3
LIFELINE = 0
CHANNEL = 3
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
# A program that ran this long was all right: the next pause is the first again.
STEADY = 60.0
MOST_STARTS = 30
STOP_SECONDS = 5.0


def report(event, **fields):
    line = json.dumps({"event": event, **fields}) + "\n"
    try:
        os.write(STATUS, line.encode())
    except OSError:
        # Nobody listens any more; the lifeline says so better.
        pass


class Program:
    """The one program of the workspace: started, and started again with growing pauses when it ends."""

    def __init__(self, specification, channel):
        self.channel = channel
        self.argv = specification["argv"]
        self.environment = specification["environment"]
        self.pid = None
        self.started = 0.0
        self.pause = FIRST_PAUSE
        self.due = 0.0
        self.starts = 0

    def start(self):
        self.starts += 1
        self.started = time.monotonic()
        # Held back meanwhile: a request to end that came between fork and exec would go to our handler and be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
                os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
                if self.channel is not None:
                    os.dup2(self.channel.fileno(), CHANNEL)
                os.closerange(3 if self.channel is None else CHANNEL + 1, 256)
                os.execve(self.argv[0], self.argv, self.environment)
            finally:
                os._exit(127)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        report("started", pid=self.pid)

    def ended(self, code):
        self.pid = None
        steady = time.monotonic() - self.started > STEADY
        self.pause = FIRST_PAUSE if steady else min(self.pause * 2, LONGEST_PAUSE)
        self.starts = 0 if steady else self.starts
        self.due = time.monotonic() + self.pause
        report("ended", code=code, pause=self.pause)


def reap(program):
    """Collects every child that has ended, orphans of the workspace included; the program's exit code when it is among them."""
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if pid == 0:
            return code
        if pid == program.pid:
            code = os.waitstatus_to_exitcode(status)
            program.ended(code)


def wait(wake, lifeline, seconds):
    """Waits for a child's end, the time, or the end of the workspace; true in the last case."""
    ready, _, _ = select.select([*lifeline, wake], [], [], max(seconds, 0.0))
    if wake in ready and signal.SIGTERM in os.read(wake, 4096):
        return True
    return LIFELINE in ready and os.read(LIFELINE, 4096) == b""


def stop(program, wake):
    if program.pid is None:
        return
    os.kill(program.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while program.pid is not None and time.monotonic() < deadline:
        ready, _, _ = select.select([wake], [], [], 0.2)
        if ready:
            os.read(wake, 4096)
        reap(program)


def supervise(specification, channel=None):
    """The first process of the workspace. When it returns, the kernel ends every other process in it."""
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    program = Program(specification, channel)
    # Whoever started a workspace that outlives them may be gone long before it.
    lifeline = [] if specification.get("outlives", False) else [LIFELINE]
    while True:
        if program.pid is None and time.monotonic() >= program.due:
            program.start()
        if wait(wake, lifeline, 60.0 if program.pid is not None else program.due - time.monotonic()):
            stop(program, wake)
            return 0
        if reap(program) == REFUSED:
            return REFUSED
        if program.pid is None and program.starts >= MOST_STARTS:
            return GIVEN_UP
