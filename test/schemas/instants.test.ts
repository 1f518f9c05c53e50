import t from 'tap'
import { instantOf } from '../../src/schemas/values/instants.ts'

t.test('an instant is converted to UTC by its offset', async (t) => {
  t.equal(instantOf('2027-01-31T12:00:00+02:00')?.toISOString(), '2027-01-31T10:00:00.000Z')
  t.equal(instantOf('2028-02-29t23:59:59.5z')?.toISOString(), '2028-02-29T23:59:59.500Z')
})

for (const text of [
  '',
  'soon',
  '2027-01-31',
  '2027-01-31T12:00:00',
  '2027-01-31 12:00:00Z',
  '2027-02-29T00:00:00Z',
  '2027-04-31T00:00:00Z',
  '2027-00-01T00:00:00Z',
  '2027-13-01T00:00:00Z',
  '2027-01-00T00:00:00Z',
  '2027-01-01T24:00:00Z',
  '2027-01-01T23:60:00Z',
  '2027-01-01T00:00:00+24:00',
  '2027-01-01T00:00Z',
  '9999-12-31T23:59:59-00:01',
]) {
  t.test(`not an instant: '${text}'`, async (t) => t.equal(instantOf(text), null))
}
