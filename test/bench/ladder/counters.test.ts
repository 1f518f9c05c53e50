import t from 'tap'
import {
  countsOf,
  figuresOf,
  scaledCpu,
  usedBetween,
  without,
  type ProcessCount,
} from '../../../bench/ladder/counters.ts'
import { countOfPerf, totalOfStrace } from '../../../bench/ladder/system-calls.ts'
import { tree } from '../../support/load/process-cpu.ts'

const skip = process.platform !== 'linux' && 'processes are counted in /proc'

function count(pid: number, kind: ProcessCount['kind'], s: number): ProcessCount {
  return { pid, kind, cpuS: s, tickedS: s, systemS: s / 4, mainS: s / 2, switches: 10 * s, fileCalls: s }
}

t.test('reports CPU use by kind of process, and all use of a process that started later', async (t) => {
  const before = [count(1, 'serving', 4), count(2, 'postgres', 1)]
  const used = usedBetween(before, [count(1, 'serving', 6), count(2, 'postgres', 2), count(3, 'others', 1)])
  t.same(used.cpuS, { serving: 2, postgres: 1, redis: 0, others: 1 })
  t.match(used, { systemS: 1, userS: 3, mainS: 1, switches: 40, fileCalls: 2 })
})

t.test('takes the CPU time from the finer account, and its user and system parts from ticks', async (t) => {
  const [before, after] = [count(1, 'serving', 0), { ...count(1, 'serving', 4), cpuS: 5 }]
  t.match(usedBetween([before], [after]), { systemS: 1.25, userS: 3.75 })
})

t.test('leaves the use of idle stores out of the price', async (t) => {
  const used = usedBetween([], [count(1, 'serving', 2), count(2, 'postgres', 2)])
  const atRest = scaledCpu({ serving: 0, postgres: 0.5, redis: 0, others: 0 }, 2)
  const rest = without(used, atRest)
  t.same(rest.cpuS, { serving: 2, postgres: 1, redis: 0, others: 0 })
  t.match(rest, { systemS: 0.75, userS: 2.25 })
  t.match(figuresOf(rest, 1_000_000), { user_us: 2.25, system_us: 0.75, main_us: 1, postgres_us: 1 })
})

t.test('reads CPU, main-thread time and switches of a running process', { skip }, async (t) => {
  const [own] = countsOf(
    tree(process.pid).filter(({ pid }) => pid === process.pid),
    process.pid,
  )
  t.equal(own?.kind, 'serving')
  t.ok((own?.cpuS ?? 0) >= (own?.mainS ?? Infinity) && (own?.mainS ?? 0) > 0)
  t.ok((own?.switches ?? 0) > 0)
})

t.test('reads the perf count from the first column, or null when perf could not count', async (t) => {
  t.equal(countOfPerf('48213,,raw_syscalls:sys_enter,1302456789,100.00,,\n'), 48_213)
  t.equal(countOfPerf('<not counted>,,raw_syscalls:sys_enter,0,0.00,,\n'), null)
})

t.test('the total of an strace summary is its call count, with or without an errors column', async (t) => {
  const summary = (total: string): string => `strace: Process 7 attached
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.12    0.012345           1      1200         7 recvfrom
------ ----------- ----------- --------- --------- ----------------
${total}
strace: Process 7 detached`
  t.equal(totalOfStrace(summary('100.00    0.020345           1      4321         7 total')), 4_321)
  t.equal(totalOfStrace(summary('100.00    0.020345           1      4321           total')), 4_321)
  t.equal(totalOfStrace('strace: attach: ptrace(PTRACE_SEIZE, 7): Operation not permitted'), null)
})
