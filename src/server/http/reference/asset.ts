import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { hasForm, takesCoding } from '../../../schemas/lists/negotiation.ts'
import type { RequestHead } from '../call/head.ts'
import type { Reply } from '../reply/reply-body.ts'
import { escaped } from './pages/html.ts'
import { WRITTEN_ORIGIN } from './docs-page.ts'

/** A page without its status line and request id, which the pipeline adds. */
export type Page = Omit<Reply, 'statusLine'>

const compress = promisify(brotliCompress)
/** A medium quality: compressing the OpenAPI document takes some hundredths of a second in the thread pool, once. */
const BROTLI_QUALITY = 5
/** Bytes below which compression saves nothing. */
const COMPRESS_BYTES_MIN = 1_024
const OK = 200
const NOT_MODIFIED = 304

/** One encoding of an asset. Each has its own strong tag, since equal tags promise equal bytes. RFC 9110 §8.8.3. */
interface Form {
  readonly bytes: Uint8Array
  readonly etag: string
  readonly headers: readonly string[]
}

interface Loaded {
  readonly plain: Form
  readonly brotli: Form | null
}

/** A file or text of Sluice as a page: read and compressed at its first use, then cached. */
export class Asset {
  readonly #contentType: string
  readonly #read: () => Promise<Uint8Array>
  readonly #headers: readonly string[]
  #loaded: Loaded | Promise<Loaded> | null = null
  /** The address of this installation that the loaded text shows. */
  #origin = ''

  /** @param contentType of UTF-8 text */
  constructor(contentType: string, read: () => Promise<Uint8Array>, headers: readonly string[] = []) {
    this.#contentType = `${contentType}; charset=utf-8`
    this.#read = read
    this.#headers = headers
  }

  static ofText(contentType: string, text: string, headers?: readonly string[]): Asset {
    return new Asset(contentType, () => Promise.resolve(Buffer.from(text)), headers)
  }

  static ofFile(contentType: string, file: URL, headers?: readonly string[]): Asset {
    return new Asset(contentType, () => readFile(file), headers)
  }

  /** @param origin replaces the address in the samples */
  page(head: RequestHead, origin: string): Page | Promise<Page> {
    if (this.#origin !== origin) this.#loaded = null
    this.#origin = origin
    this.#loaded ??= this.#load()
    const loaded = this.#loaded
    return loaded instanceof Promise
      ? loaded.then((ready) => this.#pageOf(ready, head))
      : this.#pageOf(loaded, head)
  }

  async #load(): Promise<Loaded> {
    try {
      const bytes = this.#withOrigin(await this.#read())
      const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
      const packed = bytes.length < COMPRESS_BYTES_MIN ? null : await compress(bytes, { params })
      const digest = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
      const brotli = packed && { bytes: packed, etag: `"${digest}-br"`, headers: ['content-encoding', 'br'] }
      this.#loaded = { plain: { bytes, etag: `"${digest}"`, headers: [] }, brotli }
      return this.#loaded
    } catch (error) {
      // The next request tries again.
      this.#loaded = null
      throw error
    }
  }

  /** Replaces the address, only in pages: other texts have no samples. */
  #withOrigin(bytes: Uint8Array): Uint8Array {
    if (!this.#contentType.startsWith('text/html') || this.#origin === WRITTEN_ORIGIN) return bytes
    return Buffer.from(Buffer.from(bytes).toString().replaceAll(WRITTEN_ORIGIN, escaped(this.#origin)))
  }

  #pageOf({ plain, brotli }: Loaded, head: RequestHead): Page {
    const form = brotli !== null && takesCoding(head.kept('accept-encoding'), 'br') ? brotli : plain
    const { bytes, etag } = form
    const headers = [
      'etag',
      etag,
      'vary',
      'accept-encoding',
      'x-content-type-options',
      'nosniff',
      ...this.#headers,
    ]
    if (!this.#headers.includes('cache-control')) headers.push('cache-control', 'no-cache')
    if (hasForm(head.kept('if-none-match'), etag)) return { status: NOT_MODIFIED, headers, body: bytes }
    headers.push('content-type', this.#contentType, ...form.headers)
    return { status: OK, headers, body: bytes }
  }
}
