/**
 * The digest of a record beside the nearest peer: `canonicalize` (RFC 8785) and `node:crypto`.
 *
 * The peer hashes natively and refuses nothing; ours checks the narrowed domain and hashes in JavaScript, since the same
 * code has to run in the workflow sandbox, which has no `node:crypto`.
 */
import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { canonicalBytes } from '../schemas/canonical.ts';
import { digestOf } from '../schemas/digest.ts';
import { compare } from './support/compare.ts';
import type { Bench, BenchReport } from './support/report.ts';

export const digestBench: Bench = {
  name: 'digest',
  about: 'digest of a 64 KiB manifest, beside canonicalize + node:crypto',
  run,
};

async function run(): Promise<BenchReport> {
  const manifest = manifestOf(64 * 1024);
  const bytes = canonicalBytes(manifest).length;
  const ours = digestOf('subject', manifest);
  const peer = peerDigest(manifest);
  if (ours !== peer) throw new Error(`the two digests differ: ${ours} and ${peer}`);
  return {
    comparisons: [
      await compare({
        name: `digest of ${bytes} canonical bytes`,
        ours: { name: 'portcullis', run: () => digestOf('subject', manifest) },
        peer: { name: 'canonicalize + node:crypto', run: () => peerDigest(manifest) },
        rounds: 400,
      }),
      await compare({
        name: `canonical bytes only`,
        ours: { name: 'portcullis', run: () => canonicalBytes(manifest) },
        peer: { name: 'canonicalize', run: () => new TextEncoder().encode(canonicalize(manifest)) },
        rounds: 400,
      }),
    ],
    timings: [],
    goals: [],
    facts: { 'canonical bytes': bytes, 'same digest from both': true },
  };
}

function peerDigest(manifest: unknown): string {
  return `sha256:${hash('sha256', `portcullis:subject:v1\0${canonicalize(manifest) ?? ''}`)}`;
}

/** A manifest in the shape of a subject, filled with artifacts until its canonical form reaches this size. */
function manifestOf(size: number): unknown {
  const artifacts: unknown[] = [];
  let manifest: unknown;
  do {
    artifacts.push({
      artifactId: `artifact-${artifacts.length}`,
      revision: artifacts.length,
      mediaType: 'application/vnd.portcullis.test-report+json',
      digest: `sha256:${hash('sha256', String(artifacts.length))}`,
      size: 4096 + artifacts.length,
    });
    manifest = {
      schema: 'portcullis/subject/v1',
      tenant: 'local',
      missionId: 'T-048',
      executionId: 'T-048/3',
      executionGeneration: 3,
      workPackage: null,
      objective: { revision: 2, digest: `sha256:${'0'.repeat(64)}` },
      artifacts,
    };
  } while (canonicalBytes(manifest).length < size);
  return manifest;
}
