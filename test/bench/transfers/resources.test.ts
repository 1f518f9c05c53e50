import t from 'tap'
import { loopP99Of } from '../../../bench/transfers/gateway.ts'
import { cpuBetween, kindOf, MemoryWatch, readCpu, totalOf } from '../../../bench/transfers/resources.ts'

t.test('distinguishes the processes of a node by their names', async (t) => {
  const kind = (name: string, ...words: readonly string[]): string => kindOf({ name, arguments: words })
  t.equal(kind('sluice', 'sluice front 0'), 'front')
  t.equal(kind('sluice', 'sluice runner 0'), 'runner')
  t.equal(kind('node', '/usr/bin/node', '/opt/bin/sluice', 'serve'), 'supervisor')
  t.equal(kind('node', '/usr/bin/node', '/opt/bin/sluice', 'spare'), 'spare')
  t.equal(kind('postgres', 'postgres: sluice sluice [local] idle'), 'postgres')
  t.equal(kind('redis-server', 'redis-server unixsocket:/run/redis.sock'), 'redis')
  t.equal(kind('nginx', 'nginx: worker process'), 'nginx')
})

t.test('counts the first thread of a process apart from its other threads', async (t) => {
  const before = readCpu(process.pid, ({ pid }) => pid === process.pid)
  const from = process.cpuUsage()
  while (process.cpuUsage(from).user < 200_000);
  const used = cpuBetween(
    before,
    readCpu(process.pid, ({ pid }) => pid === process.pid),
  )
  t.ok(used.mainS > 0.1, `${used.mainS} s`)
  t.ok(used.mainS > used.threadsS)
})

t.test('the peak of a process tree is its maximum, and at least its current memory', async (t) => {
  const watch = new MemoryWatch(process.pid)
  const before = totalOf(watch.now)
  const held = Buffer.alloc(64e6, 1)
  const peak = totalOf(watch.end())
  // The collector may give back some of what was there before.
  t.ok(peak - before >= 48e6, `${peak - before} bytes more for ${held.length}`)
})

t.test("the loop's figure is the 99th percentile of the metrics, in milliseconds", async (t) => {
  const text =
    'sluice_event_loop_delay_seconds{percentile="50"} 0.001\nsluice_event_loop_delay_seconds{percentile="99"} 0.0125\n'
  t.equal(loopP99Of(text), 12.5)
  t.equal(loopP99Of('up 1\n'), null)
})
