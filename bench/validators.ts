/**
 * `npm run bench -- validators`: the cost of checking a body by the product's validator and by others on the
 * same shapes.
 */
import { keepRecord, progress } from './keep-record.ts'
import { optionsOrExit } from './options.ts'
import { ratiosOver } from './ratios.ts'
import { resultRow, type ResultRow, type SampleRecord } from './record.ts'
import type { Absent } from './target.ts'
import { ROOT } from './text.ts'
import { readValidatorsOptions, VALIDATORS_OPTIONS_TEXT } from './validators/options.ts'
import { SAMPLES, type Sample } from './validators/samples.ts'
import { VALIDATED, type Found, type ValidatedBody } from './validators/settings.ts'
import { startValidator, type Subject } from './validators/subjects.ts'

/** One sample of one body with the cost of each subject in each repeat. */
interface Case {
  readonly body: ValidatedBody
  readonly sample: Sample
  readonly durationMs: number
  readonly found: ReadonlyMap<Subject, SampleRecord[]>
}

const options = optionsOrExit(process.argv.slice(2), readValidatorsOptions, VALIDATORS_OPTIONS_TEXT)
const subjects: Subject[] = []
const absent: Absent[] = []
try {
  for (const name of options.only) {
    const one = await startValidator(name, ROOT)
    if ('absent' in one) absent.push(one)
    else subjects.push(one)
  }
  const cases = VALIDATED.flatMap((body) =>
    SAMPLES[body].map((sample): Case => ({
      body,
      sample,
      durationMs: (options.seconds * 1_000) / SAMPLES[body].length,
      found: new Map(subjects.map((subject) => [subject, []])),
    })),
  )
  for (const one of cases) for (const subject of subjects) await take(one, subject, options.warmUpMs)
  for (let repeat = 1; repeat <= options.repeats; repeat++) {
    progress(`repeat ${repeat} of ${options.repeats}`)
    for (const one of cases)
      for (const subject of subjects) one.found.get(subject)?.push(await take(one, subject, one.durationMs))
  }
  const rows = cases.flatMap(rowsOf)
  await keepRecord(
    {
      scenario: 'validators',
      question:
        'what checking a body costs by itself: CPU of one validation of the same bodies on the same shapes, in processes of their own',
      settings: { seconds: options.seconds, repeats: options.repeats },
      subjects: subjects.map(({ name, note }) => ({ name, note })),
      absent: absent.map(({ name, absent: reason }) => ({ name, reason })),
      rows,
      ratios: ratiosOver(rows, 'sluice', ['cpu_us_per_request']),
      curves: [],
      checks: [],
      notes: [
        'a request is one validation of a parsed body; nothing is parsed, sent or answered',
        'failed: samples that the validator judged otherwise than the product does',
        'a test judges random bodies by both typeboxes: they accept the same ones',
      ],
    },
    options.json,
  )
} finally {
  for (const subject of subjects) await subject.stop()
}

async function take({ body, sample }: Case, subject: Subject, durationMs: number): Promise<SampleRecord> {
  return recordOf(await subject.run({ body, sample: sample.name, durationMs }), sample)
}

function recordOf(
  { validations, cpuUs, wallMs, rssBytes, isAccepted }: Found,
  { isGood }: Sample,
): SampleRecord {
  const isJudgedAlike = isAccepted === isGood
  return {
    cpu_us_per_request: cpuUs / validations,
    cpu_s_per_gb: null,
    requests_per_second: (validations / wallMs) * 1_000,
    mb_per_second: null,
    latency_us: null,
    rss_mb: rssBytes / 1e6,
    generator_cores: 0,
    failed: isJudgedAlike ? 0 : 1,
    failures: isJudgedAlike ? [] : [`${isGood ? 'refused' : 'accepted'} it`],
  }
}

function rowsOf({ body, sample, found }: Case): readonly ResultRow[] {
  return [...found].map(([{ name: subject }, samples]) =>
    resultRow(
      {
        scenario: 'validators',
        case: `${body}: ${sample.name}`,
        subject,
        pace: 'closed',
        connections: 1,
        offered_per_second: null,
        payload_bytes: Buffer.byteLength(JSON.stringify(sample.value)),
      },
      samples,
    ),
  )
}
