/** Takes a git bundle from an operator into the incoming directory, for the control worker: never larger than allowed, never half. */
import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { checkedName } from '../../schemas/names.ts';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import type { ImportAnswer } from '../../schemas/operator-api.ts';
import type { Incoming } from '../http/body.ts';
import type { GatewayContext } from '../context.ts';

/** @throws `bundle_too_large`, `schema_invalid` for an empty body, `stream_cut` */
export async function takeImport(ctx: GatewayContext, tenant: string, req: Incoming): Promise<ImportAnswer> {
  const limit = ctx.limits.bundleBytes;
  if (Number(req.headers['content-length'] ?? 0) > limit) throw portcullisError('bundle_too_large', { limit });
  const directory = join(ctx.incomingDir, checkedName('tenant', tenant));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const importId = `i${randomBytes(16).toString('hex')}`;
  const partial = join(directory, `${importId}.part`);
  try {
    const bytes = await receive(req, partial, limit);
    if (bytes === 0) throw portcullisError('schema_invalid', { path: 'body', reason: 'is empty' });
    // The name that the control worker looks for appears only when the bundle is whole.
    await rename(partial, join(directory, `${importId}.bundle`));
    return { schema: 'portcullis/import/v1', importId, bytes };
  } catch (thrown) {
    await rm(partial, { force: true });
    throw thrown instanceof PortcullisError ? thrown : portcullisError('stream_cut', {}, thrown);
  }
}

async function receive(req: Incoming, file: string, limit: number): Promise<number> {
  let bytes = 0;
  const counted = new Transform({
    transform(part: Buffer, _encoding, done) {
      bytes += part.length;
      if (bytes > limit) done(portcullisError('bundle_too_large', { limit }));
      else done(null, part);
    },
  });
  // The request is not destroyed with the pipeline: its connection still carries the refusal.
  const source = req.iterator({ destroyOnReturn: false });
  await pipeline(source, counted, createWriteStream(file, { mode: 0o600, flags: 'wx' }));
  return bytes;
}
