import type { Lender } from '../../../../src/server/ports/money/lending.ts'
import { LOCAL_DISK, type JournalDisk } from '../../../../src/server/journal/segment-writer.ts'

/**
 * Between which two steps a process is killed. `part`: half of the bytes are written. `sent`: Postgres was
 * asked, and its answer is not awaited.
 */
export const FRONT_FAULTS = [
  'create:before',
  'create:after',
  'rename:before',
  'rename:after',
  'remove:before',
  'remove:after',
  'write:before',
  'write:part',
  'write:after',
  'open:before',
  'open:after',
  'lend:before',
  'lend:sent',
  'lend:after',
  'flush:before',
  'flush:sent',
  'flush:after',
  'applied:after',
  'give_back:gathered',
  'give_back:written',
  'none',
] as const
export const RECOVERY_FAULTS = [
  'flush:before',
  'flush:sent',
  'flush:after',
  'close:before',
  'close:sent',
  'close:after',
  'none',
] as const
export type Fault = (typeof FRONT_FAULTS)[number] | (typeof RECOVERY_FAULTS)[number]

export interface FaultPoints {
  /** Ends the process here when it is the fault's turn. */
  at(fault: Fault): void
  /** Ends the process a moment after the step was begun, when it is its turn. */
  sent(fault: Fault): void
  readonly disk: JournalDisk
  lender(real: Lender): Lender
}

/** @param nth of its occurrences */
export function faultPoints(wanted: Fault, nth: number): FaultPoints {
  let left = nth
  const isNow = (fault: Fault): boolean => fault === wanted && --left === 0
  const die = (): void => void process.kill(process.pid, 'SIGKILL')
  const at = (fault: Fault): void => {
    if (isNow(fault)) die()
  }
  const sent = (fault: Fault): void => {
    if (isNow(fault)) setTimeout(die, nth % 8)
  }
  const disk: JournalDisk = {
    ...LOCAL_DISK,
    create: (path) => around(['create:before', 'create:after'], () => LOCAL_DISK.create(path)),
    rename: (from, to) => around(['rename:before', 'rename:after'], () => LOCAL_DISK.rename(from, to)),
    remove: (path) => around(['remove:before', 'remove:after'], () => LOCAL_DISK.remove(path)),
    write(file, bytes, length, position) {
      at('write:before')
      if (isNow('write:part')) {
        LOCAL_DISK.write(file, bytes, Math.floor((length * (1 + (nth % 7))) / 8), position)
        die()
      }
      const written = LOCAL_DISK.write(file, bytes, length, position)
      at('write:after')
      return written
    },
  }
  const around = <T>([before, after]: readonly [Fault, Fault], step: () => T): T => {
    at(before)
    const result = step()
    at(after)
    return result
  }
  const asked = async <T>(name: 'open' | 'lend' | 'flush' | 'close', ask: () => Promise<T>): Promise<T> => {
    at(`${name}:before` as Fault)
    const answer = ask()
    sent(`${name}:sent` as Fault)
    const result = await answer
    at(`${name}:after` as Fault)
    return result
  }
  return {
    at,
    sent,
    disk,
    lender: (real) => ({
      open: (owner) => asked('open', () => real.open(owner)),
      lend: (ask) => asked('lend', () => real.lend(ask)),
      pulse: (accounts) => real.pulse(accounts),
      flush: (flush) => asked('flush', () => real.flush(flush)),
      close: (closing) => asked('close', () => real.close(closing)),
    }),
  }
}
