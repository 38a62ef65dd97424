/** What registries say about where their files lie, rewritten to name this proxy: whoever prepares can reach nothing else. */
import { EGRESS_ORIGIN } from '../../schemas/egress.ts';
import type { FileLinks } from './file-links.ts';

/** npm: each version's archive at the path that registries share. @throws SyntaxError when it is not JSON */
export function rewritePackument(text: string): string {
  const document: unknown = JSON.parse(text);
  const versions: unknown = Reflect.get(Object(document), 'versions');
  for (const entry of Object.values(Object(versions) as Record<string, unknown>)) {
    const [name, version, dist] = ['name', 'version', 'dist'].map((key): unknown => Reflect.get(Object(entry), key));
    if (typeof name !== 'string' || typeof version !== 'string' || typeof dist !== 'object' || dist === null) continue;
    Reflect.set(dist, 'tarball', `${EGRESS_ORIGIN}/npm/${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`);
  }
  return JSON.stringify(document);
}

/** PyPI: a page of the simple API (PEP 503), each file behind a path of ours; what is no http link is left out. */
export function rewriteSimplePage(html: string, page: URL, links: FileLinks): string {
  return html
    .replace(/<base\b[^>]*>/gi, '')
    .replace(/(<a\b[^>]*?\bhref\s*=\s*)(["'])(.*?)\2/gis, (_, before, quote, href) => {
      const target = URL.canParse(unescaped(String(href)), page.href) ? new URL(unescaped(String(href)), page) : null;
      const isFile = target?.protocol === 'https:' || (target?.protocol === 'http:' && page.protocol === 'http:');
      const link = target === null || !isFile ? '' : `${EGRESS_ORIGIN}/pypi${links.pathOf(target)}${target.hash}`;
      return `${String(before)}${String(quote)}${link}${String(quote)}`;
    });
}

function unescaped(text: string): string {
  return text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
}

/** crates.io: where its archives lie. The crates' own registry is another one of ours. */
export function cratesConfiguration(): string {
  return JSON.stringify({ dl: `${EGRESS_ORIGIN}/crates` });
}

/**
 * The URL of a crate's archive by the index's own template (cargo's "Index Format").
 * @param template `dl` of the index's config.json
 */
export function crateUrl(template: string, crate: string, version: string): URL | null {
  const filled = /\{(?:crate|version|prefix|lowerprefix)\}/.test(template)
    ? template
        .replaceAll('{crate}', crate)
        .replaceAll('{version}', version)
        .replaceAll('{prefix}', prefixOf(crate))
        .replaceAll('{lowerprefix}', prefixOf(crate.toLowerCase()))
    : `${template}/${crate}/${version}/download`;
  return URL.canParse(filled) ? new URL(filled) : null;
}

function prefixOf(crate: string): string {
  if (crate.length <= 2) return String(crate.length);
  return crate.length === 3 ? `3/${crate.slice(0, 1)}` : `${crate.slice(0, 2)}/${crate.slice(2, 4)}`;
}
