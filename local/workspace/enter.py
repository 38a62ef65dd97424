"""Makes the namespaces of one local workspace, enters them, gives up every right, and keeps its one program running.

Standard input carries the specification as one line of JSON and then stays open: its end is the end of the workspace.
Descriptor 3 takes one line of JSON for each thing that happens. Only the standard library is used, and no program is started
but the workspace's own, so that nothing but Python and a kernel with namespaces is needed.

Exit codes: 0 stopped, 7 the program said that its credential is refused, 70 the set-up failed, 71 the program ended too
often.
"""

import json
import os
import socket
import sys

import kernel
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


def first_process(specification, as_root):
    try:
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
        socket.sethostname(specification["name"])
        kernel.bring_up_loopback()
        kernel.enter_root(make_root(specification))
        kernel.give_up_rights(as_root, specification["uid"], specification["gid"])
    except OSError as error:
        report("failed", reason=str(error))
        return SETUP_FAILED
    report("entered")
    return supervise(specification)


def main():
    specification = read_specification()
    as_root = os.geteuid() == 0
    kernel.die_with_parent()
    os.set_inheritable(STATUS, False)
    try:
        kernel.unshare(as_root)
    except OSError as error:
        report("failed", reason=str(error))
        return SETUP_FAILED
    child = os.fork()
    if child == 0:
        os._exit(first_process(specification, as_root))
    report("forked", pid=child)
    # The lifeline is the first process's to watch; a copy here would change nothing, but one reader is clearer.
    os.close(LIFELINE)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1


if __name__ == "__main__":
    sys.exit(main())
