/** Read-only git over HTTP: an executor fetches its own pair's repository from the control plane, and nothing else. */
import { Router, type Request, type Response } from 'express';
import { existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { repositoryPath } from '../../activities/git/repository.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { NAME_PATTERN } from '../../schemas/names.ts';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import { authenticate, seatOf } from '../authority/authenticate.ts';
import type { GatewayContext } from '../context.ts';
import { readBody } from '../http/body.ts';
import { runGitBackend, type CgiRequest } from './cgi.ts';
import { Slots } from './slots.ts';

/** The two calls of a fetch over smart HTTP. Pushing, archives and the dumb protocol are not served. */
const INFO_REFS = '/info/refs';
const UPLOAD_PACK = '/git-upload-pack';
const UPLOAD_PACK_REQUEST = 'application/x-git-upload-pack-request';

export function gitRouter(ctx: GatewayContext): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const slots = new Slots(ctx.limits.gitTotal, ctx.limits.gitPerCredential);

  router.get(`/git/:tenant/:repository${INFO_REFS}`, async (req, res) => {
    const query = new URL(req.originalUrl, 'http://localhost').search;
    if (query !== '?service=git-upload-pack') throw portcullisError('not_allowed', { action: 'do more than fetch' });
    await serve(ctx, slots, req, res, { leaf: INFO_REFS, method: 'GET', query: query.slice(1), contentType: '' });
  });

  router.post(`/git/:tenant/:repository${UPLOAD_PACK}`, async (req, res) => {
    if (req.headers['content-type'] !== UPLOAD_PACK_REQUEST) {
      throw portcullisError('schema_invalid', { path: 'content-type', reason: `must be ${UPLOAD_PACK_REQUEST}` });
    }
    await serve(ctx, slots, req, res, {
      leaf: UPLOAD_PACK,
      method: 'POST',
      query: '',
      contentType: UPLOAD_PACK_REQUEST,
    });
  });

  return router;
}

interface GitCall extends Pick<CgiRequest, 'method' | 'query' | 'contentType'> {
  readonly leaf: string;
}

type GitRequest = Request<{ tenant: string; repository: string }>;

async function serve(ctx: GatewayContext, slots: Slots, req: GitRequest, res: Response, call: GitCall): Promise<void> {
  const principal = await authenticate(ctx, req);
  const { tenant, pair } = seatOf(principal, 'fetch a repository');
  // Compared with what the credential's own path is, so that no name in the URL ever becomes a path.
  if (`/git/${req.params.tenant}/${req.params.repository}` !== WORKSPACE_PATHS.repository(tenant, pair)) {
    throw portcullisError('not_found', { what: 'repository', id: safeName(req.params.repository) });
  }
  const repository = repositoryPath(ctx.repositoriesDir, tenant, pair);
  if (!existsSync(repository)) throw portcullisError('not_found', { what: 'repository', id: pair });
  const leave = slots.take(`${tenant}/${principal.id}`);
  try {
    const body = call.method === 'POST' ? await readPackRequest(ctx, req) : Buffer.alloc(0);
    const { leaf, ...cgi } = call;
    const answer = await runGitBackend({
      ...cgi,
      repository,
      leaf,
      protocol: protocolOf(req),
      body,
      seconds: ctx.limits.gitSeconds,
    });
    res.once('close', () => answer.kill());
    res.status(answer.status);
    for (const [name, value] of answer.headers) res.setHeader(name, value);
    res.write(answer.head);
    await pipeline(answer.rest, res, { end: false }).catch(() => answer.kill());
    // A pack that was cut must not look whole.
    if (await answer.ended) res.end();
    else res.destroy();
  } finally {
    leave();
  }
}

/** git compresses what is longer than a kilobyte; it is unpacked here, where there is a bound. */
async function readPackRequest(ctx: GatewayContext, req: GitRequest): Promise<Buffer> {
  const body = await readBody(req, ctx.limits.gitRequestBytes);
  const encoding = req.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return body;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw portcullisError('schema_invalid', { path: 'content-encoding', reason: 'must be gzip' });
  }
  try {
    return await promisify(gunzip)(body, { maxOutputLength: ctx.limits.gitRequestBytes });
  } catch (thrown) {
    throw portcullisError('body_too_large', { limit: ctx.limits.gitRequestBytes }, thrown);
  }
}

function protocolOf(req: GitRequest): string {
  const asked = req.headers['git-protocol'];
  return typeof asked === 'string' && /^version=[0-2]$/.test(asked) ? asked : '';
}

function safeName(text: string): string {
  return NAME_PATTERN.test(text) ? text : '(unnamed)';
}
