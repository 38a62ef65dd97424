/** Takes a git bundle from an operator into the incoming directory, for the control worker: never larger than allowed, never half. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { requireDiskSpace } from '../../activities/git/disk.ts';
import { checkedName } from '../../schemas/names.ts';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import type { ImportAnswer } from '../../schemas/operator-api.ts';
import type { Incoming } from '../http/body.ts';
import type { GatewayContext } from '../context.ts';

/** Long enough for a control worker that is away over a week-end. */
const FORGOTTEN_MS = 7 * 24 * 3_600_000;
/** How much is written between two looks at the disk. */
const LOOK_EVERY_BYTES = 64 * 1024 * 1024;

/** @throws `bundle_too_large`, `disk_full`, `schema_invalid` for an empty body, `stream_cut` */
export async function takeImport(ctx: GatewayContext, tenant: string, req: Incoming): Promise<ImportAnswer> {
  const limit = ctx.limits.bundleBytes;
  const announced = Number(req.headers['content-length'] ?? 0);
  if (announced > limit) throw portcullisError('bundle_too_large', { limit });
  const directory = incomingOf(ctx, tenant);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await clearForgotten(directory);
  await requireDiskSpace(directory, announced, ctx.limits.diskReserveBytes);
  const importId = `i${randomBytes(16).toString('hex')}`;
  const partial = join(directory, `${importId}.part`);
  try {
    const bytes = await receive(ctx, req, directory, partial);
    if (bytes === 0) throw portcullisError('schema_invalid', { path: 'body', reason: 'is empty' });
    // The name that the control worker looks for appears only when the bundle is whole.
    await rename(partial, join(directory, `${importId}.bundle`));
    return { schema: 'portcullis/import/v1', importId, bytes };
  } catch (thrown) {
    await rm(partial, { force: true });
    if (thrown instanceof PortcullisError) throw thrown;
    throw isFull(thrown)
      ? portcullisError('disk_full', { free: 0, needed: announced }, thrown)
      : portcullisError('stream_cut', {}, thrown);
  }
}

/** How large an import is that waits to be taken in; 0 when there is none by this name. */
export async function importedBytes(ctx: GatewayContext, tenant: string, importId: string): Promise<number> {
  const file = join(incomingOf(ctx, tenant), `${checkedName('importId', importId)}.bundle`);
  return await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

function incomingOf(ctx: GatewayContext, tenant: string): string {
  return join(ctx.incomingDir, checkedName('tenant', tenant));
}

async function receive(ctx: GatewayContext, req: Incoming, directory: string, file: string): Promise<number> {
  const { bundleBytes: limit, diskReserveBytes } = ctx.limits;
  let bytes = 0;
  let looked = 0;
  const counted = new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      if (bytes > limit) {
        done(portcullisError('bundle_too_large', { limit }));
        return;
      }
      if (bytes - looked < LOOK_EVERY_BYTES) {
        done(null, part);
        return;
      }
      looked = bytes;
      requireDiskSpace(directory, LOOK_EVERY_BYTES, diskReserveBytes).then(() => done(null, part), done);
    },
  });
  // The request is not destroyed with the pipeline: its connection still carries the refusal.
  const source = req.iterator({ destroyOnReturn: false });
  await pipeline(source, counted, createWriteStream(file, { mode: 0o600, flags: 'wx' }));
  return bytes;
}

/** Whoever uploaded these never asked for them to be taken in. */
async function clearForgotten(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!/^i[0-9a-f]{32}\.(?:part|bundle)$/.test(name)) continue;
    const found = await stat(join(directory, name)).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > FORGOTTEN_MS) await rm(join(directory, name), { force: true });
  }
}

function isFull(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT');
}
