import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { serverArguments } from '../activities/store/server-settings.ts';
import { addCommands } from '../cli/commands/index.ts';
import { createProgram } from '../cli/program.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../schemas/search-attributes.ts';
import { SETTINGS } from '../schemas/settings.ts';

const ROOT = join(import.meta.dirname, '..');

const service = z.looseObject({
  image: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  networks: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
});
const compose = z
  .looseObject({
    services: z.record(z.string(), service),
    networks: z.record(z.string(), z.unknown()),
    volumes: z.record(z.string(), z.unknown()),
  })
  .parse(parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }));
const { services } = compose;
const ours = Object.entries(services).filter(([, { image }]) => image === 'portcullis:local');

test('the store runs with the settings that keep what it acknowledges', () => {
  const wanted = serverArguments({
    port: 6379,
    directory: '/data',
    aclFile: '/keys/store.acl',
    maxMemoryBytes: 512 * 1024 * 1024,
  });
  // In a container the network says who reaches it, so it listens on every address.
  expect(services['store']?.command).toEqual(['valkey-server', ...wanted.slice(2)]);
});

test('every search attribute is registered', () => {
  const script = services['temporal-namespace']?.command?.join('\n') ?? '';
  const [, names = ''] = /for name in ([\w ]+);/.exec(script) ?? [];
  expect(names.split(' ')).toEqual(SEARCH_ATTRIBUTE_NAMES);
});

test('every variable of our parts is a setting', () => {
  const known: readonly string[] = Object.values(SETTINGS).map(({ env }) => env);
  const used = ours.flatMap(([, { environment }]) => Object.keys(environment ?? {}));
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
});

test('every command of our parts is one, with flags that it has', () => {
  for (const [name, { command = [] }] of ours) {
    const program = createProgram();
    addCommands(program);
    const [noun = '', verb = ''] = command;
    const found = program.commands.find((one) => one.name() === noun)?.commands.find((one) => one.name() === verb);
    expect(found, `${name}: ${noun} ${verb}`).toBeDefined();
    const flags = [...(found?.options ?? []), ...program.options].map(({ long }) => long);
    expect(
      command.filter((word) => word.startsWith('--') && !flags.includes(word)),
      name,
    ).toEqual([]);
  }
});

test('what is used is declared, and only loopback is published', () => {
  for (const [name, { networks = [], volumes = [], ports = [], depends_on: needs = {} }] of Object.entries(services)) {
    expect(
      networks.filter((network) => !(network in compose.networks)),
      name,
    ).toEqual([]);
    expect(
      volumes.filter((volume) => !((volume.split(':')[0] ?? '') in compose.volumes)),
      name,
    ).toEqual([]);
    expect(
      ports.filter((port) => !port.startsWith('127.0.0.1:')),
      name,
    ).toEqual([]);
    expect(
      Object.keys(needs).filter((other) => !(other in services)),
      name,
    ).toEqual([]);
  }
});

test('[inv-15] each part is given its own keys and no other part’s', () => {
  for (const [name, { volumes = [] }] of ours) {
    if (name === 'keys') continue;
    const keys = volumes.filter((volume) => volume.startsWith('keys-')).map((volume) => volume.split(':')[0]);
    expect(keys, name).toEqual([`keys-${name}`]);
  }
});

test('the image makes every directory that a volume is mounted on', () => {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const mounts = ours.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[1] ?? ''));
  for (const mount of new Set(mounts)) expect(dockerfile, mount).toMatch(new RegExp(`${mount}(?:\\s|$)`));
});
