import { equal, ok } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { LIST_PAGE_BYTES_MAX } from '../../src/schemas/limits/limits.ts'
import { cutPage, offsetPage } from '../../src/schemas/lists/cut-page.ts'

const row = (share: number): { text: string } => ({
  text: 'ä'.repeat(Math.floor((LIST_PAGE_BYTES_MAX / 2) * share)),
})
const same = <T>(value: T): T => value

t.test(
  'pages by offset cover the whole list, and no page exceeds the byte limit by more than one item',
  async (t) => {
    const sizes = fc.array(fc.constantFrom(0, 0.01, 0.3, 0.7, 1, 2.5), { maxLength: 12 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 6 }), (shares, limit) => {
        const all = shares.map(row)
        let offset = 0
        for (let hasMore = all.length > 0; hasMore;) {
          const page = offsetPage(
            { rows: all.slice(offset, offset + limit), totalCount: all.length },
            { offset },
            same,
          )
          ok(page.data.length > 0 && page.data.length <= limit)
          ok(
            Buffer.byteLength(JSON.stringify(page.data.slice(0, -1))) <=
              LIST_PAGE_BYTES_MAX + page.data.length + 2,
          )
          for (const [nth, item] of page.data.entries()) equal(item, all[offset + nth])
          offset += page.data.length
          hasMore = page.has_more
        }
        equal(offset, all.length)
      }),
      { numRuns: 60 },
    )
    t.pass('they are')
  },
)

t.test('a page ends with the item that reaches its byte limit, and reports whether it was cut', async (t) => {
  const rows = [row(0.4), row(0.7), row(0)]
  const page = cutPage(rows, same)
  t.same([page.data.length, page.rows.length, page.isCut], [2, 2, true])
  t.equal(cutPage(rows.slice(1), same).isCut, false)
  t.same([cutPage([row(3)], same).data.length, cutPage([], same).isCut], [1, false], 'one there always is')
})

t.test('a page after the end has no items', async (t) => {
  t.same(offsetPage({ rows: [], totalCount: 3 }, { offset: 7 }, same), {
    data: [],
    total_count: 3,
    has_more: false,
  })
  t.equal(offsetPage({ rows: [row(0)], totalCount: 3 }, { offset: 2 }, same).has_more, false)
  t.equal(offsetPage({ rows: [row(0)], totalCount: 3 }, { offset: 1 }, same).has_more, true)
})
