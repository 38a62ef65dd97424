/**
 * A filter of system calls for the sandbox, as bubblewrap takes it. It closes what no namespace does: sockets of families that
 * know no network namespace (a hypervisor's, for one), the kernel's keys, which are inherited like open files, and what has
 * the kernel do unfiltered work for a process.
 *
 * https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html
 */

interface SystemCalls {
  /** `AUDIT_ARCH_*` of the kernel. */
  readonly architecture: number;
  readonly socket: readonly number[];
  readonly ioctl: number;
  readonly refused: readonly number[];
  /** Numbers from here on are of another calling convention; `null` where there is none. */
  readonly foreignFrom: number | null;
}

/** io_uring_setup, _enter, _register: the same on every architecture. A ring opens sockets that no filter sees. */
const RINGS = [425, 426, 427] as const;

/** Refused: add_key, request_key, keyctl, bpf, perf_event_open, userfaultfd, and rings. */
const SYSTEM_CALLS: Readonly<Partial<Record<NodeJS.Architecture, SystemCalls>>> = {
  x64: {
    architecture: 0xc000003e,
    socket: [41, 53],
    ioctl: 16,
    refused: [248, 249, 250, 321, 298, 323, ...RINGS],
    foreignFrom: 0x40000000,
  },
  arm64: {
    architecture: 0xc00000b7,
    socket: [198, 199],
    ioctl: 29,
    refused: [217, 218, 219, 280, 241, 282, ...RINGS],
    foreignFrom: null,
  },
};

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: each ends where the network namespace does. */
const FAMILIES = [1, 2, 10, 16] as const;
/** TIOCSTI and TIOCLINUX type into a terminal. */
const TYPING = [0x5412, 0x541c] as const;

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Offsets in what the kernel shows a filter; of the arguments the lower half, which is all that these calls read. */
const AT_NUMBER = 0;
const AT_ARCHITECTURE = 4;
const AT_FIRST = 16;
const AT_SECOND = 24;

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const ANSWER = 0x06;
const ALLOW = 0x7fff0000;
const ERRNO = 0x00050000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** The filter's bytes; `null` for an architecture whose numbers are not known here. */
export function systemCallFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const calls = SYSTEM_CALLS[architecture];
  return calls === undefined ? null : assemble(programOf(calls));
}

function programOf({ architecture, socket, ioctl, refused, foreignFrom }: SystemCalls): readonly Instruction[] {
  const families = only(AT_FIRST, FAMILIES, EAFNOSUPPORT);
  const requests = [load(AT_SECOND), ...TYPING.flatMap((request) => when(request, [fail(EPERM)])), allow];
  return [
    load(AT_ARCHITECTURE),
    [IF_EQUAL, 1, 0, architecture],
    fail(ENOSYS),
    load(AT_NUMBER),
    ...(foreignFrom === null ? [] : ([[IF_AT_LEAST, 0, 1, foreignFrom], fail(ENOSYS)] satisfies Instruction[])),
    ...refused.flatMap((number) => when(number, [fail(ENOSYS)])),
    ...socket.flatMap((number) => when(number, families)),
    ...when(ioctl, requests),
    allow,
  ];
}

const allow: Instruction = [ANSWER, 0, 0, ALLOW];

function fail(errno: number): Instruction {
  return [ANSWER, 0, 0, ERRNO | errno];
}

function load(offset: number): Instruction {
  return [LOAD, 0, 0, offset];
}

/** A block for one value; it must end in an answer. */
function when(value: number, block: readonly Instruction[]): readonly Instruction[] {
  return [[IF_EQUAL, 0, block.length, value], ...block];
}

function only(offset: number, values: readonly number[], errno: number): readonly Instruction[] {
  return [load(offset), ...values.flatMap((value) => when(value, [allow])), fail(errno)];
}

/** `struct sock_filter` one after the other, in the machine's order: both architectures are little-endian. */
function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
