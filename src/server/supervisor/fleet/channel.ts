import { url as inspectorUrl } from 'node:inspector'
import type { HistoryData } from '../../../schemas/operator/history.ts'
import type { HistoryInput } from '../../../schemas/operator/history-range.ts'
import type { FrontFigures } from '../../observe/history/figure-reader.ts'
import type { HistoryHour } from '../../ports/operator/history.ts'
import type { LiveReading } from '../../observe/live-reader.ts'
import type { FromChild, KeyList, StartedPart, ToChild } from './ipc.ts'
import { every } from '../../structures/ticks.ts'
import { HISTORY_ANSWER_MS_MAX } from '../../../schemas/operator/admin-port-limits.ts'

/** Milliseconds between two heartbeats; a front that misses three of them counts as not ready. */
const PULSE_MS = 1_000

export interface PulseSources {
  /** Returns whether there were calls since the previous call of this function. */
  hasCalls(): boolean
  /** Returns whether the connections to Postgres answer. */
  hasStore(): boolean
  /** Returns the figures since the previous call of this function; null when there are none. */
  figures(): FrontFigures | null
}

/** @param idleMs milliseconds for which a front that is not being replaced keeps connections without a call */
type DrainListener = (isReplaced: boolean, idleMs: number) => void

/** A forked process's side of the channel to its supervisor. */
export interface Channel {
  readonly start: Promise<StartedPart>
  /** The keys that another front has cached; empty when there is no such front. */
  readonly keys: Promise<KeyList>
  tell(message: FromChild): void
  /** Starts the heartbeats, which show the supervisor that the event loop is running. */
  pulse(sources: PulseSources): void
  /** Sends the figures since the last heartbeat, of a process that ends. */
  lastPulse(): Promise<void>
  /** Lines of the node's history; null when the supervisor does not answer in time. */
  history(input: HistoryInput): Promise<HistoryData | null>
  onAnnounced(listener: () => void): void
  onDrain(listener: DrainListener): void
  /** @param listener receives the number of connections that the node may hold from now on */
  onScaled(listener: (connections: number) => void): void
  onSnapshot(snapshot: () => Promise<unknown>): void
  onLook(read: () => LiveReading): void
  onKnownKeys(list: () => KeyList): void
  onSweep(listener: () => void): void
  /** @param keep writes an hour of the node's history, and resolves to whether it is written */
  onRollUp(keep: (hour: HistoryHour) => Promise<boolean>): void
}

/**
 * Opens the channel, once per process. The process ends when the channel closes, since its supervisor is gone
 * then. The process ignores the signals that a terminal or a service manager sends to a whole group, and
 * waits for `drain`. Design §2.
 */
export function openChannel(): Channel {
  if (process.send === undefined) throw new Error('only `sluice serve` can start this role')
  process.on('disconnect', () => process.exit(0))
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined)
  const drains: DrainListener[] = []
  const announcements: (() => void)[] = []
  const sweeps: (() => void)[] = []
  const scalings: ((connections: number) => void)[] = []
  let snapshot: () => Promise<unknown> = () => Promise.resolve(null)
  let read: (() => LiveReading) | null = null
  let list: () => KeyList = () => ''
  let keepHour: (hour: HistoryHour) => Promise<boolean> = () => Promise.resolve(false)
  let beat: () => Promise<void> = () => Promise.resolve()
  const histories = new PendingRequests<HistoryData>(HISTORY_ANSWER_MS_MAX)
  let beginWith: (keys: KeyList) => void = () => undefined
  const keys = new Promise<KeyList>((resolve) => {
    beginWith = resolve
  })
  const tell = (message: FromChild): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
  }
  const start = new Promise<StartedPart>((resolve) => {
    process.on('message', (message: ToChild) => {
      if (message.kind === 'start') resolve(message.part)
      if (message.kind === 'announced') for (const listener of announcements) listener()
      if (message.kind === 'drain')
        for (const listener of drains) listener(message.isReplaced, message.idleMs)
      if (message.kind === 'scaled') for (const listener of scalings) listener(message.connections)
      if (message.kind === 'sweep') for (const listener of sweeps) listener()
      if (message.kind === 'snapshot') void answer(message.id)
      if (message.kind === 'roll_up') void rollUp(message.id, message.hour)
      if (message.kind === 'history') histories.answer(message.id, message.data)
      if (message.kind === 'begin_with') beginWith(message.keys)
      if (message.kind === 'known_keys') tell({ kind: 'known_keys', id: message.id, keys: list() })
      if (message.kind === 'look' && read !== null) tell({ kind: 'looked', id: message.id, reading: read() })
    })
  })
  const answer = async (id: number): Promise<void> => {
    tell({ kind: 'snapshot', id, metrics: await snapshot().catch(() => null) })
  }
  const rollUp = async (id: number, hour: HistoryHour): Promise<void> => {
    tell({ kind: 'rolled_up', id, isKept: await keepHour(hour) })
  }
  return {
    start,
    keys,
    tell,
    pulse: (sources) => {
      beat = startPulse(sources)
    },
    lastPulse: () => beat(),
    history: (input) => histories.ask((id) => tell({ kind: 'history', id, input })),
    onAnnounced: (listener) => announcements.push(listener),
    onSweep: (listener) => sweeps.push(listener),
    onDrain: (listener) => drains.push(listener),
    onScaled: (listener) => scalings.push(listener),
    onSnapshot: (take) => {
      snapshot = take
    },
    onLook: (reader) => {
      read = reader
    },
    onRollUp: (keep) => {
      keepHour = keep
    },
    onKnownKeys: (lister) => {
      list = lister
    },
  }
}

/**
 * At most one heartbeat is in flight: a supervisor that was suspended receives one heartbeat, instead of all that were
 * due meanwhile.
 * @returns sends a heartbeat now, and resolves when it is on its way
 */
function startPulse({ hasCalls, hasStore, figures }: PulseSources): () => Promise<void> {
  let out: Promise<void> | null = null
  const send = (): Promise<void> =>
    new Promise((resolve) => {
      if (process.send === undefined || !process.connected) return resolve()
      const grown = figures()
      const pulse: FromChild = {
        kind: 'pulse',
        isInspected: inspectorUrl() !== undefined,
        hasCalls: hasCalls(),
        hasStore: hasStore(),
        ...(grown !== null && { figures: grown }),
      }
      process.send(pulse, undefined, undefined, () => resolve())
    })
  const beat = (): Promise<void> => {
    out ??= send().finally(() => {
      out = null
    })
    return out
  }
  void beat()
  every(PULSE_MS, () => void beat())
  return async () => {
    await out
    await beat()
  }
}

/** Open requests of one kind to another process, by number: each gets one answer, null when none comes. */
export class PendingRequests<T> {
  readonly #answerMsMax: number
  readonly #out = new Map<number, (answer: T | null) => void>()
  #next = 0

  constructor(answerMsMax: number) {
    this.#answerMsMax = answerMsMax
  }

  ask(send: (id: number) => void): Promise<T | null> {
    const id = this.#next++
    return new Promise((resolve) => {
      const settle = (answer: T | null): void => {
        clearTimeout(timer)
        this.#out.delete(id)
        resolve(answer)
      }
      const timer = setTimeout(settle, this.#answerMsMax, null)
      this.#out.set(id, settle)
      send(id)
    })
  }

  answer(id: number, answer: T | null): void {
    this.#out.get(id)?.(answer)
  }

  /** Settles the open requests with null: the other process has ended. */
  giveUp(): void {
    for (const settle of this.#out.values()) settle(null)
  }
}
