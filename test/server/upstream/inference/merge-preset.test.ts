import t from 'tap'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { INFERENCE_BODY_BYTES_MAX } from '../../../../src/schemas/inference/inference-limits.ts'
import type { TextRequest } from '../../../../src/schemas/inference/text-request.ts'
import type { PresetContent } from '../../../../src/server/ports/presets/presets.ts'
import { mergePreset } from '../../../../src/server/upstream/inference/merge-preset.ts'
import { threads } from '../../../support/front.ts'
import { keptChat } from '../../../support/inference/kept-chat.ts'
import { must } from '../../../support/must.ts'

const caller = { organizationId: 'o', workspaceId: 'w', key: 'k' }
const content: PresetContent = { config: { temperature: 0.5 }, systemPrompt: 'é', source: 'chat' }

t.test('the memory of a body is released once, with the merged bytes', async (t) => {
  for (const length of [1, INLINE_JSON_BYTES_MAX]) {
    let count = 0
    const stated = { role: 'user', content: 'x'.repeat(length) }
    const text = JSON.stringify({ preset: 'p', messages: [stated] })
    const { digest, body } = keptChat(text, { released: () => void count++ })
    const request: TextRequest = { ...digest, source: body }
    const by = { jobs: threads(), caller, signal: new AbortController().signal }
    const merged = must(await mergePreset(request, { content, model: 'm' }, by))
    t.match(merged, { model: 'm', preset: null, size: { messages: 2 } })
    t.match(JSON.parse(Buffer.from(merged.source.bytes).toString()), { model: 'm', temperature: 0.5 })
    t.equal(count, 0)
    merged.source.release()
    merged.source.release()
    t.equal(count, 1)
  }
})

t.test('400: a request that its preset makes invalid is refused with a hint at the preset', async (t) => {
  const { digest, body } = keptChat('{"preset":"p","messages":[{"role":"user","content":"x"}]}')
  const bad: PresetContent = { config: { stop: [''] }, systemPrompt: null, source: 'chat' }
  const by = { jobs: threads(), caller, signal: new AbortController().signal }
  const merged = await mergePreset({ ...digest, source: body }, { content: bad, model: 'm' }, by)
  t.match(merged, { ok: false, failure: { name: 'body_invalid', detail: /preset/ } })
})

t.test('413: a request that exceeds the maximum size together with its preset is refused', async (t) => {
  const sized = (length: number): string =>
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(length) }] })
  const frame = sized(0).length
  const config: PresetContent = { config: { seed: 7 }, systemPrompt: null, source: 'chat' }
  const outcome = async (bytes: number) => {
    const { digest, body } = keptChat(sized(bytes - frame))
    const by = { jobs: threads(), caller, signal: new AbortController().signal }
    return mergePreset({ ...digest, source: body }, { content: config, model: 'm' }, by)
  }
  const added = ',"seed":7'.length
  t.equal((await outcome(INFERENCE_BODY_BYTES_MAX - added)).ok, true)
  const refused = await outcome(INFERENCE_BODY_BYTES_MAX - added + 1)
  t.match(refused, { ok: false, failure: { name: 'body_too_large', detail: /preset/ } })
})
