"""What hostile code would try from inside the sandbox. Prints one line of JSON for each attempt: its name and what came of it."""

import ctypes
import errno
import json
import os
import socket
import stat
import sys
import time

GIVEN = json.load(open("given.json", encoding="utf-8"))
LIBC = ctypes.CDLL(None, use_errno=True)


def attempt(name, act):
    try:
        came = act()
    except OSError as error:
        came = errno.errorcode.get(error.errno, str(error))
    print(json.dumps({"name": name, "came": came}), flush=True)


def call(function, *arguments):
    if function(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return "done"


def syscall(*arguments):
    return call(LIBC.syscall, *arguments)


def connect(family, address):
    def act():
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.settimeout(2)
            one.connect(address)
            return "connected"

    return act


def read(path):
    def act():
        with open(path, "rb") as file:
            return file.read(64).decode("latin1")

    return act


def write(path):
    def act():
        with open(path, "wb") as file:
            file.write(b"x")
        return "written"

    return act


def through_link(target):
    def act():
        if os.path.lexists("/work/link"):
            os.unlink("/work/link")
        os.symlink(target, "/work/link")
        return read("/work/link")()

    return act


def hard_link(source):
    def act():
        os.link(source, "/work/hard")
        return "linked"

    return act


def descriptors():
    """Every open file of every process that can be seen, but for the one that lists them."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for name in os.listdir(f"/proc/{pid}/fd"):
                try:
                    found.add(os.readlink(f"/proc/{pid}/fd/{name}").split(":")[0])
                except FileNotFoundError:
                    pass
        except PermissionError:
            pass
    return sorted(one for one in found if not one.startswith(("/proc", "/work/")))


def environments():
    found = b""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found += file.read()
        except OSError:
            pass
    return sorted({part.split(b"=")[0].decode() for part in found.split(b"\0") if part})


def processes():
    return len([name for name in os.listdir("/proc") if name.isdigit()])


def setuid_program():
    """Whether a set-uid program of the system, or one of our own, changes who we are."""
    for path in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd"):
        if os.path.exists(path) and os.stat(path).st_mode & stat.S_ISUID:
            break
    nosuid = all(os.statvfs(place).f_flag & os.ST_NOSUID for place in ("/usr", "/work", "/tmp"))
    with open("/proc/self/status", encoding="utf-8") as file:
        no_new = "NoNewPrivs:\t1" in file.read()
    return {"nosuid": bool(nosuid), "no_new_privileges": no_new}


def devices():
    found = []
    for directory, _, names in os.walk("/dev"):
        for name in names:
            path = f"{directory}/{name}"
            mode = os.lstat(path).st_mode
            if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
                found.append(path)
    return sorted(found)


def kill_the_first():
    try:
        os.kill(1, 9)
    except PermissionError:
        pass
    time.sleep(0.1)
    return "still here"


def zombies():
    """Orphans that ended: the first process must have reaped them."""
    for _ in range(40):
        child = os.fork()
        if child == 0:
            if os.fork() == 0:
                os._exit(0)
            os._exit(0)
        os.waitpid(child, 0)
    for _ in range(100):
        left = [pid for pid in filter(str.isdigit, os.listdir("/proc")) if state(pid) == "Z"]
        if not left:
            return 0
        time.sleep(0.02)
    return len(left)


def state(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def fill(path):
    def act():
        try:
            with open(path, "wb") as file:
                for _ in range(64):
                    file.write(b"x" * 1_000_000)
            return "filled"
        finally:
            if os.path.exists(path):
                os.unlink(path)

    return act


def swap_directory():
    """After the run the executor reads artifacts: what it finds where a directory was is a link."""
    os.mkdir("/work/out")
    os.rmdir("/work/out")
    os.symlink("/etc", "/work/out")
    return "swapped"


def foreign_socket(family, kind, protocol=0):
    def act():
        socket.socket(family, kind, protocol).close()
        return "opened"

    return act


def fake_input():
    with open("/dev/tty", "wb") as terminal:
        return call(LIBC.ioctl, terminal.fileno(), 0x5412, ctypes.c_char_p(b"x"))


def own_terminal_input():
    master, slave = os.openpty()
    return call(LIBC.ioctl, slave, 0x5412, ctypes.c_char_p(b"x"))


KEYCTL = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}.get(os.uname().machine)
SETNS = {"x86_64": 308, "aarch64": 268}.get(os.uname().machine)
PTRACE_ATTACH = 16

attempt("loopback of the machine", connect(socket.AF_INET, ("127.0.0.1", GIVEN["port"])))
attempt("abstract socket of the machine", connect(socket.AF_UNIX, "\0" + GIVEN["abstract"]))
attempt("socket of the gateway", connect(socket.AF_UNIX, "/run/gateway/gateway.sock"))
attempt("socket of the gateway by its path outside", connect(socket.AF_UNIX, GIVEN["socket"]))
attempt("interfaces", lambda: [name for _, name in socket.if_nameindex()])
attempt("raw socket", foreign_socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("packet socket", foreign_socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("socket to the hypervisor", foreign_socket(socket.AF_VSOCK, socket.SOCK_STREAM))

attempt("processes", processes)
attempt("signal to the executor", lambda: os.kill(GIVEN["executor"], 0) or "sent")
attempt("signal to the first process", kill_the_first)
attempt("trace of the executor", lambda: call(LIBC.ptrace, PTRACE_ATTACH, GIVEN["executor"], None, None))
attempt("shared memory of System V", lambda: len(open("/proc/sysvipc/shm", encoding="utf-8").readlines()) - 1)
attempt("shared memory of POSIX", lambda: os.listdir("/dev/shm"))
if KEYCTL is not None:
    attempt("keys", lambda: syscall(KEYCTL[1], b"user", GIVEN["key"].encode(), None, 0))
    attempt("key rings", lambda: syscall(KEYCTL[2], 0, -3, 0))

for path in GIVEN["secrets"]:
    attempt(f"read {path}", read(path))
    attempt(f"read {path} through a link", through_link(path))
    attempt(f"read {path} through /proc", read(f"/proc/self/root{path}"))
    attempt(f"read {path} through the first process", read(f"/proc/1/root{path}"))
attempt("hard link to a program", hard_link("/usr/bin/env"))
attempt("open files", descriptors)
attempt("environments", environments)
attempt("swap", swap_directory)

attempt("devices", devices)
attempt("device of one's own", lambda: os.mknod("/work/mem", 0o600 | stat.S_IFCHR, os.makedev(1, 1)) or "made")
attempt("set-uid", setuid_program)
attempt("terminal", fake_input)
attempt("terminal of one's own", own_terminal_input)

for name, flag in (("user", 0x10000000), ("mount", 0x20000), ("pid", 0x20000000), ("net", 0x40000000), ("cgroup", 0x2000000)):
    attempt(f"namespace {name}", lambda flag=flag: call(LIBC.unshare, flag))
if SETNS is not None:
    attempt("namespace of the first process", lambda: syscall(SETNS, os.open("/proc/1/ns/mnt", os.O_RDONLY), 0))
attempt("mount", lambda: call(LIBC.mount, b"none", b"/tmp", b"tmpfs", 0, None))
attempt("unmount", lambda: call(LIBC.umount2, b"/tmp", 2))
attempt("writable again", lambda: call(LIBC.mount, None, b"/usr", None, 32 | 4096, None))
attempt("change of root", lambda: os.chroot("/work") or "changed")

for path in GIVEN["closed"]:
    attempt(f"write {path}", write(path))
attempt("fill /tmp", fill("/tmp/x"))
attempt("fill /dev/shm", fill("/dev/shm/x"))
attempt("fill /home/run", fill("/home/run/x"))
attempt("zombies", zombies)
sys.exit(0)
