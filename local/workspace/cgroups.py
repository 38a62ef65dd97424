"""Bounds what one workspace uses as a whole, and delegates a cgroup below that bound to it, so that its executor can limit what
a run's processes use together.

The bound is on a directory of its own, of which a workspace sees nothing but the one below: whoever lives there may own that,
and even be whoever launched it. Both hierarchies are known: v1 with its memory and pids controllers, and v2. Where neither may
be written, a workspace does without, and its executor says so. Run as a program, it tries once and says in one line of JSON
what came of it.
"""

import json
import os
import sys
import time

PREFIX = "portcullis-"
# Below the bound, what is delegated; in that, the workspace's own processes. They hold the place: one without any process is
# left over and may be removed.
DELEGATED = "delegated"
INSIDE = "inside"
CONTROLLERS = ("memory", "pids")
TARGET = "/run/cgroup"
REMOVE_SECONDS = 2.0
# So long a launcher may take from making its place to being in it.
JOIN_SECONDS = 60.0


class Delegation:
    """One directory for each hierarchy. Kept by descriptors: after the change of root there is no path to them."""

    def __init__(self):
        self.binds = []
        self.places = []
        self.parents = []

    def add(self, parent, name, target):
        self.parents.append((os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), name))
        self.places.append(f"{parent}/{name}/{DELEGATED}")
        self.binds.append({"source": f"{parent}/{name}/{DELEGATED}", "target": target, "writable": True})

    def join(self):
        """Puts this process, and what it starts, into the workspace's part."""
        for place in self.places:
            write(f"{place}/{INSIDE}/cgroup.procs", "0")

    def remove(self):
        """Call it when every process of the workspace is gone; the kernel takes a moment to notice."""
        deadline = time.monotonic() + REMOVE_SECONDS
        for parent, name in self.parents:
            while not remove_tree(name, parent) and time.monotonic() < deadline:
                time.sleep(0.02)
            os.close(parent)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def remove_tree(name, parent):
    """True when it is gone."""
    try:
        directory = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
    except FileNotFoundError:
        return True
    try:
        below = [entry.name for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False)]
        if not all([remove_tree(entry, directory) for entry in below]):
            return False
        os.rmdir(name, dir_fd=parent)
        return True
    except (OSError, RecursionError):
        # Whoever owned it may have made it deeper than this goes: then it stays, and is in nobody's way.
        return False
    finally:
        os.close(directory)


def remove_left(parent):
    """Removes what launchers left that were killed: places in which no process is any more."""
    directory = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in os.listdir(directory):
            if not name.startswith(PREFIX):
                continue
            try:
                # A place that was just made has no process yet: whoever made it is about to join.
                if time.time() - os.stat(f"{parent}/{name}").st_mtime < JOIN_SECONDS:
                    continue
                if not has_processes(f"{parent}/{name}"):
                    remove_tree(name, directory)
            except (OSError, RecursionError):
                continue
    finally:
        os.close(directory)


def has_processes(place):
    for path, _, _ in os.walk(place):
        with open(f"{path}/cgroup.procs", encoding="ascii") as file:
            if file.read() != "":
                return True
    return False


