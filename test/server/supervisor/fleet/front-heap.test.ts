import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  BRIEF_HEAP_MIB,
  FRONT_BYTES_MAX,
  FRONT_HEAP_MIB,
  FRONT_REST_MIB,
  LONG_HEAP_MIB,
  NODE_REST_BYTES,
} from '../../../../src/schemas/operator/memory-limits.ts'
import { MIB } from '../../../../src/schemas/limits/limits.ts'
import { memoryFinding } from '../../../../src/server/cli/operator/doctor/examine.ts'
import { Child, FRONT_HEAP, YOUNG_HEAP } from '../../../../src/server/supervisor/fleet/child.ts'
import { deployFile } from '../../../support/nodes/deploy.ts'
import { plainEnvironment } from '../../../support/load/load.ts'
import { ROOT } from '../../../support/source.ts'

const GIB = 1_024 * MIB

/** Runs `code` in a process of these flags; `heapMib` in it is the limit of the heap that asks. */
function run(flags: readonly string[], code: string): ReturnType<typeof spawnSync> {
  const heapMib =
    "import v8 from 'node:v8'; const heapMib = () => v8.getHeapStatistics().heap_size_limit / 2 ** 20;"
  return spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', `${heapMib} ${code}`], {
    env: plainEnvironment(),
    encoding: 'utf8',
  })
}

t.test('the heap of a front has its own bound, and those of its threads have theirs', async (t) => {
  const { stdout, stderr } = run(
    FRONT_HEAP,
    `
    import { Worker } from 'node:worker_threads'
    const { threadHeap } = await import('${ROOT}dist/src/workers/thread-heap.js')
    const resourceLimits = threadHeap({ heapMib: 1500, semiSpaceMib: 1 })
    const code = "require('node:worker_threads').parentPort.postMessage(require('node:v8').getHeapStatistics().heap_size_limit / 2 ** 20)"
    new Worker(code, { eval: true, execArgv: [], resourceLimits }).once('message', (thread) => console.log(JSON.stringify({ own: heapMib(), thread })))
  `,
  )
  const { own, thread } = JSON.parse(String(stdout) || JSON.stringify(String(stderr))) as {
    own: number
    thread: number
  }
  t.ok(own >= FRONT_HEAP_MIB && own < FRONT_HEAP_MIB + 32, `${own} MiB`)
  t.ok(thread >= 1_500 && thread < 1_532, `${thread} MiB`)
})

t.test('a front whose heap is full ends with a signal that identifies the cause', async (t) => {
  t.equal(
    run(
      [...YOUNG_HEAP, '--max-old-space-size=32'],
      'const all = []; for (;;) all.push(Array(1e4).fill(all.length + 0.5))',
    ).signal,
    'SIGABRT',
  )
  const front = new Child('front', true)
  process.kill(front.pid, 'SIGABRT')
  t.match(await front.ended, /^SIGABRT: .*heap was full/)
})

t.test(
  'fronts have the heap limit, runners have none',
  { skip: process.platform !== 'linux' && 'the command line is read from /proc' },
  async (t) => {
    const flag = `--max-old-space-size=${FRONT_HEAP_MIB}`
    for (const [role, isBounded] of [
      ['front', true],
      ['runner', false],
    ] as const) {
      const child = new Child(role, true)
      t.equal(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0').includes(flag), isBounded, role)
      child.kill()
      await child.ended
    }
  },
)

t.test(
  'the maximum memory of a front is the sum on the deployment page, and fits the deployment files',
  async (t) => {
    const [, part = ''] =
      /## Memory\n([\s\S]*?)\n## /.exec(readFileSync(`${ROOT}docs/operate/deployment.md`, 'utf8')) ?? []
    const parts = [...part.matchAll(/^\| .* \| (\d+) MiB \| .* \|$/gm)].map(([, figure]) => Number(figure))
    t.equal(parts.reduce((sum, figure) => sum + figure, 0) * MIB, FRONT_BYTES_MAX)
    for (const figure of [BRIEF_HEAP_MIB, LONG_HEAP_MIB, FRONT_HEAP_MIB, FRONT_REST_MIB])
      t.ok(parts.includes(figure), `${figure} MiB`)
    const each = `${FRONT_BYTES_MAX / GIB} GiB for each front and ${NODE_REST_BYTES / GIB} GiB`
    const prose = part.replaceAll('\n', ' ')
    t.match(prose, `\`MemoryMax=\`, ${each}`)
    t.match(deployFile('systemd/sluice.service'), `MemoryMax=, if set, is ${each}`)
    const pod = 2 * FRONT_BYTES_MAX + NODE_REST_BYTES
    t.match(prose, `allows ${pod / GIB} GiB`)
    t.match(
      deployFile('kubernetes/sluice.yaml'),
      new RegExp(`SLUICE_FRONTS: "2"[\\s\\S]*limits: { memory: ${pod / MIB}Mi }`),
    )
  },
)

t.test('doctor warns of a pod or unit that allows less than its fronts may take', async (t) => {
  const needed = 2 * FRONT_BYTES_MAX + NODE_REST_BYTES
  t.match(memoryFinding(needed, 2), {
    level: 'ok',
    detail:
      'the control group allows 6656 MiB; 2 fronts and the other processes of the node may use 6656 MiB',
  })
  t.match(memoryFinding(needed - 1, 2), { level: 'warning', fix: /6656 MiB.*SLUICE_FRONTS/ })
  t.match(memoryFinding(needed, 1), { level: 'ok', detail: /one front / })
})
