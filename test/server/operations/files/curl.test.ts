/** Every operation of files and containers by curl, in every shape. */
import { spawn, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openFilesFront, type FilesFront } from '../../../support/files/files-front.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openFolder } from '../../../support/files/storage.ts'

t.setTimeout(600_000)

const HAS_CURL = spawnSync('curl', ['--version']).status === 0
const SHAPES = [
  ['openrouter', []],
  ['anthropic', ['-H', 'anthropic-version: 2023-06-01']],
  ['openai', ['-A', 'OpenAI/JS 7.55.0']],
  ['openai', ['-H', 'x-stainless-lang: js']],
] as const

type Curl = (
  ...args: readonly string[]
) => Promise<{ readonly status: number; readonly text: string; readonly json: Record<string, unknown> }>

/** Runs curl as a child process, because this process serves it. */
function curlTo({ url }: FilesFront): Curl {
  return (path = '', ...args) =>
    new Promise((resolve, reject) => {
      const child = spawn('curl', [
        '-sS',
        '-w',
        '\n%{http_code}',
        '-H',
        `Authorization: ${AUTHORIZATION}`,
        ...args,
        url + path,
      ])
      let out = ''
      child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()))
      child.once('error', reject)
      child.once('close', () => {
        const at = out.lastIndexOf('\n')
        const text = out.slice(0, at)
        const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
        resolve({ status: Number(out.slice(at + 1)), text, json })
      })
    })
}

async function stand(
  t: Test,
): Promise<{ readonly curl: Curl; readonly file: string; readonly front: FilesFront }> {
  const front = await openFilesFront(t)
  const file = join(await openFolder(t), 'note.txt')
  await writeFile(file, 'one line\n'.repeat(1_000))
  return { curl: curlTo(front), file, front }
}

if (!HAS_CURL) t.comment('there is no curl here: nothing was shown')
else {
  for (const [shape, shaped] of SHAPES) {
    t.test(
      `files.upload, list, get, delete as ${shape} by ${shaped.join(' ') || 'curl itself'}`,
      async (t) => {
        const { curl, file } = await stand(t)
        const made = await curl('/files', ...shaped, '-F', `file=@${file}`, '-F', 'purpose=assistants')
        t.match(made, {
          status: 200,
          json: { _shape: shape, filename: 'note.txt', [shape === 'openai' ? 'bytes' : 'size_bytes']: 9_000 },
        })
        const id = String(made.json['id'])
        t.same((await curl(`/files/${id}`, ...shaped)).json, made.json)
        t.match(await curl('/files?limit=1', ...shaped), {
          status: 200,
          json: { _shape: shape, data: [made.json], has_more: false, first_id: id },
        })
        t.match(await curl(`/files/${id}/content`, ...shaped), { status: 400 })
        t.match(await curl(`/files/${id}`, ...shaped, '-X', 'DELETE'), {
          status: 200,
          json: { _shape: shape, id },
        })
        t.match(await curl(`/files/${id}`, ...shaped), { status: 404, json: { error: { code: 404 } } })
      },
    )

    t.test(`container operations as ${shape} by ${shaped.join(' ') || 'curl itself'}`, async (t) => {
      const { curl, file } = await stand(t)
      const written = await curl('/containers/sess_abc/files/out/note.txt', ...shaped, '-T', file)
      t.match(written, {
        status: 200,
        json: { object: 'container.file', path: 'out/note.txt', bytes: 9_000 },
      })
      const path = `/containers/sess_abc/files/${String(written.json['id'])}`
      t.same((await curl(path, ...shaped)).json, written.json)
      t.match((await curl('/containers/sess_abc/files', ...shaped)).json, {
        data: [written.json],
        has_more: false,
      })
      t.equal((await curl(`${path}/content`, ...shaped)).text, 'one line\n'.repeat(1_000))
      t.match(await curl(`${path}/content`, ...shaped, '-r', '4-7'), { status: 206, text: 'line' })
      const promoted = await curl(`${path}/promote`, ...shaped, '-X', 'POST')
      t.match(promoted, { status: 200, json: { _shape: shape } })
      const content = `/files/${String(promoted.json['id'])}/content`
      t.equal((await curl(content, ...shaped)).text, 'one line\n'.repeat(1_000))
      t.match(await curl(content, ...shaped, '-I'), { status: 200, text: /content-length: 9000/i })
      t.match(await curl(content, ...shaped, '-r', '9000-'), { status: 416 })
    })
  }

  t.test('curl uploads with `Expect: 100-continue` and in chunks, with one answer each', async (t) => {
    const { curl, file, front } = await stand(t)
    const ways = [
      ['-H', 'Expect: 100-continue'],
      ['-H', 'Transfer-Encoding: chunked'],
    ]
    for (const way of ways)
      t.equal((await curl('/files', ...way, '-F', `file=@${file}`)).status, 200, way.join(' '))
    t.equal(
      (await curl('/containers/sess_abc/files/a', '-H', 'Transfer-Encoding: chunked', '-T', file)).status,
      200,
    )
    t.match(await front.census(), { ready: ways.length, objects: ways.length, reservedBytes: 0 })
  })

  t.test('curl gets a 400 for each invalid request', async (t) => {
    const { curl, file } = await stand(t)
    t.equal((await curl('/files', '-F', 'purpose=x')).status, 400)
    t.equal((await curl('/files', '-H', 'content-type: application/json', '-d', '{}')).status, 400)
    t.equal((await curl('/containers/a.b/files')).status, 400)
    t.equal((await curl('/containers/sess_abc/files/..%2Fx', '-T', file)).status, 400)
  })
}
