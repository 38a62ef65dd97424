"""Makes the namespaces of one local workspace, enters them, gives up every right, and keeps its one program running.

Standard input carries the specification as one line of JSON and then stays open: its end is the end of the workspace.
Descriptor 3 takes one line of JSON for each thing that happens. Only the standard library is used, and no program is started
but the workspace's own, so that nothing but Python and a kernel with namespaces is needed.

Exit codes: 0 stopped, 7 the program said that its credential is refused, 70 the set-up failed, 71 the program ended too
often.
"""

import ctypes
import ctypes.util
import fcntl
import json
import os
import platform
import select
import signal
import socket
import struct
import sys
import time

LIBC = ctypes.CDLL(ctypes.util.find_library("c") or "libc.so.6", use_errno=True)

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_NOATIME = 1024
MS_NODIRATIME = 2048
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MS_RELATIME = 1 << 21
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
CAPABILITY_VERSION_3 = 0x20080522

PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41, "ppc64le": 203, "s390x": 217}

SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 1

REFUSED = 7
SETUP_FAILED = 70
GIVEN_UP = 71
STATUS = 3
LIFELINE = 0
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
# A program that ran this long was all right: the next pause is the first again.
STEADY = 60.0
MOST_STARTS = 30
STOP_SECONDS = 5.0


def checked(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source, target, kind, flags, options=None):
    def encoded(text):
        return None if text is None else os.fsencode(text)

    checked(
        LIBC.mount(encoded(source), encoded(target), encoded(kind), ctypes.c_ulong(flags), encoded(options)),
        f"mount {target}",
    )


def report(event, **fields):
    line = json.dumps({"event": event, **fields}) + "\n"
    try:
        os.write(STATUS, line.encode())
    except OSError:
        # Nobody listens any more; the lifeline says so better.
        pass


def read_specification():
    text = b""
    while not text.endswith(b"\n"):
        part = os.read(LIFELINE, 65536)
        if part == b"":
            raise ValueError("the specification was cut off")
        text += part
    return json.loads(text)


def unshare(as_root):
    flags = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET
    if as_root:
        checked(LIBC.unshare(flags), "unshare")
        return
    uid, gid = os.getuid(), os.getgid()
    checked(LIBC.unshare(flags | CLONE_NEWUSER), "unshare")
    # Without this the kernel does not let an ordinary user map a group.
    write_text("/proc/self/setgroups", "deny")
    write_text("/proc/self/uid_map", f"{uid} {uid} 1")
    write_text("/proc/self/gid_map", f"{gid} {gid} 1")


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def bring_up_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(handle, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", flags | IFF_UP, b""))


def kept_flags(path):
    """Flags of the mount that a remount must repeat: in a user namespace the kernel refuses to drop them."""
    have = os.statvfs(path).f_flag
    kept = 0
    for mask, flag in (
        (os.ST_NOSUID, MS_NOSUID),
        (os.ST_NODEV, MS_NODEV),
        (os.ST_NOEXEC, MS_NOEXEC),
        (os.ST_NOATIME, MS_NOATIME),
        (os.ST_NODIRATIME, MS_NODIRATIME),
        (os.ST_RELATIME, MS_RELATIME),
    ):
        if have & mask:
            kept |= flag
    return kept


def bind(root, source, target, writable):
    place = root + target
    if os.path.isdir(source):
        os.makedirs(place, 0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), 0o755, exist_ok=True)
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    mount(source, place, None, MS_BIND | MS_REC)
    flags = kept_flags(place) | MS_NOSUID | (0 if writable else MS_RDONLY)
    mount(None, place, None, MS_REMOUNT | MS_BIND | flags)


def make_devices(root):
    os.makedirs(root + "/dev/shm", 0o755)
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        place = f"{root}/dev/{name}"
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
        mount(f"/dev/{name}", place, None, MS_BIND)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(target, f"{root}/dev/{name}")
    mount("tmpfs", root + "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m")


def make_root(specification):
    root = specification["root"]
    mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=16m")
    for link in specification["links"]:
        os.symlink(link["target"], root + link["path"])
    for entry in specification["binds"]:
        bind(root, entry["source"], entry["target"], entry["writable"])
    for path, text in specification["files"].items():
        os.makedirs(os.path.dirname(root + path), 0o755, exist_ok=True)
        write_text(root + path, text)
        os.chmod(root + path, 0o644)
    make_devices(root)
    os.makedirs(root + "/tmp", 0o755)
    mount("tmpfs", root + "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=1g")
    os.makedirs(root + "/proc", 0o755)
    # Of the new pid namespace, and with nothing hidden: a sandbox inside could not mount its own otherwise.
    mount("proc", root + "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    return root


def enter_root(root):
    os.chdir(root)
    checked(LIBC.syscall(PIVOT_ROOT[platform.machine()], b".", b"."), "pivot_root")
    # The old root now lies over the new one; with it goes every path of this machine that was not bound.
    checked(LIBC.umount2(b".", MNT_DETACH), "umount the old root")
    os.chdir("/")
    mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def give_up_rights(as_root, uid, gid):
    for capability in range(64):
        LIBC.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    if as_root:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    header = struct.pack("II", CAPABILITY_VERSION_3, 0)
    checked(LIBC.capset(header, bytes(24)), "capset")
    checked(LIBC.prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0), "no_new_privs")
    # After the change of user, which clears it.
    checked(LIBC.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0), "parent-death signal")


class Program:
    """The one program of the workspace: started, and started again with growing pauses when it ends."""

    def __init__(self, specification):
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
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
                os.closerange(3, 256)
                os.execve(self.argv[0], self.argv, self.environment)
            finally:
                os._exit(127)
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


def wait(wake, seconds):
    """Waits for a child's end, the time, or the end of the lifeline; true in the last case."""
    ready, _, _ = select.select([LIFELINE, wake], [], [], max(seconds, 0.0))
    if wake in ready:
        os.read(wake, 4096)
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


def supervise(specification):
    """The first process of the workspace. When it returns, the kernel ends every other process in it."""
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    program = Program(specification)
    while True:
        if program.pid is None and time.monotonic() >= program.due:
            program.start()
        if wait(wake, 60.0 if program.pid is not None else program.due - time.monotonic()):
            stop(program, wake)
            return 0
        if reap(program) == REFUSED:
            return REFUSED
        if program.pid is None and program.starts >= MOST_STARTS:
            return GIVEN_UP


def first_process(specification, as_root):
    try:
        mount(None, "/", None, MS_REC | MS_PRIVATE)
        socket.sethostname(specification["name"])
        bring_up_loopback()
        enter_root(make_root(specification))
        give_up_rights(as_root, specification["uid"], specification["gid"])
    except OSError as error:
        report("failed", reason=str(error))
        return SETUP_FAILED
    report("entered")
    return supervise(specification)


def main():
    specification = read_specification()
    as_root = os.geteuid() == 0
    checked(LIBC.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0), "parent-death signal")
    os.set_inheritable(STATUS, False)
    try:
        unshare(as_root)
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
