import t from 'tap'
import { scanAnswer } from '../../../src/server/upstream/scan.ts'
import { randomAnswer, randomFrom } from '../../support/random-answers.ts'
import { disagreement } from '../../support/scan-oracle.ts'

const ITEM = '{"object":"embedding","index":0,"embedding":[0.5,-1e-3]}'

t.test(
  'the scan agrees with JSON.parse on random answers and leaves every odd one to the parser',
  async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const random = randomFrom(seed)
    for (let nth = 0; nth < 10_000; nth++) {
      const answer = randomAnswer(random)
      const problem = disagreement(answer)
      if (problem !== null) t.fail(`seed ${seed}, answer ${nth}: ${problem}`, { text: answer.text })
    }
    t.pass(`seed ${seed}`)
  },
)

t.test('spans cover the values and nothing else', async (t) => {
  const text = ` {"id":"x","data" : [${ITEM}, ${ITEM}] ,"usage":{"prompt_tokens":3},"model":"m"} `
  const spans = scanAnswer(Buffer.from(text))
  const cut = (span: { start: number; end: number } | null | undefined): string =>
    span ? text.slice(span.start, span.end) : ''
  t.equal(cut(spans?.data), `[${ITEM}, ${ITEM}]`)
  t.equal(cut(spans?.usage), '{"prompt_tokens":3}')
  t.equal(cut(spans?.model), '"m"')
  t.equal(cut(spans?.id), '"x"')
  t.equal(spans?.count, 2)
  t.equal(spans?.encoding, 'float')
})

t.test('usage inside a string or a nested object is not the usage', async (t) => {
  const text = `{"note":"\\\\\\"usage\\":{\\"prompt_tokens\\":9}","data":[{"object":"embedding","x":{"usage":{"prompt_tokens":8}},"embedding":[1]}]}`
  t.equal(scanAnswer(Buffer.from(text))?.usage, null)
})

t.test('vectors of two forms in one answer are left to the parser', async (t) => {
  const text = `{"data":[${ITEM},{"object":"embedding","index":1,"embedding":"AAAA"}]}`
  t.equal(scanAnswer(Buffer.from(text)), null)
})

t.test('a view into a larger buffer is scanned by its own offsets', async (t) => {
  const text = `{"data":[${ITEM}]}`
  const view = new Uint8Array(Buffer.from(`garbage${text}garbage`)).subarray(7, 7 + text.length)
  t.same(scanAnswer(view)?.data, { start: 8, end: text.length - 1 })
})
