import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { plainEnvironment } from './load.ts'
import { treeCpuS } from './process-cpu.ts'

const skip = process.platform !== 'linux' && 'CPU is read from /proc'
/** Seconds that a program burns, by its own clock. */
const BURNT_S = 0.3
const BURN = `while (process.cpuUsage().user < ${BURNT_S * 1e6});`
const env = plainEnvironment()

t.test('the CPU time of a child counts once it has ended', { skip }, async (t) => {
  const before = treeCpuS(process.pid)
  spawnSync(process.execPath, ['-e', BURN], { env })
  const used = treeCpuS(process.pid) - before
  t.ok(used >= BURNT_S * 0.9, `${used} s`)
})

t.test('a grandchild that runs counts by itself', { skip }, async (t) => {
  const code = `const { spawn } = require('node:child_process')
    spawn(process.execPath, ['-e', ${JSON.stringify(`${BURN} console.log('burnt'); setInterval(() => {}, 1000)`)}], { stdio: 'inherit' })`
  const child = spawn(process.execPath, ['-e', code], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  t.teardown(() => void (child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')))
  await once(child.stdout, 'data')
  const used = treeCpuS(child.pid ?? 0)
  t.ok(used >= BURNT_S * 0.9, `${used} s`)
})

t.test('a process that does not exist has used nothing', { skip }, async (t) => {
  t.equal(treeCpuS(0), 0)
})
