/**
 * The project's own name and version as an installed package has them: many tests ask for that, and the project itself is not
 * installed, since that would run its build.
 */
import type { CommitFiles, PlannedFile } from './types.ts';

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const VERSION = /^[0-9][0-9A-Za-z.!+_-]*$/;

/** Below `/prepared`; on the path of every prepared Python. */
export const PROJECT_METADATA = 'project';

/** @param locked what uv.lock says of the project, where there is one */
export async function projectMetadata(
  files: CommitFiles,
  locked: { readonly name: string; readonly version: string } | null,
): Promise<readonly PlannedFile[]> {
  const [, table = ''] =
    /^\[project\]\r?\n([\s\S]*?)(?=^\[|$(?![\s\S]))/m.exec((await files.read('pyproject.toml')) ?? '') ?? [];
  const valueOf = (key: string) => new RegExp(`^${key}\\s*=\\s*["']([^"']*)["']`, 'm').exec(table)?.[1] ?? '';
  const name = valueOf('name') || (locked?.name ?? '');
  const version = valueOf('version') || (locked?.version ?? '');
  if (!NAME.test(name) || !VERSION.test(version)) return [];
  const directory = `${PROJECT_METADATA}/${name.replace(/[-.]+/g, '_')}-${version}.dist-info`;
  return [
    { path: `${directory}/METADATA`, text: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n` },
    { path: `${directory}/RECORD`, text: '' },
  ];
}
