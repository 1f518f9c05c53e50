import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { requestsOf } from '../../../bench/operations/preparation.ts'
import { preparationOf, PREPARATIONS } from '../../../bench/operations/preparations.ts'
import { readOperationsOptions } from '../../../bench/operations/options.ts'
import { startWorld } from '../../../bench/operations/world.ts'
import { served } from '../../support/wire/served.ts'
import type { ExampleAnswer, ExampleAnswers } from '../../../src/server/http/reference/answers.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import { exampleAnswer } from '../../support/example-answers.ts'
import { ROOT } from '../../support/source.ts'

t.setTimeout(600_000)

t.test('there is no preparation for an operation that no longer exists', async (t) => {
  const ids = OPERATIONS.map(({ id }) => id)
  t.same(
    Object.keys(PREPARATIONS).filter((id) => !ids.includes(id)),
    [],
  )
})

t.test('refuses an operation that does not exist', async (t) => {
  t.match(readOperationsOptions(['--only', 'keys.get,keys.nothing']), /not 'keys\.nothing'/)
})

const ANSWERS = `${ROOT}src/server/http/reference/answers.json`
/** Set: the answers of this run become the examples of the reference. */
const isRecording = process.env['SLUICE_RECORD_ANSWERS'] === '1'

/** What an example has to have in common with an answer of any run. */
function outlineOf({ status, mediaType, body }: ExampleAnswer): unknown {
  const isMembers = typeof body === 'object' && body !== null
  return { status, mediaType, members: isMembers ? Object.keys(body).sort() : typeof body }
}

t.test('each operation gives the expected answer twice, and the answer matches its example', async (t) => {
  const world = await startWorld()
  t.teardown(() => world.stop())
  const examples = JSON.parse(readFileSync(ANSWERS, 'utf8')) as ExampleAnswers
  const recorded: Record<string, ExampleAnswer> = {}
  for (const operation of OPERATIONS) {
    const preparation = preparationOf(operation)
    const few = preparation.fresh === null ? preparation : { ...preparation, fresh: 2 }
    const expected = preparation.status ?? operation.success.status
    try {
      const requests = await requestsOf(operation, few, world)
      const asked = requests.length === 1 ? [...requests, ...requests] : requests
      for (const { method, path, headers, body } of asked) {
        const url = `http://127.0.0.1:${world.stand.port}${path}`
        const answer = await served(() => fetch(url, { method, headers, ...(body === '' ? {} : { body }) }))
        const bytes = new Uint8Array(await answer.arrayBuffer())
        const text = Buffer.from(bytes).toString()
        const contentType = answer.headers.get('content-type')
        recorded[operation.id] ??= exampleAnswer(operation.id, { status: answer.status, contentType, bytes })
        t.equal(
          answer.status,
          expected,
          `${operation.id} ${answer.status === expected ? '' : `${path} ${text.slice(0, 300)}`}`,
        )
      }
    } catch (failure) {
      t.fail(`${operation.id}: ${String(failure)}`)
    }
  }
  if (isRecording) writeFileSync(ANSWERS, `${JSON.stringify(recorded, null, 2)}\n`)
  else
    for (const { id } of OPERATIONS) {
      const [example, answer] = [examples[id], recorded[id]]
      t.ok(example !== undefined && answer !== undefined, `${id} has an example`)
      if (example !== undefined && answer !== undefined) t.same(outlineOf(example), outlineOf(answer), id)
    }
})
