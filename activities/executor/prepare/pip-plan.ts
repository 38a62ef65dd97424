/** pip: the tool sees one file of requirements that we wrote, each pinned and held to digests; no option of the commit's. */
import { contentDigest } from '../../../schemas/digest.ts';
import type { PlanPreparation } from './types.ts';
import { projectMetadata } from './python-project.ts';
import { requirementsOf } from './uv-lock.ts';

const REQUIREMENT =
  /^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[([A-Za-z0-9._, -]*)\])?\s*==\s*([A-Za-z0-9][A-Za-z0-9.!+_-]*)\s*(?:;\s*([A-Za-z0-9_.'" <>=!()~,+*-]+?))?((?:\s+--hash=sha(?:256|384|512):[0-9a-f]+)*)$/;

export const planPip: PlanPreparation = async (files, lockfile) => {
  const text = lockfile === null ? null : await files.read(lockfile);
  if (lockfile === null || text === null)
    return { kind: 'not_needed', reason: 'there is no file of pinned requirements' };
  const fromUv = lockfile === 'uv.lock' ? requirementsOf(text) : null;
  if (fromUv !== null && fromUv.problem !== null) return { kind: 'refused', reason: fromUv.problem };
  const lines = fromUv?.lines ?? text.replace(/\\\r?\n/g, ' ').split(/\r?\n/);
  const written: string[] = [];
  for (const [index, raw] of lines.entries()) {
    const line = raw.replace(/(?:^|\s)#.*$/, '').trim();
    if (line === '') continue;
    const [, name = '', extras = '', version = '', marker, hashes = ''] = REQUIREMENT.exec(line) ?? [];
    const where = `${lockfile}, line ${index + 1}`;
    if (name === '') {
      return { kind: 'refused', reason: `${where}: ${shown(line)} is no requirement pinned by == with --hash` };
    }
    if (hashes === '') return { kind: 'refused', reason: `${where}: ${name} has no --hash` };
    const wanted = extras === '' ? name : `${name}[${extras}]`;
    written.push(`${wanted}==${version}${marker === undefined ? '' : ` ; ${marker}`}${hashes.replace(/\s+/g, ' ')}`);
  }
  if (written.length === 0) return { kind: 'not_needed', reason: `${lockfile} names nothing` };
  const metadata = await projectMetadata(files, fromUv?.project ?? null);
  const project = await files.read('pyproject.toml');
  return {
    kind: 'ready',
    inputs: [{ path: lockfile, text }, ...(project === null ? [] : [{ path: 'pyproject.toml', text: project }])].map(
      (file) => ({ path: file.path, sha256: contentDigest(new TextEncoder().encode(file.text)) }),
    ),
    sees: 'files',
    files: [{ path: 'requirements.txt', text: `${written.join('\n')}\n` }],
    settings: metadata,
    chdir: '/home/run',
    places: [],
  };
};

function shown(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 80);
}
