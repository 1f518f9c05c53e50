/**
 * Runs the samples of every operation, each in the interpreter that readers have for it, against a server that
 * records the requests and answers as the page shows. No deadline of a node decides how a sample ends.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { KEY_PREFIXES, type KeyKind } from '../../../../../src/schemas/keys/api-keys.ts'
import type { ExampleAnswer, ExampleAnswers } from '../../../../../src/server/http/reference/answers.ts'
import {
  exampleRequestOf,
  UPLOADED,
  type ExampleRequest,
} from '../../../../../src/server/http/reference/samples/example-request.ts'
import {
  KEY_VARIABLES,
  LANGUAGES,
  sampleOf,
  type Language,
} from '../../../../../src/server/http/reference/samples/samples.ts'
import { OPERATIONS } from '../../../../../src/server/operations/index.ts'
import { plainEnvironment } from '../../../../support/load/load.ts'
import { ROOT } from '../../../../support/source.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'
import { portOf } from '../../../../support/wire/raw-server.ts'

/** Hundreds of programs on a machine that does ten other things. */
t.setTimeout(900_000)

const FIRST_ERROR = 400
const UPLOADED_TEXT = 'name,value\none,1\n'
/** The body of an answer whose recorded example is not a text. */
const CLIP = Buffer.from([0, 1, 2, 0xfe, 0xff])
const answers = JSON.parse(
  readFileSync(`${ROOT}src/server/http/reference/answers.json`, 'utf8'),
) as ExampleAnswers
const keyOf = (kind: KeyKind): string => `${KEY_PREFIXES[kind]}of-the-samples`
const KEYS = Object.fromEntries(
  (Object.keys(KEY_PREFIXES) as KeyKind[]).map((kind) => [KEY_VARIABLES[kind], keyOf(kind)]),
)
/** How a program in each language is run, and the end of its file's name. */
const RUNNERS: Readonly<Record<Language, { readonly command: string; readonly ending: string }>> = {
  curl: { command: 'sh', ending: '.sh' },
  python: { command: 'python3', ending: '.py' },
  typescript: { command: process.execPath, ending: '.mjs' },
}
const languages = (Object.keys(LANGUAGES) as Language[]).filter(
  (language) => language !== 'python' || spawnSync('python3', ['--version']).status === 0,
)

interface Ended {
  readonly code: number | null
  readonly output: string
}

interface Place {
  readonly folder: string
  readonly env: object
}

