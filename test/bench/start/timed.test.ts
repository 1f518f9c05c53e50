import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readStartOptions } from '../../../bench/start/options.ts'
import { cloneStart, openPlace } from '../../../bench/start/places.ts'
import { timedStart, type Launch } from '../../../bench/start/timed.ts'
import { processes } from '../../support/load/process-cpu.ts'
import { freePort } from '../../support/nodes/spawned.ts'
import { ROOT } from '../../support/source.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Of this process: another suite on the machine runs the same programs. */
const MARK = `start-test-${process.pid}`

/** A program of a few lines instead of a node. */
async function launchOf(t: Test, code: string, startMsMax = 120_000): Promise<Launch> {
  const folder = temporaryFolder(t, MARK)
  const [port, keyFile] = [await freePort(), join(folder, 'keys.json')]
  writeFileSync(join(folder, 'main.mjs'), `const [port, keyFile] = process.argv.slice(2)\n${code}`)
  return {
    command: process.execPath,
    args: [join(folder, 'main.mjs'), String(port), keyFile],
    cwd: folder,
    env: {},
    port,
    keyFile,
    startMsMax,
  }
}

function left(): readonly string[] {
  return processes()
    .filter(({ state, arguments: words }) => state !== 'Z' && words.some((word) => word.includes(`${MARK}-`)))
    .map(({ name }) => name)
}

const SERVER = `
import { createServer } from 'node:http'
import { writeFileSync } from 'node:fs'
let calls = 0
writeFileSync(keyFile, '{"inference_key":"k')
setTimeout(() => writeFileSync(keyFile, '{"inference_key":"k"}'), 100)
createServer((request, response) => {
  calls += 1
  if (calls === 1) return request.socket.destroy()
  response.writeHead(request.headers.authorization === 'Bearer k' && calls > 4 ? 200 : 503).end('{}')
}).listen(Number(port), '127.0.0.1')
`

t.test('waits for a good answer: half a key, a refusal or a broken connection is not one', async (t) => {
  const start = await timedStart(await launchOf(t, SERVER))
  t.ok(start.tookMs >= 100)
  t.ok(start.cpuS > 0)
  await start.stop()
  t.same(left(), [])
})

t.test('reports a node that exits, with its last output', async (t) => {
  await t.rejects(
    timedStart(await launchOf(t, 'console.error("no room"); process.exit(3)')),
    /ended before it answered:\nno room/,
  )
})

t.test('gives up on a node that never answers, and removes everything of it', async (t) => {
  await t.rejects(
    timedStart(await launchOf(t, 'setInterval(() => {}, 1000)', 300)),
    /no good answer within 300 ms/,
  )
  t.same(left(), [])
})

t.test('reports a program that does not exist', async (t) => {
  await t.rejects(timedStart({ ...(await launchOf(t, '')), command: '/nowhere/node' }), /ENOENT/)
})

t.test('a folder that is not a repository cannot be cloned, and the attempt leaves no files', async (t) => {
  await t.rejects(cloneStart('/nowhere'), /git clone failed/)
})

t.test('a node starts on empty data and answers', async (t) => {
  const place = await openPlace(ROOT)
  t.teardown(() => place.remove())
  const start = await place.serve()
  t.ok(start.tookMs > 0 && start.cpuS > 0 && (start.rssBytes ?? 0) > 0)
  await start.stop()
})

t.test('reads the options for repeats, the clone and memory', async (t) => {
  t.match(readStartOptions(['--repeats', '2', '--clone']), { repeats: 2, isClone: true, json: null })
  t.match(readStartOptions(['--memory', '--settle', '5']), { isMemory: true, settle: 5, seconds: 60 })
  t.match(readStartOptions(['--duration', '2']), /^Unknown option/)
})
