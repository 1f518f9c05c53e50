import fc from 'fast-check'
import t from 'tap'
import { attachment, select } from '../../../../src/server/http/reply/content-reply.ts'

t.test('a plain filename is sent unchanged, without its folders', async (t) => {
  t.equal(attachment('out/report 1.csv'), 'attachment; filename="report 1.csv"')
})

t.test('a filename with other characters is sent in an ASCII form and in an exact form', async (t) => {
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

t.test('no filename can break out of the header, and the exact form decodes to the filename', async (t) => {
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

const CONTENT = { sizeBytes: 1_000, etag: 'abc' }
const of = (range: string, more: object = {}) => select({ range, ...more }, CONTENT, false)
const part = (from: number, to: number) => ({ kind: 'part', from, to })

t.test('a prefix, a middle, an open end and a suffix are valid ranges', async (t) => {
  t.same(of('bytes=0-0'), part(0, 1))
  t.same(of('bytes=10-19'), part(10, 20))
  t.same(of('bytes=990-'), part(990, 1_000))
  t.same(of('bytes=-10'), part(990, 1_000))
  t.same(of('Bytes= 0-9 '), part(0, 10))
})

t.test('a range beyond the end is limited to the end', async (t) => {
  t.same(of('bytes=900-99999999999999999999'), part(900, 1_000))
  t.same(of('bytes=-5000'), part(0, 1_000))
})

t.test('a range that begins after the end, and an empty suffix, are not satisfiable', async (t) => {
  for (const range of ['bytes=1000-', 'bytes=1000-1001', 'bytes=-0', 'bytes=99999999999999999999-']) {
    t.same(of(range), { kind: 'unsatisfiable' }, range)
  }
  t.same(select({ range: 'bytes=0-0' }, { sizeBytes: 0, etag: 'a' }, false), { kind: 'unsatisfiable' })
})

t.test('ignores any range header other than a single range of bytes', async (t) => {
  for (const range of ['bytes=0-1,5-6', 'items=0-1', 'bytes=5-1', 'bytes=-', 'bytes=a-b', 'bytes=1', '']) {
    t.same(of(range), { kind: 'whole' }, range)
  }
})

t.test('a range applies only while the content matches If-Range', async (t) => {
  t.same(of('bytes=0-9', { 'if-range': '"abc"' }), part(0, 10))
  for (const other of ['"abd"', 'W/"abc"', 'Sat, 01 Jan 2028 00:00:00 GMT']) {
    t.same(of('bytes=0-9', { 'if-range': other }), { kind: 'whole' }, other)
  }
})

t.test('If-None-Match is checked before the range, with weak comparison', async (t) => {
  for (const known of ['"abc"', '"x", W/"abc"', '*', ' "abc" ']) {
    t.same(of('bytes=5000-', { 'if-none-match': known }), { kind: 'not_modified' }, known)
  }
  t.same(select({ 'if-none-match': '"abcd"' }, CONTENT, false), { kind: 'whole' })
})

t.test('HEAD ignores the range', async (t) => {
  t.same(select({ range: 'bytes=0-9' }, CONTENT, true), { kind: 'whole' })
})

t.test('a range always lies within the content and is not empty', async () => {
  fc.assert(
    fc.property(
      fc.nat(2_000),
      fc.option(fc.nat(3_000)),
      fc.option(fc.nat(3_000)),
      (sizeBytes, first, last) => {
        const chosen = select(
          { range: `bytes=${first ?? ''}-${last ?? ''}` },
          { sizeBytes, etag: 'e' },
          false,
        )
        return (
          chosen.kind !== 'part' || (chosen.from >= 0 && chosen.from < chosen.to && chosen.to <= sizeBytes)
        )
      },
    ),
  )
})
