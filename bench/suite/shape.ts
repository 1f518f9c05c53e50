/**
 * Shapes of `results.json` and of a scenario's record, checked before use: a program may have died while it
 * wrote.
 */
import { readFileSync } from 'node:fs'
import { Type, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { RESULTS_FORM, type ResultsFile, type ScenarioRecord } from '../record.ts'

/** A missing figure is null on disk. */
const Figure = Type.Union([Type.Number(), Type.Null()])
const SpreadShape = Type.Object({ median: Figure, min: Figure, max: Figure })
const orNull = (shape: TSchema): TSchema => Type.Union([shape, Type.Null()])
const latency = (shape: TSchema): TSchema =>
  orNull(Type.Object({ p50: shape, p90: shape, p99: shape, p99_9: shape, max: shape }))
const Texts = Type.Array(Type.String())

const SampleShape = Type.Object({
  cpu_us_per_request: Figure,
  cpu_s_per_gb: Figure,
  requests_per_second: Figure,
  mb_per_second: Figure,
  latency_us: latency(Figure),
  latency_by_percent_us: Type.Optional(Type.Record(Type.String(), Figure)),
  rss_mb: Figure,
  figures: Type.Optional(Type.Record(Type.String(), Figure)),
  generator_cores: Figure,
  failed: Type.Number(),
  failures: Texts,
})

const RowShape = Type.Object({
  scenario: Type.String(),
  case: Type.String(),
  subject: Type.String(),
  pace: Type.Union([Type.Literal('closed'), Type.Literal('open')]),
  connections: Type.Number(),
  offered_per_second: Figure,
  payload_bytes: Figure,
  cpu_us_per_request: SpreadShape,
  cpu_s_per_gb: orNull(SpreadShape),
  requests_per_second: SpreadShape,
  mb_per_second: orNull(SpreadShape),
  latency_us: latency(SpreadShape),
  rss_mb: orNull(SpreadShape),
  figures: Type.Optional(Type.Record(Type.String(), SpreadShape)),
  generator_cores: SpreadShape,
  is_generator_limit: Type.Boolean(),
  failed: Type.Number(),
  failures: Texts,
  samples: Type.Array(SampleShape),
})

const RecordShape = Type.Object({
  scenario: Type.String(),
  question: Type.String(),
  headline: Type.Optional(Type.String()),
  settings: Type.Record(Type.String(), Type.Union([Type.String(), Figure])),
  took_seconds: Type.Number(),
  subjects: Type.Array(
    Type.Object({ name: Type.String(), note: Type.String(), below: Type.Optional(Type.String()) }),
  ),
  absent: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() })),
  rows: Type.Array(RowShape),
  ratios: Type.Array(
    Type.Object({
      scenario: Type.String(),
      case: Type.String(),
      metric: Type.String(),
      over: Type.String(),
      under: Type.String(),
      ratio: Type.Object({ median: Figure, low: Figure, high: Figure }),
    }),
  ),
  curves: Type.Array(
    Type.Object({
      scenario: Type.String(),
      title: Type.String(),
      x: Type.String(),
      y: Type.String(),
      lines: Type.Array(
        Type.Object({ name: Type.String(), points: Type.Array(Type.Tuple([Figure, Figure])) }),
      ),
    }),
  ),
  checks: Type.Array(
    Type.Object({
      scenario: Type.String(),
      text: Type.String(),
      found: SpreadShape,
      at_least: Figure,
      at_most: Figure,
      failed: Type.Number(),
      is_met: Type.Boolean(),
      repeats: Type.Optional(Figure),
    }),
  ),
  notes: Texts,
})

const FileShape = Type.Object({
  form: Type.Literal(RESULTS_FORM),
  at: Type.String(),
  command: Type.String(),
  machine: Type.Object({ cpu: Type.String(), cores: Type.Number() }),
  versions: Type.Record(Type.String(), Type.String()),
  took_seconds: Type.Number(),
  scenarios: Type.Array(RecordShape),
})

const record = Compile(RecordShape)
const file = Compile(FileShape)

/**
 * Figures of a read file may be null, although their type is number: code that computes with them checks
 * first.
 */
export type OnDisk<T> = { readonly value: T } | { readonly problem: string }

export function readRecord(path: string): OnDisk<ScenarioRecord> {
  const parsed = parse(path)
  if ('problem' in parsed) return parsed
  if (record.Check(parsed.value)) return { value: parsed.value as unknown as ScenarioRecord }
  return { problem: `${path} is no record of a scenario: ${first(record.Errors(parsed.value))}` }
}

export function readResults(path: string): OnDisk<ResultsFile> {
  const parsed = parse(path)
  if ('problem' in parsed) return parsed
  const form =
    typeof parsed.value === 'object' && parsed.value !== null ? Reflect.get(parsed.value, 'form') : undefined
  if (typeof form === 'number' && form !== RESULTS_FORM)
    return { problem: `${path} has form ${form}; this bench reads form ${RESULTS_FORM}` }
  if (file.Check(parsed.value)) return { value: parsed.value as unknown as ResultsFile }
  return { problem: `${path} is no results.json of a bench: ${first(file.Errors(parsed.value))}` }
}

function parse(path: string): OnDisk<unknown> {
  try {
    return { value: JSON.parse(readFileSync(path, 'utf8')) as unknown }
  } catch (problem) {
    return {
      problem: `${path} cannot be read: ${problem instanceof Error ? (problem.message.split('\n')[0] ?? '') : String(problem)}`,
    }
  }
}

function first(errors: Iterable<{ readonly instancePath: string; readonly message: string }>): string {
  for (const { instancePath, message } of errors)
    return `${instancePath === '' ? 'it' : instancePath} ${message}`
  return 'it has another form'
}