def mounts(kind):
    """(mount point, root of the mount, options) of every mounted hierarchy of this kind."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            left, _, right = line.partition(" - ")
            fields, more = left.split(" "), right.split(" ")
            if more[0] == kind:
                yield fields[4], fields[3], more[2].strip().split(",")


def own_path(controller):
    """Where this process is in a hierarchy: of a v1 controller, or of v2 for the empty name."""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file:
            _, names, path = line.rstrip("\n").split(":", 2)
            if controller in names.split(","):
                return path
    raise OSError(f"no cgroup of {controller or 'v2'}")


def directory_of(point, root, path):
    """Where a path of the hierarchy is below its mount."""
    below = path[len(root) :] if root != "/" and path.startswith(root) else path
    return (point + "/" + below.strip("/")).rstrip("/")


def make_bound(parent, name, limits):
    """The directory that holds the limits, with nothing below it yet. Not every kernel has a file for each of them."""
    remove_left(parent)
    place = f"{parent}/{name}"
    os.mkdir(place, 0o755)
    for file, value, always in limits:
        if always or os.path.exists(f"{place}/{file}"):
            write(f"{place}/{file}", str(value))
    return place


def make_delegated(bound, uid, gid, owned):
    place = f"{bound}/{DELEGATED}"
    os.mkdir(place, 0o755)
    os.mkdir(f"{place}/{INSIDE}", 0o755)
    for path in (place, *(f"{place}/{file}" for file in owned)):
        os.chown(path, uid, gid)


def limits_v1(bounds):
    """By controller: file, value, and whether it has to be there. What does not fit in memory must not go to swap instead."""
    memory = bounds["memoryBytes"]
    return {
        "memory": (
            # Below it, or each cgroup there would count for itself; newer kernels know nothing else.
            ("memory.use_hierarchy", 1, False),
            ("memory.limit_in_bytes", memory, True),
            ("memory.memsw.limit_in_bytes", memory, False),
        ),
        "pids": (("pids.max", bounds["processes"], True),),
    }


def limits_v2(bounds):
    return (
        ("memory.max", bounds["memoryBytes"], True),
        ("memory.swap.max", 0, False),
        ("pids.max", bounds["processes"], True),
    )


def delegate_v1(delegation, name, uid, gid, bounds):
    found = {}
    for point, root, options in mounts("cgroup"):
        for controller in CONTROLLERS:
            if controller in options:
                found[controller] = directory_of(point, root, own_path(controller))
    if len(found) < len(CONTROLLERS):
        raise OSError("the memory and pids controllers are not mounted as v1")
    for controller, parent in found.items():
        delegation.add(parent, name, f"{TARGET}/{controller}")
        make_delegated(make_bound(parent, name, limits_v1(bounds)[controller]), uid, gid, ())


def delegate_v2(delegation, name, uid, gid, bounds):
    for point, root, _ in mounts("cgroup2"):
        # Only the root of the hierarchy may have processes beside children with controllers.
        for parent in dict.fromkeys((directory_of(point, root, own_path("")), point)):
            try:
                enable(parent)
                delegation.add(parent, name, f"{TARGET}/unified")
                bound = make_bound(parent, name, limits_v2(bounds))
                enable(bound)
                make_delegated(bound, uid, gid, ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads"))
                enable(f"{bound}/{DELEGATED}")
                return
            except OSError:
                delegation.remove()
                delegation.__init__()
    raise OSError("no v2 hierarchy may be written")


def enable(directory):
    with open(f"{directory}/cgroup.controllers", encoding="ascii") as file:
        if not set(CONTROLLERS) <= set(file.read().split()):
            raise OSError(f"{directory} has no memory and pids controllers")
    with open(f"{directory}/cgroup.subtree_control", encoding="ascii") as file:
        if set(CONTROLLERS) <= set(file.read().split()):
            return
    write(f"{directory}/cgroup.subtree_control", " ".join(f"+{controller}" for controller in CONTROLLERS))


def delegate(name, uid, gid, bounds):
    """A delegation within the bounds (memoryBytes, processes), empty where there is none to be had; and why."""
    reasons = []
    for attempt in (delegate_v1, delegate_v2):
        delegation = Delegation()
        try:
            attempt(delegation, f"{PREFIX}{name}-{os.getpid()}", uid, gid, bounds)
            return delegation, ""
        except OSError as error:
            delegation.remove()
            reasons.append(str(error))
    return Delegation(), "; ".join(reasons)


if __name__ == "__main__":
    TRIED, REASON = delegate("trial", os.getuid(), os.getgid(), {"memoryBytes": 64 << 20, "processes": 64})
    VERSION = 2 if any(bind["target"].endswith("/unified") for bind in TRIED.binds) else 1
    json.dump({"version": VERSION if TRIED.binds else None, "reason": REASON}, sys.stdout)
    TRIED.remove()
