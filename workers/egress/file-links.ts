/**
 * Addresses of files that an index names on another server, written as paths of ours. Each carries a MAC, so that only what a
 * registry's own page named can be asked for, and nothing has to be remembered.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface FileLinks {
  /** Path below the registry for a file at this URL. */
  pathOf(url: URL): string;
  /** The URL that a path of {@link pathOf} stands for; `null` for any other path. */
  urlOf(rest: string): URL | null;
}

/** Beside each file, under the file's own name (PEP 658). */
const METADATA = '.metadata';

export function createFileLinks(key: string): FileLinks {
  const macOf = (encoded: string) => createHmac('sha256', key).update(`file:${encoded}`).digest();
  return {
    pathOf(url) {
      const bare = new URL(url);
      bare.hash = '';
      const encoded = Buffer.from(bare.href).toString('base64url');
      const name = nameOf(bare);
      return `/file/${macOf(encoded).toString('base64url')}/${encoded}/${name}`;
    },
    urlOf(rest) {
      const [, mac = '', encoded = '', asked = ''] = /^\/file\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(rest) ?? [];
      const given = Buffer.from(mac, 'base64url');
      const right = macOf(encoded);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
      const url = new URL(Buffer.from(encoded, 'base64url').toString());
      const name = nameOf(url);
      if (asked === name) return url;
      if (asked !== name + METADATA) return null;
      url.pathname += METADATA;
      return url;
    },
  };
}

function nameOf(url: URL): string {
  const last = url.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
