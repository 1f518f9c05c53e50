import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { hasForm, takesCoding } from '../../../schemas/lists/negotiation.ts'
import { NOT_MODIFIED, type Answer } from './answers.ts'

const compress = promisify(brotliCompress)
/**
 * Brotli level for files that the build has not compressed: the highest level would delay the first visit by
 * half a second to save a few percent.
 */
const BROTLI_QUALITY = 9
/** Bytes below which a file is sent uncompressed. */
const COMPRESS_BYTES_MIN = 1_024
/** Extension of the compressed copy that the build puts next to a file. */
const PACKED = '.br'
const OK = 200
/** Name of the page itself. */
const INDEX = 'index.html'
/** Folder into which the build puts the page. */
const PAGE_FOLDER = fileURLToPath(new URL('../../dashboard/page/', import.meta.url))

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '': 'text/plain; charset=utf-8',
}

/** One form of a file. Each form has its own strong ETag, since equal tags promise equal bytes. RFC 9110 §8.8.3. */
interface Form {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
}

interface Loaded {
  readonly plain: Form
  readonly brotli: Form | null
}

/** Headers of a request that choose the form. */
export interface Input {
  readonly acceptEncoding?: string | undefined
  readonly ifNoneMatch?: string | undefined
}

/**
 * The files of the dashboard by their exact names. The list is read once, and no path is made from a request.
 * Each file is read and compressed at its first use and then kept.
 */
export class Assets {
  /** Path of each file by its name below `/dashboard/`. */
  readonly #files: ReadonlyMap<string, string>
  readonly #packed: ReadonlySet<string>
  readonly #loaded = new Map<string, Promise<Loaded>>()

  constructor(folder = PAGE_FOLDER) {
    const names = existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      : []
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const served = files.filter((file) => extname(file) in CONTENT_TYPES)
    this.#packed = new Set(files.filter((file) => file.endsWith(PACKED)))
    this.#files = new Map(
      served.map((file) => [file.slice(join(folder, sep).length).split(sep).join('/'), file]),
    )
  }

  /** Names of all files, for tests. */
  get names(): readonly string[] {
    return [...this.#files.keys()]
  }

  /** @param name name below `/dashboard/`; empty for the page itself @returns null when there is no such file */
  async find(name: string, input: Input): Promise<Answer | null> {
    const file = this.#files.get(name === '' ? INDEX : name)
    if (file === undefined) return null
    const { plain, brotli } = await this.#load(file)
    const { bytes, headers } = brotli !== null && takesCoding(input.acceptEncoding, 'br') ? brotli : plain
    const isKnown = hasForm(input.ifNoneMatch, headers['etag'] ?? '')
    return { status: isKnown ? NOT_MODIFIED : OK, headers, body: isKnown ? '' : bytes }
  }

  #load(file: string): Promise<Loaded> {
    const known = this.#loaded.get(file)
    if (known !== undefined) return known
    const loading = load(file, this.#packed.has(file + PACKED))
    this.#loaded.set(file, loading)
    // After a failure the next request tries again.
    loading.catch(() => this.#loaded.delete(file))
    return loading
  }
}

async function load(file: string, isPacked: boolean): Promise<Loaded> {
  const bytes = await readFile(file)
  const packed = isPacked ? await readFile(file + PACKED) : await compressed(bytes)
  const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  const headers = {
    'content-type': CONTENT_TYPES[extname(file)] ?? '',
    'content-security-policy': pagePolicy(extname(file) === '.html' ? bytes.toString() : ''),
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
  }
  return {
    plain: { bytes, headers: { ...headers, etag: `"${digest}"` } },
    brotli: packed && {
      bytes: packed,
      headers: { ...headers, etag: `"${digest}-br"`, 'content-encoding': 'br' },
    },
  }
}

async function compressed(bytes: Buffer): Promise<Buffer | null> {
  if (bytes.length < COMPRESS_BYTES_MIN) return null
  return compress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
}

/** An import map has to be part of the page itself. */
const IMPORT_MAP = /<script type="importmap">([\s\S]*?)<\/script>/g

/**
 * The content security policy of a page of the dashboard: the page loads files of its own origin, calls its
 * own origin, and nothing else.
 * @param page text whose import maps are allowed, by their digests; all other scripts within the page are forbidden
 */
function pagePolicy(page: string): string {
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
