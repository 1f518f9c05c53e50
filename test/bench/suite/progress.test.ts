import t from 'tap'
import { Progress } from '../../../bench/suite/progress.ts'

function stage(isTTY: boolean): {
  readonly progress: Progress
  readonly written: string[]
  pass(ms: number): void
} {
  let now = 0
  const written: string[] = []
  const screen = { isTTY, columns: 60, write: (text: string) => written.push(text) }
  return { progress: new Progress(screen, [30, 90], () => now), written, pass: (ms) => (now += ms) }
}

t.test('without a terminal each step is a line, with the share that is done and the time left', async (t) => {
  const { progress, written, pass } = stage(false)
  progress.begin('a')
  pass(15_000)
  progress.step('a: half')
  pass(30_000)
  progress.begin('b')
  pass(45_000)
  progress.step('b: half')
  progress.end()
  t.same(written, [
    '[--------------------]   0 %  2:00 left  a\n',
    '[###-----------------]  12 %  1:45 left  a: half\n',
    '[#####---------------]  25 %  2:15 left  b\n',
    '[#############-------]  62 %  0:54 left  b: half\n',
  ])
})

t.test('a scenario that takes longer than expected does not count as done before it ends', async (t) => {
  const { progress, pass } = stage(false)
  progress.begin('a')
  pass(1_000_000)
  t.ok(progress.share < 0.25)
})

t.test('redraws one line within the width of a terminal, with messages above it', async (t) => {
  const { progress, written } = stage(true)
  progress.begin('x'.repeat(200))
  progress.say('kept')
  progress.end()
  t.match(written[0], /^\r\u001B\[K\[-{20}\] {3}0 % {2}2:00 left {2}x+$/)
  t.equal(written[0]?.length, '\r\u001B[K'.length + 59)
  t.same(written.slice(1), ['\r\u001B[K', 'kept\n', '\r\u001B[K'])
})

t.test('a live line replaces the previous one on a terminal, and is a separate line elsewhere', async (t) => {
  const plain = stage(false)
  plain.progress.begin('a')
  plain.progress.live('5 s: 40 calls/s')
  t.equal(plain.written.at(-1), '5 s: 40 calls/s\n')
  const terminal = stage(true)
  terminal.progress.begin('a')
  terminal.progress.live('5 s: 40 calls/s')
  terminal.progress.end()
  t.ok(terminal.written.some((text) => text.startsWith('\r') && text.includes('40 calls/s')))
  t.notOk(terminal.written.some((text) => text.endsWith('\n')))
})
