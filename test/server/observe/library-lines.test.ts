import { join } from 'node:path'
import t from 'tap'
import { FakeS3, s3Settings } from '../../support/files/s3.ts'
import { nodeSettings, runToEnd, sluice, startNode, until } from '../../support/nodes/node.ts'

// A whole node starts here, on a machine that may be busy.
t.setTimeout(600_000)

/** A signal at which any process of the node prints as libraries do. */
const PRINTING = `
  process.on('SIGURG', () => {
    console.warn('[WARN] of %s\\nfrom a library', 'postgres://me:hunter2hunter2@db/x')
    process.emitWarning('NodeVersionSupportWarning: wants\\nanother Node')
  })`

t.test('logs library output of each process, one entry per line, without secrets', async (t) => {
  const preload = join(t.testdir({ 'printing.mjs': PRINTING }), 'printing.mjs')
  const node = await startNode(t, { ...(await nodeSettings(t)), NODE_OPTIONS: `--import ${preload}` })
  const textsOf = (role: string): readonly unknown[] =>
    node
      .lines()
      .filter((line) => line['event'] === 'library_line' && line['role'] === role)
      .map((line) => line['text'])
  await node.signal('front', 'SIGURG')
  await node.signal('runner', 'SIGURG')
  process.kill(node.pid, 'SIGURG')
  for (const role of ['front', 'runner', 'supervisor']) {
    await until(`the ${role} logs both`, () => textsOf(role).length >= 2)
    t.same(textsOf(role).slice(0, 2), [
      '[WARN] of postgres://[secret]@db/x from a library',
      'Warning: NodeVersionSupportWarning: wants another Node',
    ])
  }
  t.notMatch(node.output(), /^(\(node:|from a library|another Node)/m)
})

t.test('a verb that uses the AWS SDK prints nothing about the version of Node', async (t) => {
  const settings = { ...(await nodeSettings(t)), ...s3Settings(await FakeS3.start(t)) }
  const { stdout, stderr } = await runToEnd(settings, sluice('doctor'))
  t.match(stdout, /storage/)
  t.notMatch(stdout + stderr, /NodeVersionSupportWarning/)
})
