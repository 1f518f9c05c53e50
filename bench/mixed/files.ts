/** Removes uploaded files while the mix runs, since quota and disk are limited. */
import { Agent, request } from 'node:http'
import type { Stand } from '../../test/support/nodes/stand.ts'

export interface MixedFiles {
  /** Id of the file that reads use. */
  readonly keptId: string
  /** Removes the remaining files. */
  close(): Promise<void>
}

const LOOK_MS = 500
const DELETIONS = 4
const LIST_MAX = 100

interface FileAnswer {
  readonly status: number
  readonly body: { readonly id?: string; readonly data?: readonly { readonly id: string }[] }
}

export async function openFiles(stand: Stand): Promise<MixedFiles> {
  const files = new Files(stand)
  const keptId = await files.put()
  const timer = setInterval(() => void files.sweep(keptId), LOOK_MS)
  return {
    keptId,
    async close() {
      clearInterval(timer)
      await files.end()
    },
  }
}

class Files {
  readonly #stand: Stand
  readonly #agent = new Agent({ keepAlive: true, maxSockets: DELETIONS })
  #sweeping: Promise<void> | null = null

  constructor(stand: Stand) {
    this.#stand = stand
  }

  async put(): Promise<string> {
    const text =
      '--kept\r\ncontent-disposition: form-data; name="file"; filename="kept.txt"\r\n\r\na file that stays\r\n--kept--\r\n'
    const { status, body } = await this.#ask('POST', '/files', {
      type: 'multipart/form-data; boundary=kept',
      text,
    })
    if (status !== 200 || body.id === undefined)
      throw new Error(`the file that reads ask for was not stored: ${status}`)
    return body.id
  }

  /**
   * Removes files, one sweep at a time; the next sweep repeats failed removals: a node that restarts refuses
   * some.
   */
  sweep(keptId: string): Promise<void> {
    this.#sweeping ??= this.#remove(keptId)
      .catch(() => undefined)
      .finally(() => (this.#sweeping = null))
    return this.#sweeping
  }

  /** Removes all files, also the kept one. */
  async end(): Promise<void> {
    await this.#sweeping
    await this.sweep('')
    this.#agent.destroy()
  }

  async #remove(keptId: string): Promise<void> {
    const { body } = await this.#ask('GET', `/files?limit=${LIST_MAX}`)
    const ids = (body.data ?? []).map(({ id }) => id).filter((id) => id !== keptId)
    const next = ids[Symbol.iterator]()
    const work = async (): Promise<void> => {
      for (const id of next) await this.#ask('DELETE', `/files/${id}`)
    }
    await Promise.all(Array.from({ length: DELETIONS }, work))
  }

  #ask(
    method: string,
    path: string,
    body: { readonly type: string; readonly text: string } | null = null,
  ): Promise<FileAnswer> {
    const headers = {
      authorization: `Bearer ${this.#stand.keys.inference_key}`,
      ...(body === null ? {} : { 'content-type': body.type, 'content-length': Buffer.byteLength(body.text) }),
    }
    return new Promise((resolve, reject) => {
      const req = request({
        host: '127.0.0.1',
        port: this.#stand.port,
        method,
        path: `/api/v1${path}`,
        headers,
        agent: this.#agent,
      })
      req.once('error', reject)
      req.once('response', (res) => {
        let text = ''
        res.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        res.once('error', reject)
        res.once('end', () =>
          resolve({
            status: res.statusCode ?? 0,
            body: text.startsWith('{') ? (JSON.parse(text) as FileAnswer['body']) : {},
          }),
        )
      })
      req.end(body?.text)
    })
  }
}
