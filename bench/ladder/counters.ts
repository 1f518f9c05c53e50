/** What the processes of a subject have used, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs'
import type { ProcessRow } from '../../test/support/load/process-cpu.ts'
import { kindOf } from '../transfers/resources.ts'

/** Sums since the start of one process. */
export interface ProcessCount {
  readonly pid: number
  readonly kind: Kind
  /** Seconds of all threads, in nanoseconds' resolution where the kernel keeps it. */
  readonly cpuS: number
  /** Seconds in the kernel, in clock ticks. */
  readonly systemS: number
  /** Seconds of all threads in clock ticks, of which `systemS` is a part. */
  readonly tickedS: number
  /** Seconds of the first thread. */
  readonly mainS: number
  readonly switches: number
  /** Calls of the read and write families; those of sockets by `recv` and `send` are not among them. */
  readonly fileCalls: number
}

/** The process that serves the calls, and the others by what they are. */
export type Kind = 'serving' | 'postgres' | 'redis' | 'others'

/** @param serving the process that serves the calls */
export function countsOf(rows: readonly ProcessRow[], serving: number): readonly ProcessCount[] {
  return rows.map((row) => {
    const threads = threadsOf(row.pid)
    const timed = threads.map(({ cpuS }) => cpuS)
    return {
      pid: row.pid,
      kind: row.pid === serving ? 'serving' : storeOf(row),
      cpuS: timed.includes(null) || timed.length === 0 ? row.cpuS : sum(timed.map((one) => one ?? 0)),
      systemS: row.systemS,
      tickedS: row.cpuS,
      mainS: threads.find(({ id }) => id === row.pid)?.cpuS ?? row.cpuS,
      switches: sum(threads.map(({ switches }) => switches)),
      fileCalls: fileCallsOf(row.pid),
    }
  })
}

function storeOf(row: ProcessRow): Kind {
  const kind = kindOf(row)
  return kind === 'postgres' || kind === 'redis' ? kind : 'others'
}

interface ThreadCount {
  readonly id: number
  /** Null: the kernel keeps no such account. */
  readonly cpuS: number | null
  readonly switches: number
}

const NS_PER_S = 1e9

function threadsOf(pid: number): readonly ThreadCount[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((name) => {
      const folder = `/proc/${pid}/task/${name}`
      const ran = Number(textOf(`${folder}/schedstat`).split(' ')[0])
      const counted = [...textOf(`${folder}/status`).matchAll(/^(?:non)?voluntary_ctxt_switches:\s+(\d+)$/gm)]
      return {
        id: Number(name),
        cpuS: ran > 0 ? ran / NS_PER_S : null,
        switches: sum(counted.map(([, count]) => Number(count))),
      }
    })
  } catch {
    // The process has ended.
    return []
  }
}

function fileCallsOf(pid: number): number {
  return sum([...textOf(`/proc/${pid}/io`).matchAll(/^sysc[rw]: (\d+)$/gm)].map(([, count]) => Number(count)))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0)
}

/** CPU seconds. */
export type CpuByKind = Readonly<Record<Kind, number>>

/** What was used between two counts, by kind of process. */
export interface Used {
  readonly cpuS: CpuByKind
  readonly systemS: number
  readonly userS: number
  /** Of the serving process. */
  readonly mainS: number
  readonly switches: number
  readonly fileCalls: number
}

/** A process that began meanwhile counts from its start; what one that ended had used is lost. */
export function usedBetween(before: readonly ProcessCount[], after: readonly ProcessCount[]): Used {
  const known = new Map(before.map((one) => [one.pid, one]))
  const of = (kind: Kind | null, read: (one: ProcessCount) => number): number =>
    sum(
      after
        .filter((one) => kind === null || one.kind === kind)
        .map((one) => {
          const earlier = known.get(one.pid)
          return read(one) - (earlier === undefined ? 0 : read(earlier))
        }),
    )
  const cpuOf = (kind: Kind): number => of(kind, ({ cpuS }) => cpuS)
  const cpuS = {
    serving: cpuOf('serving'),
    postgres: cpuOf('postgres'),
    redis: cpuOf('redis'),
    others: cpuOf('others'),
  }
  const allS = sum(Object.values(cpuS))
  const tickedS = of(null, (one) => one.tickedS)
  // Ticks tell how the time is divided, and the finer account how much it is.
  const systemS = tickedS > 0 ? (allS * of(null, (one) => one.systemS)) / tickedS : 0
  return {
    cpuS,
    systemS,
    userS: allS - systemS,
    mainS: of('serving', (one) => one.mainS),
    switches: of(null, (one) => one.switches),
    fileCalls: of('serving', (one) => one.fileCalls),
  }
}

/** Leaves out what is used without any load, which is no part of a call's price. */
export function without(used: Used, atRest: CpuByKind): Used {
  const { serving, postgres, redis, others } = used.cpuS
  const cpuS = {
    serving: serving - atRest.serving,
    postgres: postgres - atRest.postgres,
    redis: redis - atRest.redis,
    others: others - atRest.others,
  }
  const [before, after] = [sum(Object.values(used.cpuS)), sum(Object.values(cpuS))]
  const share = before > 0 ? Math.max(0, after / before) : 0
  return {
    ...used,
    cpuS,
    systemS: used.systemS * share,
    userS: used.userS * share,
    mainS: used.mainS - atRest.serving,
  }
}

/** The same for a longer or shorter time. */
export function scaledCpu(cpu: CpuByKind, by: number): CpuByKind {
  const { serving, postgres, redis, others } = cpu
  return { serving: serving * by, postgres: postgres * by, redis: redis * by, others: others * by }
}

/** Figures of a request by their names in `FURTHER_FIGURES`. */
export function figuresOf(used: Used, requests: number): Readonly<Record<string, number>> {
  const us = (s: number): number => (s / requests) * 1e6
  const { cpuS } = used
  return {
    user_us: us(used.userS),
    system_us: us(used.systemS),
    main_us: us(used.mainS),
    threads_us: us(cpuS.serving - used.mainS),
    postgres_us: us(cpuS.postgres),
    redis_us: us(cpuS.redis),
    others_us: us(cpuS.others),
    switches: used.switches / requests,
  }
}
