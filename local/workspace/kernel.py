"""What the kernel is asked for, by its own names: namespaces, mounts, the loopback device, and giving up rights."""

import ctypes
import ctypes.util
import fcntl
import os
import platform
import signal
import socket
import struct

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

KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280}
KEYCTL_JOIN_SESSION_KEYRING = 1

SIOCGIFFLAGS = 0x8913
SIOCSIFFLAGS = 0x8914
IFF_UP = 1


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


def enter_root(root):
    os.chdir(root)
    checked(LIBC.syscall(PIVOT_ROOT[platform.machine()], b".", b"."), "pivot_root")
    # The old root now lies over the new one; with it goes every path of this machine that was not bound.
    checked(LIBC.umount2(b".", MNT_DETACH), "umount the old root")
    os.chdir("/")
    mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def forget_keys():
    """Begins with an empty session keyring: the launcher's may hold tickets and keys, and is inherited like an open file."""
    # Of no use, and then no danger either, where the kernel has no keys; so the answer is not looked at.
    LIBC.syscall(KEYCTL[platform.machine()], KEYCTL_JOIN_SESSION_KEYRING, None)


def offer_to_be_killed():
    """When the machine has no memory left, the kernel ends processes of a workspace before those of the stack.

    Every process inherits it, and one without rights cannot take it back from what one with rights has set."""
    try:
        write_text("/proc/self/oom_score_adj", "800")
    except OSError:
        # Not every container lets it be written; the bound on memory holds without it.
        pass


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
    die_with_parent()


def die_with_parent():
    checked(LIBC.prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL), 0, 0, 0), "parent-death signal")
