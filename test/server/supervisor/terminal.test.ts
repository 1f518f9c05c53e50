/** A node that a person starts and ends at a terminal. */
import t from 'tap'
import { nodeSettings, sluice } from '../../support/nodes/node.ts'
import { noPty, openPty, plainText } from '../../support/nodes/pty.ts'

t.setTimeout(600_000)

t.test(
  'on a terminal warnings are readable lines, the banner comes last, and Ctrl-C explains the shutdown',
  { skip: noPty },
  async (t) => {
    const settings = await nodeSettings(t, { hasTables: false })
    const node = openPty(t, {
      command: sluice('serve'),
      env: { ...settings, SLUICE_REDIS: 'a slip', npm_lifecycle_event: 'test' },
      rows: 60,
      columns: 200,
    })
    const begun = await node.until(/Try it:[^]*echo-1:slow[^]*\n\s*\n/)
    const shown = plainText(node.output())
    t.match(shown, /^\d\d:\d\d:\d\d warn {2}supervisor: settings_unknown names=\["SLUICE_REDIS"\]\r?$/m)
    t.notMatch(shown, /"event":|store\.migrated|\binfo\b/)
    t.ok(shown.indexOf('settings_unknown') < shown.indexOf('Dashboard'), 'the banner comes last')
    node.keys('\u0003')
    await node.until(
      /Draining: running calls can finish\. Press Ctrl-C again to stop at once\.[^]*Stopped\./,
      begun,
    )
    t.equal((await node.ended).code, 0)
  },
)
