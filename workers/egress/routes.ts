/** What each registry's path means: which URL is asked, and how its answer is passed on. */
import { portcullisError } from '../../schemas/errors.ts';
import type { RegistryPath } from '../../schemas/egress.ts';
import type { FileLinks } from './file-links.ts';
import { cratesConfiguration, crateUrl, rewritePackument, rewriteSimplePage } from './rewrite.ts';
import type { Upstream, Upstreams } from './settings.ts';

export type Route =
  /** Passed on as it comes. */
  | {
      readonly kind: 'stream';
      readonly url: URL;
      readonly authorization: string | null;
      readonly accept: string | null;
    }
  /** Read whole and rewritten. */
  | {
      readonly kind: 'rewrite';
      readonly url: URL;
      readonly authorization: string | null;
      readonly accept: string;
      readonly contentType: string;
      readonly rewrite: (text: string) => string;
    }
  | { readonly kind: 'answer'; readonly contentType: string; readonly body: string };

export interface RouteFacts {
  readonly upstreams: Upstreams;
  readonly links: FileLinks;
  /** `dl` of the crates index, read once. */
  readonly cratesTemplate: () => Promise<string>;
}

/** The route of a path that was checked already; `null` when it names nothing that an index named. @throws `egress_failed` */
export async function routeOf({ registry, rest }: RegistryPath, facts: RouteFacts): Promise<Route | null> {
  const { upstreams, links } = facts;
  switch (registry) {
    case 'npm':
      return npmRoute(rest, upstreams.npm);
    case 'crates-index':
      return rest === '/config.json'
        ? { kind: 'answer', contentType: 'application/json', body: cratesConfiguration() }
        : stream(upstreams['crates-index'], rest);
    case 'crates': {
      const [, crate = '', version = ''] = rest.split('/');
      const url = crateUrl(await facts.cratesTemplate(), crate, version);
      if (url === null) throw portcullisError('egress_failed', { reason: 'the crates index names no usable download' });
      const index = upstreams['crates-index'];
      return {
        kind: 'stream',
        url,
        authorization: url.host === index.base.host ? index.authorization : null,
        accept: null,
      };
    }
    case 'go':
    case 'go-sumdb':
      return stream(upstreams.go, rest);
    case 'pypi':
      return pypiRoute(rest, upstreams.pypi, links);
  }
}

function npmRoute(rest: string, upstream: Upstream): Route {
  if (rest.includes('/-/')) return stream(upstream, rest);
  return {
    kind: 'rewrite',
    url: below(upstream.base, rest.replace(/^\/(@[^/]+)\//, '/$1%2f')),
    authorization: upstream.authorization,
    // The short form, which is all that an installation needs.
    accept: 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8',
    contentType: 'application/json',
    rewrite: rewritePackument,
  };
}

function pypiRoute(rest: string, upstream: Upstream, links: FileLinks): Route | null {
  if (rest.startsWith('/simple/')) {
    const url = below(upstream.base, rest.slice('/simple'.length));
    return {
      kind: 'rewrite',
      url,
      authorization: upstream.authorization,
      accept: 'text/html',
      contentType: 'text/html',
      rewrite: (text) => rewriteSimplePage(text, url, links),
    };
  }
  const url = links.urlOf(rest);
  if (url === null) return null;
  const authorization = url.host === upstream.base.host ? upstream.authorization : null;
  return { kind: 'stream', url, authorization, accept: null };
}

function stream(upstream: Upstream, rest: string): Route {
  return { kind: 'stream', url: below(upstream.base, rest), authorization: upstream.authorization, accept: null };
}

/** The paths were matched against patterns without `..` or a host, so they stay below. */
function below(base: URL, rest: string): URL {
  return new URL(base.href.replace(/\/$/, '') + rest);
}
