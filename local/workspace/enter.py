"""Makes the namespaces of one local workspace, enters them, gives up every right, and keeps its one program running.

Standard input carries the specification as one line of JSON and then stays open: its end is the end of the workspace, and so
is the end of whoever started it. With "outlives" in the specification it is neither: SIGTERM to the first process ends it.
"record" names a file that is told the pids before anything else happens, "channel" a socket that is made before the
namespaces are and that the program inherits, listening, as descriptor 3.
Descriptor 3 of this program takes one line of JSON for each thing that happens. Only the standard library is used, and no program is started
but the workspace's own, so that nothing but Python and a kernel with namespaces is needed.

Exit codes: 0 stopped, 7 the program said that its credential is refused, 70 the set-up failed, 71 the program ended too
often.
"""

import json
import os
import socket
import sys

import kernel
from cgroups import delegate
from root import make_root
from supervise import LIFELINE, STATUS, report, supervise

SETUP_FAILED = 70


def read_specification():
    text = b""
    while not text.endswith(b"\n"):
        part = os.read(LIFELINE, 65536)
        if part == b"":
            raise ValueError("the specification was cut off")
        text += part
    return json.loads(text)


class Record:
    """The pids of a workspace in a file out here, each with its start time: the two name one process for ever."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        # Held open: the first process changes the root of this one too, and then /proc is another.
        self.proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            self.boot = file.read().strip()

    def write(self, *pids):
        os.pwrite(self.file, json.dumps([{"pid": pid, "started": self.start_time(pid)} for pid in pids]).encode(), 0)

    def start_time(self, pid):
        with open(os.open(f"{pid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.proc), encoding="utf-8") as file:
            return f"{self.boot}:{file.read().rpartition(')')[2].split()[19]}"


def open_channel(path):
    """A listening socket with a name out here only."""
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    channel.bind(path)
    channel.listen(16)
    return channel


def first_process(specification, as_root, channel, delegation):
    try:
        delegation.join()
        kernel.offer_to_be_killed()
        kernel.forget_keys()
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        socket.sethostname(specification["name"])
        kernel.bring_up_loopback()
        specification["binds"] += delegation.binds
        kernel.enter_root(make_root(specification))
        kernel.give_up_rights(as_root, specification["uid"], specification["gid"])
    except OSError as error:
        report("failed", reason=str(error))
        return SETUP_FAILED
    report("entered")
    return supervise(specification, channel)


def main():
    specification = read_specification()
    as_root = os.geteuid() == 0
    os.set_inheritable(STATUS, False)
    record = None
    try:
        if "record" in specification:
            record = Record(specification["record"])
            record.write(os.getpid())
        if not specification.get("outlives", False):
            kernel.die_with_parent()
        channel = open_channel(specification["channel"]) if "channel" in specification else None
        owner = specification["uid"], specification["gid"]
        delegation, reason = delegate(specification["name"], *owner, specification["bounds"])
        report("cgroups", delegated=reason == "", reason=reason)
        kernel.unshare(as_root)
    except OSError as error:
        report("failed", reason=str(error))
        return SETUP_FAILED
    child = os.fork()
    if child == 0:
        os._exit(first_process(specification, as_root, channel, delegation))
    if record is not None:
        record.write(os.getpid(), child)
    report("forked", pid=child)
    # The lifeline is the first process's to watch; a copy here would change nothing, but one reader is clearer.
    os.close(LIFELINE)
    _, status = os.waitpid(child, 0)
    delegation.remove()
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


if __name__ == "__main__":
    sys.exit(main())
