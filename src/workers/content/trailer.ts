import { more, type ByteFeed } from './byte-feed.ts'
import { OutsideScan } from './intruder-scan.ts'
import { sourceKind } from './text/source-text.ts'
import { joinedTo, whole, type MimeType, type StructureEnd } from './verdict.ts'

/** Bytes before the beginning or after the end of a file's own format that may show another format. Decision. */
export const CLAIM_BYTES = 4_096

/** White space, zeros, fill bytes and the end mark of DOS texts, which have no meaning. */
const FILL = /^[\0\t\n\f\r\x1a \xff]+/

/** Beginnings of archives, programs, scripts and pages; includes signatures that are too short to be searched for anywhere. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^PK(?:\x03\x04|\x05\x06[^]{18}|\x07\x08|\x01\x02)/, 'a ZIP archive'],
  [/^(?:\x1f[\x8b\x9d\xa0]|BZh|\x5d\0\0|\x60\xea|hsqs|sqsh|SIT!|StuffIt|Cr24)/, 'an archive'],
  [/^(?:MZ|ZM|NE\0|LE\0|\x7fELF|\xca\xfe\xba\xbe|\0asm|dex\n|#~|!<arch>)/, 'an executable'],
  [/^#!/, 'a script'],
  [/^%PDF-/, 'a PDF document'],
  [/^%!PS/, 'a PostScript program'],
  [/^\{\\rtf/, 'an RTF document'],
  [/^<(?:[a-z][a-z0-9]*[\s>/]|!|%|\?(?!xpacket|xml))/i, 'an HTML page or script'],
]

/** Control characters that texts do not contain. */
const BINARY = /[\0-\x08\x0e-\x19\x1c-\x1f\x7f]/

/** Statements of common script languages, at the beginning of any line. Must not match prose. */
const STATEMENTS = new RegExp(
  [
    String.raw`^#!`,
    String.raw`\*\/\s*[=;(+]`,
    String.raw`^\s*@echo\b`,
    String.raw`^\s*(?:import\s+[\w.]+\s*;?$|from\s+[\w.]+\s+import\s|def\s+\w+\s*\(|(?:async\s+)?function\b[^.]*\()`,
    String.raw`^\s*(?:var|let|const|my|local)\s+[\w$@%]+\s*=`,
    String.raw`^[\s;)}\]]*(?:[\w$]+\.)*(?:eval|alert|exec|execSync|system|spawn|print|printf|require|write|writeln|log)\s*\(`,
    String.raw`^\s*\$\w+\s*=`,
    String.raw`^\s*(?:set\s+-[a-z]+$|export\s+\w+=|sudo\s|curl\s+-|wget\s+-?|rm\s+-|chmod\s|powershell\b|cmd(?:\.exe)?\s+\/c)`,
    String.raw`^\s*(?:wscript|createobject|on error resume|dim\s+\w+$|sub\s+\w+\s*\()`,
    String.raw`<\?(?:php|=)|<%|<script|javascript:`,
  ].join('|'),
  'im',
)

/**
 * Names the bytes before the beginning or after the end of a file when they are an archive, an executable, a
 * script or a page. Null: no other program would read the file as another format.
 * @param bytes up to CLAIM_BYTES of them, one character for each byte
 */
export function claimOf(bytes: string): string | null {
  const text = bytes.replace(FILL, '')
  const found = BEGINNINGS.find(([begin]) => begin.test(text))
  if (found !== undefined) return found[1]
  if (text === '' || BINARY.test(text)) return null
  const isSource = STATEMENTS.test(text) || ['script', 'document'].includes(sourceKind(text, '') ?? '')
  return isSource ? 'a script' : null
}

/**
 * Reads all bytes after the end of the format. Cameras, editors and transports leave bytes there that readers ignore:
 * the file is refused only for bytes that another program would read as another format.
 * @param what the type with its article: `a PNG image`
 */
export function* wholeWithTrailer(
  feed: ByteFeed,
  mimeType: MimeType,
  what: string,
): Generator<void, StructureEnd> {
  const claim = yield* trailerClaim(feed)
  return claim === null ? whole(mimeType) : joinedTo(what, claim)
}

/** Skips the rest of the file. @returns the format that the rest claims to be */
export function* trailerClaim(feed: ByteFeed): Generator<void, string | null> {
  yield* skipFill(feed)
  yield* more(feed, CLAIM_BYTES)
  const claim = claimOf(feed.latin1(0, Math.min(CLAIM_BYTES, feed.limit - feed.at)))
  const outside = new OutsideScan()
  do {
    outside.push(feed.view.subarray(feed.at, feed.limit))
    feed.at = feed.limit
  } while (yield* more(feed, 1))
  return outside.finish() ?? claim
}

/** Skips white space, zeros and other fill bytes, of which there may be any number. */
export function* skipFill(feed: ByteFeed): Generator<void> {
  while ((feed.has(1) || (yield* more(feed, 1))) && isFill(feed.u8())) passFill(feed)
}

export function isFill(byte: number): boolean {
  return FILL_BYTES[byte] === 1
}

const FILL_BYTES = new Uint8Array(256)
for (const byte of [0, 0x09, 0x0a, 0x0c, 0x0d, 0x1a, 0x20, 0xff]) FILL_BYTES[byte] = 1

function passFill(feed: ByteFeed): void {
  const { view, limit } = feed
  let at = feed.at
  while (at < limit && isFill(view[at] ?? 0)) at++
  feed.at = at
}
