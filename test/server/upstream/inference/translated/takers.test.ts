/** What is known of refusals before a call is routed, and what that costs. D6. */
import t from 'tap'
import { ok } from '../../../../../src/schemas/failures.ts'
import { TRANSLATED_INLINE_BYTES_MAX } from '../../../../../src/schemas/inference/inference-limits.ts'
import type { TextRequest } from '../../../../../src/schemas/inference/text-request.ts'
import type { CallableModel, Endpoint } from '../../../../../src/server/ports/models/models.ts'
import type { ShortJobs } from '../../../../../src/server/ports/short-jobs.ts'
import { JUDGED_MAX, takersOf } from '../../../../../src/server/upstream/inference/translated/takers.ts'
import { at } from '../../../../support/inference/bounded-endpoints.ts'

const JOBS = {
  run: () => {
    throw new Error('no thread')
  },
} as unknown as ShortJobs

type Job = Parameters<typeof takersOf>[0]

/** A call whose body counts how often it is read. */
function callOf(endpoints: readonly Endpoint[], body: object): { readonly job: Job; reads(): number } {
  let reads = 0
  const bytes = Buffer.from(
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
  )
  const source = {
    get bytes() {
      reads++
      return bytes
    },
  }
  const request = {
    dialect: 'chat',
    source,
    provider: null,
    size: { tokensMax: null },
  } as unknown as TextRequest
  const models = [{ id: 'm', endpoints } as unknown as CallableModel]
  return { job: { models, request } as unknown as Job, reads: () => reads }
}

const speaking = (...speaks: ('chat' | 'messages' | 'gemini')[]): Endpoint =>
  at({ speaks }, { provider: { slug: 'first', protocol: 'openai' } as Endpoint['provider'] }).endpoint

t.test('a request is not parsed when all endpoints speak its format', (t) => {
  const { job, reads } = callOf([speaking('chat'), speaking('chat', 'messages')], { n: 2 })
  t.same(takersOf(job, JOBS), { ok: true, value: null })
  t.equal(takersOf(job, JOBS), takersOf(job, JOBS), 'nothing is made for it')
  t.equal(reads(), 0)
  t.end()
})

t.test('a request with a single endpoint is parsed only by its attempt', (t) => {
  const { job, reads } = callOf([speaking('messages')], { response_format: { type: 'json_object' } })
  t.same(takersOf(job, JOBS), { ok: true, value: null })
  t.equal(reads(), 0)
  t.end()
})

t.test('leaves out endpoints that would refuse, and unconfigured ones are no alternative', (t) => {
  const native = speaking('chat')
  const others = [speaking('messages'), speaking('messages'), speaking('gemini')]
  const { job } = callOf([native, ...others], { response_format: { type: 'json_object' } })
  const known = takersOf(job, JOBS)
  if (known instanceof Promise || !known.ok || known.value === null) throw new Error('it is not judged')
  const takers = known.value
  const all = job.models[0]?.endpoints ?? []
  t.same(
    takers.among(all, () => true),
    { ok: true, value: [native, others[2]] },
  )
  const refusing = others.slice(0, 2)
  t.match(
    takers.among(refusing, () => true),
    {
      ok: false,
      failure: { name: 'field_unsupported', metadata: { issues: [{ path: '/response_format' }] } },
    },
  )
  t.match(
    takers.among(all, (endpoint) => refusing.includes(endpoint)),
    { ok: false },
    'the others lack a key',
  )
  t.same(
    takers.among(refusing, () => false),
    { ok: true, value: refusing },
    'all lack a key',
  )
  t.end()
})

t.test('any number of endpoints of one API format can be checked, because they are checked as one', (t) => {
  const refusing = Array.from({ length: 2 * JUDGED_MAX }, () => speaking('messages'))
  const { job } = callOf([...refusing, speaking('gemini')], { response_format: { type: 'json_object' } })
  const all = job.models[0]?.endpoints ?? []
  t.same(takingOf(job), all.slice(-1))
  t.end()
})

t.test('dropped fields depend on the model, and a bounded number of models is judged', (t) => {
  const models = Array.from({ length: JUDGED_MAX + 1 }, (_, nth) => ({
    ...speaking('messages'),
    upstreamModel: `model-${nth}`,
  }))
  const { job } = callOf(models, { seed: 7 })
  const request = { ...job.request, provider: { require_parameters: true } }
  t.same(takingOf({ ...job, request }), models.slice(-1), 'the attempt at the last one decides')
  t.end()
})

t.test('a thread translates a request for many endpoints when no field may be dropped', async (t) => {
  const models = [1, 2, 3].map((nth) => ({ ...speaking('messages'), upstreamModel: `model-${nth}` }))
  const content = 'x'.repeat(TRANSLATED_INLINE_BYTES_MAX / 2)
  const { job } = callOf(models, { messages: [{ role: 'user', content }], seed: 7 })
  const ran: string[] = []
  const jobs = {
    run: (name: string) => {
      ran.push(name)
      return Promise.resolve(ok(models.map(() => [])))
    },
  } as unknown as ShortJobs
  await takersOf(job, jobs)
  t.same(ran, [])
  const request = { ...job.request, provider: { require_parameters: true } }
  const call = { signal: new AbortController().signal }
  await takersOf({ ...job, request, call }, jobs)
  t.same(ran, ['refused_fields'])
})

/** The endpoints of the call's model that take it. */
function takingOf(job: Job): readonly Endpoint[] {
  const known = takersOf(job, JOBS)
  if (known instanceof Promise || !known.ok || known.value === null) throw new Error('it is not judged')
  const taking = known.value.among(job.models[0]?.endpoints ?? [], () => true)
  return taking.ok ? taking.value : []
}

t.test('a file that an API format does not accept is refused before it is read', (t) => {
  const id = 'file_01k0abcdefghjkmnpqrstvwxyz'
  const endpoints = [speaking('gemini'), speaking('messages')]
  const part = { type: 'file', file: { file_id: id } }
  const { job } = callOf(endpoints, { messages: [{ role: 'user', content: [part] }] })
  const refusedFor = (mimeType: string): readonly Endpoint[] => {
    const files = [
      { id, mimeType, filename: 'a', sizeBytes: 1, open: () => Promise.reject(new Error('read')) },
    ]
    const taking = takingOf({ ...job, files } as unknown as Job)
    return endpoints.filter((one) => !taking.includes(one))
  }
  t.same(refusedFor('image/gif'), endpoints.slice(0, 1))
  t.same(refusedFor('image/png'), [])
  t.end()
})
