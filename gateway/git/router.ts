/**
 * Git over HTTP on the control plane's own repository of the caller's pair (spec/tickets.md, Rules): executors and agents
 * fetch, a producer's agent pushes its own branch, and nothing else is served.
 */
import { Router, type Request, type Response } from 'express';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { repositoryPath } from '../../activities/git/repository.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { Places } from '../../policies/places.ts';
import { NAME_PATTERN } from '../../schemas/names.ts';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import { Allowance } from '../authority/allowance.ts';
import { authenticate, type Principal } from '../authority/authenticate.ts';
import { whileAllowed, type WhileAllowed } from '../authority/while-allowed.ts';
import { readBody } from '../http/body.ts';
import { ADVERTISE_CONFIG, pushedRef, READ_CONFIG, requirePushing, requireReader, type GitContext } from './access.ts';
import { answerWith } from './answer.ts';
import { runGitBackend, type CgiRequest } from './cgi.ts';
import { RECEIVE_PACK, RECEIVE_PACK_REQUEST, receivePush } from './receive.ts';
import { Turns } from './turns.ts';

/** The calls of smart HTTP. Archives and the dumb protocol are not served. */
const INFO_REFS = '/info/refs';
const UPLOAD_PACK = '/git-upload-pack';
const UPLOAD_PACK_REQUEST = 'application/x-git-upload-pack-request';
/** Pushes to one repository that wait for the one before. */
const WAITING_PUSHES = 3;

type GitRequest = Request<{ tenant: string; repository: string }>;

export function gitRouter(ctx: GitContext): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const places = new Places(ctx.limits.gitTotal, ctx.limits.gitPerCredential);
  const turns = new Turns(WAITING_PUSHES);
  const { gitCallsPerSecond: perSecond, gitCallsBurst: burst } = ctx.limits;
  const allowance = new Allowance({ perSecond, burst });
  /** Each call is a process or three: a credential has its own allowance of them, smaller than that of other calls. */
  const callerOf = async (req: GitRequest) => {
    const principal = await authenticate(ctx, req);
    allowance.spend(holderOf(principal), 1);
    return principal;
  };

  router.get(`/git/:tenant/:repository${INFO_REFS}`, async (req, res) => {
    const query = new URL(req.originalUrl, 'http://localhost').search;
    if (query !== '?service=git-upload-pack' && query !== '?service=git-receive-pack') {
      throw portcullisError('not_allowed', { action: 'do more than fetch and push' });
    }
    const principal = await callerOf(req);
    const pushes = query === '?service=git-receive-pack';
    if (pushes) await requirePusher(ctx, principal);
    else requireReader(principal);
    const config = pushes ? ADVERTISE_CONFIG : READ_CONFIG;
    await read(ctx, places, principal, req, res, {
      ...{ leaf: INFO_REFS, method: 'GET', query: query.slice(1), contentType: '', config },
    });
  });

  router.post(`/git/:tenant/:repository${UPLOAD_PACK}`, async (req, res) => {
    requireContentType(req, UPLOAD_PACK_REQUEST);
    const principal = await callerOf(req);
    requireReader(principal);
    await read(ctx, places, principal, req, res, {
      ...{ leaf: UPLOAD_PACK, method: 'POST', query: '', contentType: UPLOAD_PACK_REQUEST, config: READ_CONFIG },
    });
  });

  router.post(`/git/:tenant/:repository${RECEIVE_PACK}`, async (req, res) => {
    requireContentType(req, RECEIVE_PACK_REQUEST);
    if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw portcullisError('schema_invalid', { path: 'content-encoding', reason: 'must be absent' });
    }
    const principal = await callerOf(req);
    const ref = pushedRef(principal);
    const repository = repositoryOf(ctx, principal, req);
    const leave = places.take(holderOf(principal));
    const mayPush = async () => requirePusher(ctx, await authenticate(ctx, req));
    const allowed = whileAllowed(mayPush, ctx.limits.gitLookMs);
    try {
      await turns.take(repository, async () => {
        // Once it is its turn: whatever was revoked or stopped while it waited.
        await mayPush();
        const { commands } = await receivePush(ctx, { repository, ref, mayPush, req, res, cut: cutOf(ctx, allowed) });
        for (const { from, to } of commands) {
          ctx.logger.info({ tenant: principal.tenant, credential: principal.id, ref, from, to }, 'a push was answered');
        }
      });
    } finally {
      allowed.end();
      leave();
    }
  });

  return router;
}

/** @throws `not_allowed`, `kill_switch`, `store_unavailable` */
async function requirePusher(ctx: GitContext, principal: Principal): Promise<void> {
  pushedRef(principal);
  await requirePushing(ctx, principal);
}

type GitCall = Pick<CgiRequest, 'leaf' | 'method' | 'query' | 'contentType' | 'config'>;

async function read(
  ctx: GitContext,
  places: Places,
  principal: Principal,
  req: GitRequest,
  res: Response,
  call: GitCall,
): Promise<void> {
  const repository = repositoryOf(ctx, principal, req);
  const leave = places.take(holderOf(principal));
  const allowed = whileAllowed(async () => requireReader(await authenticate(ctx, req)), ctx.limits.gitLookMs);
  try {
    const body = call.method === 'POST' ? await readPackRequest(ctx, req) : Buffer.alloc(0);
    const seconds = ctx.limits.gitSeconds;
    const answer = await runGitBackend({
      ...call,
      repository,
      protocol: protocolOf(req),
      body,
      seconds,
      memoryKib: null,
      lastWord: null,
    });
    res.once('close', () => answer.kill());
    await answerWith(res, answer, cutOf(ctx, allowed));
  } finally {
    allowed.end();
    leave();
  }
}

/** Aborts when an answer is not allowed any more, or when whoever asked has not read it in time. */
function cutOf({ limits }: GitContext, { signal }: WhileAllowed): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(limits.gitSeconds * 1_000 + limits.gitReadOnMs)]);
}

/**
 * The repository of the caller's own pair. The URL is compared with what the credential's own path is, so that no name in it
 * ever becomes a path. @throws `not_found`
 */
function repositoryOf(ctx: GitContext, { tenant, pair }: Principal, { params }: GitRequest): string {
  const missing = (id: string) => portcullisError('not_found', { what: 'repository', id });
  if (`/git/${params.tenant}/${params.repository}` !== WORKSPACE_PATHS.repository(tenant, pair)) {
    throw missing(NAME_PATTERN.test(params.repository) ? params.repository : '(unnamed)');
  }
  const repository = repositoryPath(ctx.repositoriesDir, tenant, pair);
  if (!existsSync(repository)) throw missing(pair);
  return repository;
}

/** git compresses what is longer than a kilobyte; it is unpacked here, where there is a bound. */
async function readPackRequest(ctx: GitContext, req: GitRequest): Promise<Buffer> {
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

function requireContentType(req: GitRequest, expected: string): void {
  if (req.headers['content-type'] === expected) return;
  throw portcullisError('schema_invalid', { path: 'content-type', reason: `must be ${expected}` });
}

function holderOf({ tenant, id }: Principal): string {
  return `${tenant}/${id}`;
}

function protocolOf(req: GitRequest): string {
  const asked = req.headers['git-protocol'];
  return typeof asked === 'string' && /^version=[0-2]$/.test(asked) ? asked : '';
}
