import t from 'tap'
import { legend, plot, type PlotLine } from '../../../bench/report/svg/plot.ts'
import { HOSTILE } from './full-results.ts'

const line = (name: string, place: number): PlotLine => ({
  name,
  place,
  points: [
    { x: 0, y: 0, bounds: [0, 0.5], text: `${name} least` },
    { x: 1, y: 1, bounds: [0.5, 1], text: `${name} most` },
  ],
})
const drawn = (...lines: readonly PlotLine[]): string =>
  plot({
    label: HOSTILE,
    xTitle: HOSTILE,
    yTitle: HOSTILE,
    xTicks: [{ at: 0.5, text: HOSTILE }],
    yTicks: [{ at: 1, text: HOSTILE }],
    lines,
  }).text

t.test('names that would be markup are text', async (t) => {
  const text = drawn(line(HOSTILE, 1)) + legend([line(HOSTILE, 1)]).text
  t.notMatch(text, /<img|<\/script|<!--/)
  t.match(text, '&lt;/script&gt;')
})

t.test('less is lower and further left, for lines, dots, bands and names at the axes', async (t) => {
  const text = drawn(line('nginx', 2))
  t.match(text, '<polyline class="line l2 d2" points="0.0,200.0 1000.0,0.0"/>')
  t.match(text, /cx="0\.00%" cy="200\.0"[^>]*><title>nginx least</)
  t.match(text, /cx="100\.00%" cy="0\.0"[^>]*><title>nginx most</)
  t.match(text, '<polygon class="band l2" points="0.0,100.0 1000.0,0.0 1000.0,100.0 0.0,200.0"/>')
  t.match(text, /<text x="0" y="0\.0"/)
  t.match(text, /<text x="50\.00%" y="200"/)
})

t.test('the product lies above the others', async (t) => {
  const text = drawn(line('sluice', 0), line('nginx', 2))
  t.ok(text.indexOf('class="line l2') < text.indexOf('class="line l0'))
})
