import { createHash } from 'node:crypto'

/** An import map has to be part of the page itself. */
const IMPORT_MAP = /<script type="importmap">([\s\S]*?)<\/script>/g

/**
 * The content security policy of a page of the dashboard: the page loads files of its own origin, calls its
 * own origin, and nothing else.
 * @param page text whose import maps are allowed, by their digests; no other script within the page is
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
