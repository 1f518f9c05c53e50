import t from 'tap'
import { ONCE_MAX, type KeptForm } from '../../src/schemas/kept-body.ts'
import { scanBody } from '../../src/workers/body-scan.ts'
import { KeptNames } from '../../src/workers/kept-plan.ts'

function keptOnce(count: number) {
  const once = Array.from({ length: count }, (_, nth) => `n${nth}`)
  const form: KeptForm = { names: ['items'], marks: { items: { each: { once } } } }
  const names = new KeptNames(form, form.names)
  const ambiguousIn = (members: readonly string[]): string | null => {
    const bytes = Buffer.from(`{"items":[{${members.map((name) => `"${name}":1`).join()}}]}`)
    const scanned = scanBody(bytes, { names: form.names, othersMax: 0, keeps: names })
    if (!scanned.ok || scanned.known === null) throw new Error('was not read')
    return scanned.ambiguous?.name ?? null
  }
  return { once, ambiguousIn }
}

t.test(
  'each of ONCE_MAX members that may occur once is found when it is repeated, and no other is',
  async (t) => {
    const { once, ambiguousIn } = keptOnce(ONCE_MAX)
    t.equal(ambiguousIn(once), null)
    for (const name of once) t.equal(ambiguousIn([...once, name]), name)
  },
)

t.test('a plan with more members that may come once than the scan has bits for is refused', async (t) => {
  t.throws(() => keptOnce(ONCE_MAX + 1), /33 members are marked as unique, at most 32 are allowed/)
})
