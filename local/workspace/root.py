"""Builds the root of a workspace out of binds, links and files; what is not named in the specification does not exist in it."""

import os

from kernel import (
    MS_BIND,
    MS_NOATIME,
    MS_NODEV,
    MS_NODIRATIME,
    MS_NOEXEC,
    MS_NOSUID,
    MS_RDONLY,
    MS_REC,
    MS_RELATIME,
    MS_REMOUNT,
    mount,
    write_text,
)


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
