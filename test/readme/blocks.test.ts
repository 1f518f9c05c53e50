import t from 'tap'
import { CONTENTS, README, USER_PAGES, userFiles } from '../support/pages.ts'
import { blocksOf, commandsOf, differences, eventsOf } from './blocks.ts'
import { linesOf, withMistake, withoutLine } from './lines.ts'
import { sectionOf } from './slices.ts'

const blocks = USER_PAGES.flatMap(({ text, path }) => blocksOf(text, path))

/**
 * What they stand under and begin with, of blocks that are not run here: they need machines, programs or
 * addresses that a test has not.
 */
const ELSEWHERE: readonly string[] = [
  'Start: npm start',
  'Start: npm test',
  'OpenRouter SDK: node tools/sdk-operations.mjs #',
  'Dashboard: ssh -L 9090:127.0.0.1:9090',
  'A server on your machine: SLUICE_CATALOG=mine.json npm start',
  'Servers of your own: { "provider": "acme",',
  'Servers of your own: { "slug": "azure",',
  'Provider models: OPENAI_API_KEY=sk-… npm start',
  'Workspace files: {"model": "openai/gpt-5-mini", "messages":',
  'Fallback models: {"model": "acme/large", "models":',
  'Clients: model = "openai/gpt-5-mini"',
  'Translation between APIs: ANTHROPIC_API_KEY=sk-ant-… npm start',
  'Treatment of a field: bin/sluice models explain',
  'Treatment of each field: bin/sluice models explain',
  'Validation and activation: bin/sluice endpoints list',
  'A chat server: {"model_permaslug": "acme/llama", "provider_slug":',
  'As a package: npm pack #',
  'As a container: docker build -f',
  'On a laptop: docker compose -f',
  'Two nodes: sh deploy/secrets.sh #',
  'With systemd, and on Kubernetes: kubectl create namespace',
  'Release files: npm run release',
  'The URL of Postgres: ALTER ROLE sluice',
  'Step by step: mkdir /opt/sluice &&',
  'Step by step: (umask 077; openssl',
  'Step by step: { "DATABASE_URL": "postgres://sluice:PASSWORD@db.acme.example:5432/sluice?sslmode=verify-full",',
  'Roles and rights: CREATE ROLE sluice',
  'A Postgres with a standby: pg_basebackup -D DATA',
  'A Postgres with a standby: ALTER SYSTEM SET',
  'Traces (OpenTelemetry, Langfuse): export OTEL_EXPORTER_OTLP_ENDPOINT=https://cloud.langfuse.com/api/public/otel export',
  'Request log: bin/sluice logs --failed',
  "Reading the log by API: curl -s 'http://127.0.0.1:8080/api/v1/admin/requests?failed=true&limit=20'",
  'Compatibility: npm run --silent',
  'Bench: npm run bench',
  'Scenarios: npm run bench',
  'A load test of streams: npm run bench',
]

t.test('only the listed blocks are not run', async (t) => {
  // Samples in Python and TypeScript need packages; their syntax is checked in `samples.test.ts`.
  const found = blocks.filter(({ mark, language }) => mark !== null && !['python', 'ts'].includes(language))
  t.same(
    found.filter(({ mark }) => mark !== 'elsewhere'),
    [],
  )
  t.same(
    found.map(({ section, text }) => `${section}: ${text.split(/\s+/, 3).join(' ')}`),
    ELSEWHERE,
  )
})

t.test('every fenced block of a page is found', async (t) => {
  const fences = USER_PAGES.flatMap(({ text }) =>
    text.split('\n').filter((line) => /^\s*(?:```|~~~)/.test(line)),
  )
  t.equal(blocks.length * 2, fences.length)
})

t.test('the contents of the README name each page for users once', async (t) => {
  t.same(CONTENTS.filter((path) => /^docs\/(?:use|operate)\//.test(path)).sort(), [...userFiles()].sort())
})

t.test(
  'no two pages with blocks have sections of the same name, because a section is run by its name',
  async (t) => {
    const pagesOf = (name: string): number =>
      new Set(blocks.filter(({ section }) => section === name).map(({ path }) => path)).size
    t.same(
      [...new Set(blocks.map(({ section }) => section))].filter((name) => pagesOf(name) > 1),
      [],
    )
  },
)

t.test('the README is short: 300 lines, 2,500 words', async (t) => {
  t.ok(README.text.split('\n').length <= 301)
  t.ok(README.text.split(/\s+/).filter((word) => word !== '').length <= 2_500)
})

const SHOWN = blocksOf(
  '```sh\napi=1\nget() { curl "$1"; }\n# a remark\nbin/sluice keys list\n# 200 {"data":[]}\n```\n',
)

t.test('a comment and an empty line are not counted as lines that a block needs', async (t) => {
  t.same(
    linesOf(SHOWN).map(({ number, text }) => `${number} ${text}`),
    ['2 api=1', '3 get() { curl "$1"; }', '5 bin/sluice keys list', '6 # 200 {"data":[]}'],
  )
})

t.test('a streamed answer is compared event by event, and must have each documented event', async (t) => {
  const text = '```sh\ncurl x\n# 200\n# data: {"a":"b",…}\n# data: [DONE]\n```\n'
  const [command] = blocksOf(text).flatMap(commandsOf)
  t.same(command?.answer, { status: 200, body: [{ a: 'b' }, '[DONE]'] })
  const stream = (last: string): unknown[] =>
    eventsOf(`data: {"c":1}\n\ndata: {"a":"b"}\n\ndata: ${last}\n\n`)
  t.same(differences(command?.answer?.body, stream('[DONE]')), [])
  t.same(differences(command?.answer?.body, stream('{}')).length, 1)
})

t.test('removes a line, or puts a mistake into it', async (t) => {
  const [, , verb, answer] = linesOf(SHOWN)
  t.equal(verb && withoutLine(verb).text, 'api=1\nget() { curl "$1"; }\n# a remark\n# 200 {"data":[]}')
  t.match(verb && withMistake(verb).text, 'bin/sluice no-keys list')
  t.match(answer && withMistake(answer).text, '# 299 {"data":[]}')
})

t.test('a section runs after exactly the commands that set the names it uses', async (t) => {
  const text = '# One\n```sh\na=1\nb=2\nget() { echo "$a"; }\necho hello\n```\n# Two\n```sh\nget it\n```\n'
  t.same(
    sectionOf(blocksOf(text), 'Two', null).map((block) => block.text),
    ['a=1\nget() { echo "$a"; }', 'get it'],
  )
})

t.test('a script needs the environment variables that it reads, also in template literals', async (t) => {
  const script = '// a.mjs\nconsole.log(`${process.env.A}`, process.env.B)\n// 1 2'
  const text = `# One\n\`\`\`sh\nA=1\nB=2\nC=3\nexport A B\n\`\`\`\n# Two\n\`\`\`js\n${script}\n\`\`\`\n`
  t.same(
    sectionOf(blocksOf(text), 'Two', null).map((block) => block.text),
    ['A=1\nB=2\nexport A B', script],
  )
})
