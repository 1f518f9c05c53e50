/** The catalogue that the page on models shows for servers of one's own, with fake servers in their places. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import { eventsOf, inferenceWith, openChat } from '../../../support/inference/chat-front.ts'
import { answersChat, bodyOf, refusesChat } from '../../../support/inference/fake-chat.ts'
import { startFakeProvider } from '../../../support/inference/fake-provider.ts'
import { keptLog } from '../../../support/log.ts'
import { present } from '../../../support/must.ts'
import { ROOT } from '../../../support/source.ts'

const PAGE = readFileSync(`${ROOT}docs/use/models.md`, 'utf8')
const ADDRESSES = ['10.0.0.7:8000', '10.0.0.8:11434', '10.0.0.9:8081']

t.test(
  'local servers without a key answer with the catalogue of the guide, each as a fallback of the others',
  async (t) => {
    const servers = await Promise.all(ADDRESSES.map(() => startFakeProvider(answersChat())))
    const block = [...PAGE.matchAll(/```json\n([^`]*)```/g)].find(([, text = '']) =>
      text.includes('"ollama"'),
    )
    const shown = ADDRESSES.reduce(
      (text, address, nth) => text.replace(`http://${address}`, servers[nth]?.origin ?? ''),
      present(block?.[1]),
    )
    const egress = openEgress()
    t.teardown(async () => {
      await egress.close()
      await Promise.all(servers.map((server) => server.close()))
    })
    const log = keptLog()
    const inference = inferenceWith({ egress, credentials: new Map(), log })
    const { post } = await openChat(t, { inference, extra: JSON.parse(shown), log })
    const [vllm, ollama, llamacpp] = servers
    // Conversations share servers that cost the same, unless the caller sets an order.
    const provider = { order: ['vllm', 'ollama', 'llamacpp'] }
    const messages = [{ role: 'user', content: 'Hello' }]
    const ask = { model: 'mine/qwen', messages, provider, top_k: 5, stream: true }
    const first = await post(ask)
    t.equal(first.headers.get('x-sluice-provider'), 'vllm')
    t.equal(first.headers.get('x-sluice-unpriced'), null)
    t.ok(eventsOf(await first.text()).isDone)
    const call = present(vllm?.calls[0])
    t.equal(call.path, '/v1/chat/completions')
    t.equal(call.headers['authorization'], undefined)
    t.match(bodyOf(call), { model: 'Qwen/Qwen3-8B', top_k: 5 })
    for (const down of [vllm, ollama]) down?.usually(refusesChat(500))
    const whole = await post({ ...ask, stream: false })
    t.equal(whole.status, 200)
    t.equal(whole.headers.get('x-sluice-provider'), 'llamacpp')
    t.equal(whole.headers.get('x-sluice-attempts'), '3')
    t.match(await whole.json(), { model: 'mine/qwen', usage: { cost: 0 } })
    t.equal(bodyOf(present(llamacpp?.calls[0]))['model'], 'qwen3-8b')
  },
)
