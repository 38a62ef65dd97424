/**
 * The way from a preparation to package registries: logical registry names, and which paths of each may be asked for
 * (spec/delegated-verification.md section 3). The same rule holds at the executor, at the gateway and at the egress process.
 */

/** What a policy may name. Which server each is, is resolved by the egress process from its machine's own configuration. */
export const REGISTRIES = ['npm', 'crates-index', 'crates', 'go', 'go-sumdb', 'pypi'] as const;
export type RegistryName = (typeof REGISTRIES)[number];

/**
 * Where a preparation finds the registries: on the loopback of its own network namespace, in which nothing else listens.
 * Fixed, because tools write it into what they keep: a later run must find the same address in it.
 */
export const EGRESS_PORT = 8580;
export const EGRESS_ORIGIN = `http://127.0.0.1:${EGRESS_PORT}`;

/** Path prefix of the route at the gateway. */
export const EGRESS_PREFIX = '/egress';

/** Headers between gateway and egress: the shared key, and for whom the call is. */
export const EGRESS_HEADERS = {
  key: 'x-portcullis-egress-key',
  holder: 'x-portcullis-holder',
} as const;

/** Of a request's headers only these travel on, and of an answer's only those. */
export const EGRESS_REQUEST_HEADERS = ['accept', 'if-none-match', 'if-modified-since'] as const;
export const EGRESS_ANSWER_HEADERS = [
  'content-type',
  'content-length',
  'etag',
  'last-modified',
  'cache-control',
  'retry-after',
] as const;

/** Says on an answer that the egress or the gateway refused, not the registry. */
export const EGRESS_REFUSED_HEADER = 'x-portcullis-refused';

export interface RegistryPath {
  readonly registry: RegistryName;
  /** Below the registry, with its leading slash. */
  readonly rest: string;
}

const MAX_PATH = 2048;
const NPM_NAME = '[A-Za-z0-9~_-][A-Za-z0-9~._-]*';
const GO_MODULE = '[A-Za-z0-9~!_-][A-Za-z0-9._~!-]*(?:/[A-Za-z0-9._~!-]+)*';
const GO_VERSION = 'v[A-Za-z0-9._~!+-]+';
const CRATE = '[A-Za-z0-9_-]';

/** Every permitted path, by registry; `rest` must match one of them whole. */
const PATHS: Readonly<Record<RegistryName, readonly RegExp[]>> = {
  npm: [
    new RegExp(`^/(?:@${NPM_NAME}(?:/|%2[fF]))?${NPM_NAME}$`),
    new RegExp(`^/(?:@${NPM_NAME}/)?${NPM_NAME}/-/[A-Za-z0-9~_][A-Za-z0-9~._+-]*\\.tgz$`),
  ],
  'crates-index': [/^\/config\.json$/, new RegExp(`^/(?:1|2|3/${CRATE}|${CRATE}{2}/${CRATE}{2})/${CRATE}{1,64}$`)],
  crates: [new RegExp(`^/${CRATE}{1,64}/[0-9][0-9A-Za-z.+-]{0,63}/download$`)],
  go: [
    new RegExp(`^/${GO_MODULE}/@v/(?:list|${GO_VERSION}\\.(?:info|mod|zip))$`),
    new RegExp(`^/${GO_MODULE}/@latest$`),
  ],
  'go-sumdb': [
    /^\/sumdb\/[a-z0-9][a-z0-9.-]*\/(?:supported|latest|tile\/[0-9a-z]+(?:\/[0-9a-zA-Z.]+)+)$/,
    new RegExp(`^/sumdb/[a-z0-9][a-z0-9.-]*/lookup/${GO_MODULE}@${GO_VERSION}$`),
  ],
  pypi: [
    /^\/simple\/[a-z0-9][a-z0-9-]*\/$/,
    /^\/file\/[A-Za-z0-9_-]{43}\/[A-Za-z0-9_-]+\/[A-Za-z0-9][A-Za-z0-9._+!-]*$/,
  ],
};

/**
 * The registry and the path in it that a request's target names; `null` when it names nothing that may be asked for.
 *
 * @example parseRegistryPath('/npm/ms/-/ms-2.1.3.tgz') // { registry: 'npm', rest: '/ms/-/ms-2.1.3.tgz' }
 */
export function parseRegistryPath(target: string): RegistryPath | null {
  if (target.length > MAX_PATH) return null;
  const [, name = '', rest = ''] = /^\/([a-z-]+)(\/[^?#]*)$/.exec(target) ?? [];
  // Segments that a server might resolve are never part of a permitted path, however a pattern is written.
  if (rest.split('/').some((segment) => segment === '.' || segment === '..')) return null;
  const registry = name === 'go' && rest.startsWith('/sumdb/') ? 'go-sumdb' : REGISTRIES.find((one) => one === name);
  if (registry === undefined || (registry === 'go-sumdb' && name !== 'go')) return null;
  return PATHS[registry].some((pattern) => pattern.test(rest)) ? { registry, rest } : null;
}

/** The target that {@link parseRegistryPath} reads back. */
export function registryTarget({ registry, rest }: RegistryPath): string {
  return registry === 'go-sumdb' ? `/go${rest}` : `/${registry}${rest}`;
}
