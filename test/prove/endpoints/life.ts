/** A node's two fronts and its upstream, and what is asked of them in the life of a private endpoint. */
import { request, type Agent } from 'node:http'
import { setTimeout as after } from 'node:timers/promises'
import type { FileStand } from '../../support/files/file-stand.ts'
import type { ScriptedProvider } from '../../support/embeddings/provider.ts'
import { connectToEach } from '../both-fronts.ts'
import type { Proof } from '../proof.ts'

export const SECRET = 'upstream_key'
export const HOST = 'localhost'
export const MODEL = 'prove/own'
export const GIVE_UP_MS = 90_000

export interface Answer {
  readonly status: number
  readonly body: {
    readonly data?: Readonly<Record<string, unknown>> & { readonly checks?: readonly Check[] }
    readonly usage?: { readonly is_byok?: boolean }
    readonly error?: { readonly metadata: { readonly error_type: string } }
  }
}

interface Check {
  readonly name: string
  readonly passed: boolean
  readonly reason?: string
}

export interface Life {
  readonly proof: Proof
  readonly node: FileStand
  readonly upstream: ScriptedProvider
  readonly fields: Readonly<Record<string, unknown>>
  /** A kept-alive connection to each front; `reconnected` opens them again. */
  fronts: readonly Agent[]
  manage(method: string, path: string, body?: unknown): Promise<Answer>
  call(method: string, path: string, body?: unknown, agent?: Agent): Promise<Answer>
  embed(front: number, model?: string): Promise<Answer>
}

export async function openLife(proof: Proof, node: FileStand, upstream: ScriptedProvider): Promise<Life> {
  const { keys, port } = node.stand
  const fields = {
    model_permaslug: MODEL,
    provider_slug: 'openai-compatible',
    upstream_model_id: 'own-embed',
    // Each reason is that of one form.
    forms: ['embeddings'],
    base_url: `https://${HOST}:${new URL(upstream.origin).port}/v1`,
    secret_name: SECRET,
    pricing: { prompt: '0.000001', completion: '0' },
  }
  const call: Life['call'] = (method, path, body, agent) =>
    ask({ port, key: keys.inference_key, method, path, body, agent })
  const life: Life = {
    proof,
    node,
    upstream,
    fields,
    fronts: [],
    call,
    manage: (method, path, body) =>
      ask({ port, key: keys.management_key, method, path: `/private-endpoints${path}`, body }),
    embed: (front, model = MODEL) =>
      call('POST', '/embeddings', { model, input: 'some text' }, life.fronts[front]),
  }
  proof.after(() => Promise.resolve(life.fronts.forEach((agent) => agent.destroy())))
  return life
}

/**
 * A connection that has rested for as long as a front lets it would end as it is used, or come to the other
 * front.
 */
export async function reconnected(life: Life): Promise<void> {
  for (const agent of life.fronts) agent.destroy()
  life.fronts = await connectToEach(life.node.stand)
}

interface Asking {
  readonly port: number
  readonly key: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly agent?: Agent | undefined
}

function ask({ port, key, method, path, body, agent }: Asking): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path: `/api/v1${path}`,
        headers,
        ...(agent !== undefined && { agent }),
      },
      (answer) => {
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.on('end', () => {
          const text = Buffer.concat(pieces).toString()
          resolve({
            status: answer.statusCode ?? 0,
            body: (text === '' ? {} : JSON.parse(text)) as Answer['body'],
          })
        })
      },
    )
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

export async function storeSecret(
  { call }: Life,
  value: string,
  hosts: readonly string[] = [HOST],
): Promise<void> {
  const { status } = await call('PUT', `/vault/secrets/${SECRET}`, { hosts, value })
  if (status !== 200) throw new Error(`the secret is not stored: ${status}`)
}

export async function create({ manage, fields }: Life, more: object = {}): Promise<string> {
  const { status, body } = await manage('POST', '', { ...fields, ...more })
  if (status !== 201) throw new Error(`no draft: ${status} ${JSON.stringify(body)}`)
  return String(body.data?.['id'])
}

export const validate = (
  { manage, node }: Life,
  id: string,
  workspaceId = node.workspaceId,
): Promise<Answer> => manage('POST', `/${id}/validate`, { workspace_id: workspaceId })
export const activate = ({ manage }: Life, id: string): Promise<Answer> => manage('POST', `/${id}/activate`)

/** @returns milliseconds until both fronts answer so */
export async function untilBoth(life: Life, status: number): Promise<number> {
  const startedAt = performance.now()
  for (const front of life.fronts.keys()) {
    while ((await life.embed(front)).status !== status) {
      if (performance.now() - startedAt > GIVE_UP_MS)
        throw new Error(`front ${front} never answers ${status}`)
      await after(5)
    }
  }
  return performance.now() - startedAt
}

export async function untilEach(life: Life, isSo: (front: number) => Promise<boolean>): Promise<boolean> {
  const endsAt = performance.now() + GIVE_UP_MS
  for (const front of life.fronts.keys()) {
    while (!(await isSo(front))) {
      if (performance.now() > endsAt) return false
      await after(5)
    }
  }
  return true
}
