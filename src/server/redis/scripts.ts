import { createHash } from 'node:crypto'
import { isRefusal, type State } from './open.ts'

/** A Redis script; it is called by its hash. */
export interface Script {
  readonly text: string
  readonly sha: string
}

export function scriptOf(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

export interface ScriptCall {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
  /** Milliseconds that the caller may still wait. */
  readonly waitMsMax: number
}

interface Waiting {
  readonly call: ScriptCall
  resolve(answer: unknown): void
  reject(cause: unknown): void
}

/** Runs a script. Rejects when Redis does not answer in time; Redis then counts as unreachable. */
export type RunScript = (call: ScriptCall) => Promise<unknown>

/** The scripts of one microtask are sent in one write, in order. */
export function openScripts(state: State): RunScript {
  let batch: Waiting[] = []
  const flush = (): void => {
    const sent = batch
    batch = []
    void send(state, sent)
  }
  return (call) =>
    new Promise((resolve, reject) => {
      batch.push({ call, resolve, reject })
      if (batch.length === 1) queueMicrotask(flush)
    })
}

async function send(state: State, batch: readonly Waiting[]): Promise<void> {
  let isOver = false
  const cutOff = setTimeout(
    () => {
      // An event loop that was blocked must first read an answer that is already in the socket before Redis counts as slow.
      setImmediate(() => {
        if (isOver) return
        state.trip()
        for (const { reject } of batch) reject(new Error('Redis did not answer in time'))
      })
    },
    Math.max(1, Math.min(...batch.map(({ call }) => call.waitMsMax))),
  )
  try {
    const { unknown, refusal } = settle(batch, await runAll(state, batch))
    if (refusal === null) state.answered()
    else state.refused(refusal)
    if (unknown.length === 0) return
    // Redis was restarted or its scripts were flushed.
    const texts = new Set(unknown.map(({ call }) => call.script.text))
    await Promise.all([...texts].map((text) => state.redis.script('LOAD', text)))
    const again = settle(unknown, await runAll(state, unknown))
    const cause =
      again.unknown.length > 0 ? new Error('NOSCRIPT: Redis keeps losing the script') : again.refusal
    if (cause !== null) state.refused(cause)
    for (const { reject } of again.unknown) reject(cause)
  } catch (cause) {
    for (const { reject } of batch) reject(cause)
  } finally {
    isOver = true
    clearTimeout(cutOff)
  }
}

type Answer = readonly [Error | null, unknown]

async function runAll(state: State, batch: readonly Waiting[]): Promise<readonly Answer[]> {
  const pipeline = state.redis.pipeline()
  for (const { call } of batch)
    pipeline.evalsha(call.script.sha, call.keys.length, ...call.keys, ...call.args)
  return (await pipeline.exec()) ?? []
}

interface Settled {
  /** Calls whose scripts were not loaded in Redis. */
  readonly unknown: readonly Waiting[]
  readonly refusal: Error | null
}

function settle(batch: readonly Waiting[], answers: readonly Answer[]): Settled {
  let refusal: Error | null = null
  const unknown = batch.filter(({ resolve, reject }, i) => {
    const [error, answer] = answers[i] ?? [new Error('no answer'), null]
    if (error?.message.startsWith('NOSCRIPT') === true) return true
    if (error === null) resolve(answer)
    else {
      if (isRefusal(error)) refusal = error
      reject(error)
    }
    return false
  })
  return { unknown, refusal }
}
