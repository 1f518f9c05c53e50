import { createHash } from 'node:crypto'

/** An import map has to stand in the page itself. */
const IMPORT_MAP = /<script type="importmap">([\s\S]*?)<\/script>/g

/**
 * What a browser may do on a page of the dashboard: load what is ours, talk to where it came from, and
 * nothing else.
 * @param page text whose import maps are allowed, by their digests; no other script that stands in a page is
 */
export function pagePolicy(page: string): string {
  const maps = [...page.matchAll(IMPORT_MAP)].map(
    ([, text = '']) => ` 'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  return [
    "default-src 'none'",
    `script-src 'self'${maps.join('')}`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
