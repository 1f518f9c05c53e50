import { createHash } from 'node:crypto'
import t from 'tap'
import { chunks } from '../../support/wire/chunks.ts'
import { CORPUS } from '../../support/corpus/corpus.ts'
import { must, present } from '../../support/must.ts'
import { until } from '../../support/nodes/node.ts'
import { openFiles, openSealed, openSessions, pushAll, reopened, text } from '../../support/files/sessions.ts'
import { ACCEPTED_CONTENT } from '../../../src/schemas/files/mime-types.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

t.test('a hundred uploads at once each get their own verdict, and nothing is left of them', async (t) => {
  const stand = await openSessions(t, { threadCount: 2 })
  const contents = Array.from({ length: 100 }, (_, nth) =>
    Buffer.concat([Buffer.from(`upload ${nth}\n`), text(50_000 + nth * 3_000)]),
  )
  const sha256s = contents.map((content) => createHash('sha256').update(content).digest('hex'))
  const sessions = contents.map((_, nth) => openSealed(stand, `file_${nth}`))
  const outcomes = await Promise.all(
    sessions.map((session, nth) => pushAll(session, chunks(present(contents[nth]), [4_096, 60_000]))),
  )
  t.same(
    outcomes.map((outcome) => must(outcome).sha256),
    sha256s,
  )
  for (const nth of [0, 57, 99]) {
    const bytes = await reopened(stand, `file_${nth}`, must(present(outcomes[nth])))
    t.ok(bytes.equals(present(contents[nth])), `upload ${nth}`)
  }
  await Promise.all(sessions.map((session) => session.cancel()))
  t.same(await openFiles(stand), [])
  // A thread reports the end of a reader a moment after the reader has the last byte.
  await until('no session is left', () => stand.sessions.load.unsealings === 0)
  t.match(
    [stand.intake.waitingBytes, stand.sessions.load],
    [0, { intakes: 0, unsealings: 0, waiting: 0, threads: 2, silentThreads: 0 }],
  )
})

t.test('every file of the corpus gets the verdict of the scanner', async (t) => {
  const stand = await openSessions(t)
  for (const { name, make, expected } of CORPUS) {
    const bytes = make()
    const outcome = await pushAll(
      must(stand.intake.open({ holder: 'w', target: null, content: 'refuse', bytesMax: bytes.length })),
      chunks(bytes, [70_000]),
    )
    if (typeof expected === 'string')
      t.match(outcome, { value: { mimeType: expected, sizeBytes: bytes.length } }, name)
    else if (bytes.length === 0) t.match(outcome, { failure: { name: 'file_empty' } }, name)
    else
      t.match(
        outcome,
        { failure: { name: 'content_unsupported', fields: { found: expected, accepted: ACCEPTED_CONTENT } } },
        name,
      )
  }
})
