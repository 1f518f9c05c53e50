import t from 'tap'
import { ROOT } from '../support/source.ts'

interface Figures {
  usd(value: number | null): string
  bytes(value: number): string
  duration(milliseconds: number): string
  figure(value: number): string
  share(value: number): string
  relative(at: string, now: number): string
}

/** As the compiler made it, before the build joins it with the page's other modules. */
const { usd, bytes, duration, figure, share, relative } = (await import(`${ROOT}dist/.page/src/server/dashboard/page/parts/figures.js`)) as Figures

t.test('figures of the dashboard are written as people read them', async (t) => {
  t.same([usd(0), usd(12.345), usd(0.000123), usd(-0.5), usd(null)], ['$0.00', '$12.35', '$0.000123', '-$0.50', '–'])
  t.same([bytes(512), bytes(1_536), bytes(2 ** 40)], ['512 bytes', '1.5 KiB', '1 TiB'])
  t.same([duration(0.42), duration(1_500), figure(0.1234), figure(12_345)], ['0.42 ms', '1.5 s', '0.123', '12,345'])
  t.same([share(0.0123), share(0.5), figure(NaN)], ['1.23 %', '50 %', '–'])
})

t.test('instants are said from now, in the largest unit that fits', async (t) => {
  const at = '2027-01-02T00:00:00Z'
  t.equal(relative(at, Date.parse('2027-01-02T03:30:00Z')), '3 hours ago')
  t.equal(relative(at, Date.parse('2027-01-01T00:00:00Z')), 'tomorrow')
  t.equal(relative(at, Date.parse('2027-01-01T23:59:18Z')), 'in 42 seconds')
})
