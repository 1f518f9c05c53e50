import { join } from 'node:path'
import t from 'tap'
import { nodeSettings, startNode, until } from '../../support/nodes/node.ts'

// A whole node starts here, on a machine that may be busy.
t.setTimeout(600_000)

/** Two signals that make any process of the node fail with an error that is not caught. */
const FAILING = `
  const problem = () => new Error('no answer from postgres://me:hunter2hunter2@db/x')
  process.on('SIGUSR2', () => { throw problem() })
  process.on('SIGURG', () => { Promise.reject(problem()) })`

t.test('an uncaught error is logged without secrets and ends the process, in every role', async (t) => {
  const preload = join(t.testdir({ 'failing.mjs': FAILING }), 'failing.mjs')
  const node = await startNode(t, { ...(await nodeSettings(t)), NODE_OPTIONS: `--import ${preload}` })
  const crashOf = (role: string): Record<string, unknown> | undefined =>
    node.lines().find((line) => line['event'] === 'crashed' && line['role'] === role)
  for (const [role, signal] of [
    ['front', 'SIGUSR2'],
    ['runner', 'SIGURG'],
  ] as const) {
    await node.signal(role, signal)
    await until(`the ${role} tells`, () => crashOf(role) !== undefined)
    const isEnd = (line: Record<string, unknown>): boolean =>
      line['event'] === 'child_ended' && line['child'] === role
    await until(`the ${role} is gone`, () => node.lines().some(isEnd))
    // Node 20 aborts a process that exits while one of its threads is still loading.
    t.match(node.lines().find(isEnd), { how: /^(exit code 1|SIGABRT)$/ })
  }
  process.kill(node.pid, 'SIGUSR2')
  t.equal(await node.ended, 1)
  for (const role of ['front', 'runner', 'supervisor']) {
    t.match(crashOf(role), {
      level: 'error',
      cause: { message: 'no answer from postgres://[secret]@db/x', stack: /at / },
    })
  }
  t.notMatch(node.output(), /hunter2/)
})
