import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { boundsHere, memoryHere } from './bounds.ts';

/** A directory stands for the hierarchy: what is written where is what is looked at. */
const MAKE = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
import cgroups
bounds = {"memoryBytes": 1024, "processes": 7}
limits = {"v1": [*cgroups.limits_v1(bounds)["memory"], *cgroups.limits_v1(bounds)["pids"]], "v2": cgroups.limits_v2(bounds)}
said = {}
for name, wanted in limits.items():
    bound = cgroups.make_bound(sys.argv[2], "portcullis-" + name, wanted)
    cgroups.make_delegated(bound, os.getuid(), os.getgid(), ())
    said[name] = {file: open(f"{bound}/{file}").read() for file in sorted(os.listdir(bound)) if os.path.isfile(f"{bound}/{file}")}
    said[name]["below"] = sorted(os.listdir(f"{bound}/delegated"))
    parent = os.open(sys.argv[2], os.O_RDONLY)
    os.makedirs(f"{bound}/delegated/run-1/deeper")
    for file in said[name]:
        if file != "below": os.unlink(f"{bound}/{file}")
    said[name]["removed"] = cgroups.remove_tree("portcullis-" + name, parent)
print(json.dumps(said))
`;

const GIB = 1024 ** 3;
let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'portcullis-cgroups-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('[inv-19] the bound of a workspace lies above what is delegated to it, in either hierarchy', () => {
  const args = ['-E', '-s', '-S', '-B', '-c', MAKE, import.meta.dirname, root];
  const below = { below: ['inside'], removed: true };
  expect(JSON.parse(execFileSync('python3', args, { encoding: 'utf8' }))).toEqual({
    v1: { 'memory.limit_in_bytes': '1024', 'pids.max': '7', ...below },
    v2: { 'memory.max': '1024', 'pids.max': '7', ...below },
  });
});

test('[inv-19] a part of the memory is never a workspace’s', () => {
  expect(boundsHere({ memoryBytes: 1024, processes: 1 })).toEqual({ memoryBytes: 1024, processes: 1 });
  expect(boundsHere({ memoryBytes: 2 * totalmem(), processes: 1 }).memoryBytes).toBeLessThan(0.8 * totalmem());
  expect(boundsHere({ memoryBytes: 12 * GIB, processes: 1 }, memoryHere(64 * GIB, 8 * GIB)).memoryBytes).toBe(6 * GIB);
});

test.each([
  ['what its container has', 8 * GIB, 8 * GIB],
  ['what the machine has, in no container', 0, 64 * GIB],
  ['what the machine has, in a container without a limit', 2 ** 64, 64 * GIB],
])('[inv-19] the memory that is there is %s', (_, constrained, expected) => {
  expect(memoryHere(64 * GIB, constrained)).toBe(expected);
});
