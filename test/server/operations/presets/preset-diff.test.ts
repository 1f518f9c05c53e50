/** Differences between two versions of a preset. */
import t from 'tap'
import { must } from '../../../support/must.ts'
import { openPresetsFront } from '../../../support/presets/presets-front.ts'
import type { Answered } from '../../../support/workspaces/interns-front.ts'

/** Shared: every test has slugs of its own. */
const { get, saved, presets, by, workspace } = await openPresetsFront(t)

const dataOf = ({ body }: Answered) => body['data'] as Readonly<Record<string, unknown>>
const found = ({ status, type, body }: Answered) => (status < 300 ? body['data'] : [status, type])

t.test(
  'presets.diff 200: fields added, removed and changed, the system prompt, and the last ignored fields',
  async (t) => {
    const path = await saved('compared', ['a'], {
      input: {
        config: { model: 'a', top_p: 1, text: { format: { type: 'text' }, verbosity: 'low' }, tools: [1, 2] },
        systemPrompt: 'One',
      },
    })
    await saved('compared', ['b'], {
      input: {
        config: {
          text: { verbosity: 'low', format: { type: 'text' } },
          model: 'b',
          tools: [2, 1],
          temperature: 0,
        },
        systemPrompt: null,
        ignored: ['input', 'user'],
      },
    })
    const whole = {
      from: 1,
      to: 2,
      added: { temperature: 0 },
      removed: { top_p: 1 },
      changed: { model: { from: 'a', to: 'b' }, tools: { from: [1, 2], to: [2, 1] } },
      system_prompt: { from: 'One', to: null },
      ignored: ['input', 'user'],
    }
    t.same(dataOf(await get(`${path}/diff`)), whole)
    t.same(dataOf(await get(`${path}/diff?from=1&to=2`)), whole)
    t.same(dataOf(await get(`${path}/diff?from=2&to=2`)), {
      from: 2,
      to: 2,
      added: {},
      removed: {},
      changed: {},
      system_prompt: null,
      ignored: ['input', 'user'],
    })
    t.match(dataOf(await get(`${path}/diff?from=2&to=1`)), {
      added: { top_p: 1 },
      removed: { temperature: 0 },
      ignored: [],
    })
    must(await presets.designate({ workspaceId: workspace.id, slug: 'compared' }, 1, by))
    const first = { from: null, to: 1, added: { model: 'a' }, system_prompt: { from: null, to: 'One' } }
    t.match(dataOf(await get(`${path}/diff`)), first, 'there is none before it')
    t.match(dataOf(await get(`${path}/diff?from=2`)), { from: 2, to: 1 })
  },
)

t.test('presets.diff 404: an unknown version, and an unknown preset', async (t) => {
  const path = await saved('lacking', ['a', 'b'])
  for (const query of ['from=3', 'to=3', 'from=1&to=999999999999', `to=${Number.MAX_SAFE_INTEGER}`]) {
    t.same(found(await get(`${path}/diff?${query}`)), [404, 'preset_version_unknown'], query)
  }
  t.same(found(await get('/presets/nothing/diff')), [404, 'preset_unknown'])
})

t.test('presets.diff 400: an invalid version number', async (t) => {
  const path = await saved('unnumbered', ['a'])
  for (const query of ['from=0', 'to=x', 'from=1.5', 'to='])
    t.equal((await get(`${path}/diff?${query}`)).status, 400, query)
})
