import fc from 'fast-check'
import t from 'tap'
import { attachment } from '../../../../src/server/http/reply/disposition.ts'

t.test('a plain name stands as it is, without its folders', async (t) => {
  t.equal(attachment('out/report 1.csv'), 'attachment; filename="report 1.csv"')
})

t.test('other characters have a fallback and an exact form', async (t) => {
  t.equal(
    attachment('naïve €.txt'),
    `attachment; filename="na_ve _.txt"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt`,
  )
  t.equal(
    attachment('a"b\\c%41.txt'),
    `attachment; filename="a_b_c_41.txt"; filename*=UTF-8''a%22b%5Cc%2541.txt`,
  )
  t.equal(
    attachment('a\r\nset-cookie: b'),
    `attachment; filename="a__set-cookie: b"; filename*=UTF-8''a%0D%0Aset-cookie%3A%20b`,
  )
})

t.test('no name breaks out of the header, and the exact form decodes to the name', async (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }).filter((name) => !name.includes('/')),
      (name) => {
        const value = attachment(name)
        const exact = /filename\*=UTF-8''(.*)$/.exec(value)?.[1]
        return (
          /^[\x20-\x7e]*$/.test(value) &&
          (exact === undefined || decodeURIComponent(exact) === name.toWellFormed())
        )
      },
    ),
  )
  t.pass()
})