/** Runs a program in a process of its own. */
function run(language: Language, text: string, place: Place): Promise<Ended> {
  const { command, ending } = RUNNERS[language]
  const file = `sample${ending}`
  writeFileSync(join(place.folder, file), text)
  const child = spawn(command, [file], optionsOf(place))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

function optionsOf({ folder, env }: Place) {
  return { cwd: folder, env: { ...plainEnvironment(), ...env, no_proxy: '*', PYTHONIOENCODING: 'utf-8' } }
}

/**
 * Programs that run the files whose names they read, one a line, and write how each ended. A process for each
 * sample would cost ten times as much as the sample.
 */
const INTERPRETERS: Readonly<Partial<Record<Language, string>>> = {
  typescript: `
import { createInterface } from 'node:readline'
const write = process.stdout.write.bind(process.stdout)
for await (const file of createInterface({ input: process.stdin })) {
  let [code, output] = [0, '']
  process.stdout.write = (text) => ((output += text), true)
  await import(process.cwd() + '/' + file).catch((problem) => ([code, output] = [1, output + problem]))
  write(JSON.stringify({ code, output }) + '\\n')
}`,
  python: `
import contextlib, io, json, runpy, sys, traceback
for line in sys.stdin:
    code, output = 0, io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            runpy.run_path(line.strip(), run_name="__main__")
    except BaseException:
        code = 1
        output.write(traceback.format_exc())
    print(json.dumps({"code": code, "output": output.getvalue()}), flush=True)
`,
}

type RunSample = (text: string) => Promise<Ended>

/** Runs samples one after another, each as a file of its own. */
function openRunner(t: Test, language: Language, place: Place): RunSample {
  const { command, ending } = RUNNERS[language]
  const program = INTERPRETERS[language]
  if (program === undefined) return (text) => run(language, text, place)
  const interpreter = `interpreter${ending}`
  writeFileSync(join(place.folder, interpreter), program)
  const child = spawn(command, [interpreter], { ...optionsOf(place), stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => child.stdin.end())
  const lines = createInterface({ input: child.stdout })
  let count = 0
  return async (text) => {
    const file = `sample-${count++}${ending}`
    writeFileSync(join(place.folder, file), text)
    const ended = once(lines, 'line')
    child.stdin.write(`${file}\n`)
    const [line] = (await ended) as [string]
    return JSON.parse(line) as Ended
  }
}

interface Received {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Recorder {
  readonly origin: string
  /** The answer to each request from now on; forgets the requests so far. */
  answerWith(answer: ExampleAnswer): void
  readonly received: readonly Received[]
}

/** A server that records each request and answers it with an example of the reference. */
async function startRecorder(t: Test): Promise<Recorder> {
  let answer: ExampleAnswer = { status: 500, mediaType: null }
  const received: Received[] = []
  const server = createServer({ requestTimeout: 0, headersTimeout: 0 }, (req, res) => {
    void bodyOf(req).then((body) => {
      received.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers, body })
      // A connection that is kept could be closed while a sample sends its next request.
      const type = answer.mediaType === null ? {} : { 'content-type': answer.mediaType }
      res.writeHead(answer.status, { connection: 'close', ...type }).end(bytesOf(answer))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return {
    origin: `http://127.0.0.1:${portOf(server)}`,
    received,
    answerWith(next) {
      answer = next
      received.length = 0
    },
  }
}

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of req) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function bytesOf({ mediaType, body }: ExampleAnswer): Buffer {
  if (mediaType === null) return Buffer.alloc(0)
  if (body === undefined) return CLIP
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** The request as the page describes it: its key, the type and the value of its body. */
function shownRequest({ method, path, keyHeader, keyKind, contentType, upload, body }: ExampleRequest) {
  const key = keyOf(keyKind)
  const isBearer = keyHeader === 'Authorization'
  return {
    method,
    path,
    authorization: isBearer ? `Bearer ${key}` : undefined,
    ownKey: isBearer ? undefined : key,
    contentType: upload === 'form' ? 'multipart/form-data' : (contentType ?? undefined),
    body:
      upload === 'form'
        ? [['file', UPLOADED, UPLOADED_TEXT]]
        : upload === 'raw'
          ? UPLOADED_TEXT
          : (body ?? ''),
  }
}

async function sentRequest({ method, path, headers, body }: Received) {
  const contentType = headers['content-type']?.split(';')[0]
  return {
    method,
    path,
    authorization: headers.authorization,
    ownKey: headers['x-sluice-key'],
    contentType,
    body:
      contentType === 'multipart/form-data'
        ? await filesOf(headers['content-type'] ?? '', body)
        : contentType?.endsWith('json') === true
          ? (JSON.parse(body.toString()) as unknown)
          : body.toString(),
  }
}

async function filesOf(contentType: string, body: Buffer): Promise<readonly (readonly string[])[]> {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData()
  return Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === 'string' ? [name, value] : [name, value.name, await value.text()],
    ),
  )
}

/** Describes how a sample ended otherwise than its page says; null: as it says. */
function faultOf(
  { code, output }: Ended,
  answer: ExampleAnswer,
  { answer: kind }: ExampleRequest,
  place: Place,
) {
  if (answer.status >= FIRST_ERROR)
    return code !== 0 && output.includes(String(answer.status))
      ? null
      : `ended with ${code}, not by ${answer.status}: ${output}`
  if (code !== 0) return `ended with ${code}: ${output}`
  if (typeof kind !== 'object') return output.trim() === '' && kind !== 'nothing' ? 'printed nothing' : null
  const file = join(place.folder, kind.file)
  const isKept = readFileSync(file).equals(bytesOf(answer))
  rmSync(file)
  return isKept ? null : `${kind.file} is not the answer`
}

t.test('the samples of each operation send the request on the page, in every language', async (t) => {
  const runners = await Promise.all(
    languages.map(async (language) => {
      const place = { folder: temporaryFolder(t, 'samples'), env: KEYS }
      writeFileSync(join(place.folder, UPLOADED), UPLOADED_TEXT)
      return { language, place, recorder: await startRecorder(t), runSample: openRunner(t, language, place) }
    }),
  )
  for (const operation of OPERATIONS) {
    const request = exampleRequestOf(operation)
    const answer = answers[operation.id] ?? { status: 0, mediaType: null }
    await Promise.all(
      runners.map(async ({ language, place, recorder, runSample }) => {
        recorder.answerWith(answer)
        const ended = await runSample(sampleOf(language, request, recorder.origin))
        const name = `${operation.id} in ${language}`
        t.equal(faultOf(ended, answer, request, place), null, name)
        t.same(await Promise.all(recorder.received.map(sentRequest)), [shownRequest(request)], name)
      }),
    )
  }
})

t.test('the sample of a refused call fails and prints the message', async (t) => {
  const recorder = await startRecorder(t)
  const folder = temporaryFolder(t, 'samples')
  const operation = OPERATIONS.find(({ id }) => id === 'keys.list')
  if (operation === undefined) throw new Error('there is no keys.list')
  const message = 'Invalid API key.'
  recorder.answerWith({ status: 401, mediaType: 'application/json', body: { error: { code: 401, message } } })
  for (const language of languages) {
    const text = sampleOf(language, exampleRequestOf(operation), recorder.origin)
    const { code, output } = await run(language, text, { folder, env: KEYS })
    t.not(code, 0, language)
    t.match(output, '401', language)
  }
})
