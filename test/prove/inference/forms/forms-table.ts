/**
 * The table of fields is true: what it says of a field becomes of the field, in each pair of forms, and no
 * client has a field that it does not know. D6.
 */
import { fieldRows, type FieldRow } from '../../../../src/dialects/table/field-rows.ts'
import { topOf } from '../../../../src/dialects/table/field-table.ts'
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { clientTypes } from '../../../support/inference/clients/client-types.ts'
import type { Program, Proof } from '../../proof.ts'
import { Faults } from '../streams/faults.ts'
import { unknownFields } from './client-fields.ts'
import { defaultRequests } from './default-requests.ts'
import { LEAST, SAMPLES, type Body } from './field-samples.ts'
import {
  openFieldStand,
  PROVIDER_KINDS,
  REFUSING_KINDS,
  type FieldStand,
  type ProviderKind,
} from './field-stand.ts'
import { seenInProcess } from './in-process.ts'
import { nestedSamples, type NestedSample } from './nested-samples.ts'
import { verdictOf, type Seen, type Verdict } from './verdict.ts'

export const program: Program = {
  text: 'each field in each of the nine pairs is mapped, dropped and named, or refused with its path; the types of clients have no other',
  async run(proof) {
    const cases = casesOf()
    for (const kind of PROVIDER_KINDS) inProcess(proof, kind, cases)
    for (const kind of PROVIDER_KINDS) await overSockets(proof, kind, cases)
    await types(proof)
    for (const kind of REFUSING_KINDS) await defaultRequests(proof, kind)
  },
}

/** A field of a dialect, alone. */
interface Case {
  readonly dialect: Dialect
  readonly field: string
  /** Requests with the field and without it. */
  requests(kind: ProviderKind): readonly [withField: Body, without: Body]
  /** What is wrong with what became of it; null: nothing. */
  fault(verdict: Verdict, kind: ProviderKind): string | null
}

function casesOf(): readonly Case[] {
  return [...DIALECTS.flatMap(fieldCases), ...nestedSamples().map(nestedCase)]
}

/** Members without a sample stand in every request, or are in a sample of their own. */
function fieldCases(dialect: Dialect): readonly Case[] {
  const rows = fieldRows(dialect, { protocol: 'gemini', isStrict: false })
  const names = rows.filter(
    (row) => row.class !== 'ours' && row.field !== 'model' && !row.field.includes('['),
  )
  return names.map(({ field }) => {
    const sample = SAMPLES[dialect].get(field)
    if (sample === undefined) throw new Error(`there is no sample of ${dialect} ${field}`)
    const { set, beside = {}, at = {} } = sample
    return {
      dialect,
      field,
      requests: ({ protocol }) => {
        const without = { ...LEAST[dialect], ...beside }
        return [{ ...without, ...(at[protocol] ?? set) }, without]
      },
      fault: (verdict, kind) => {
        const row = fieldRows(dialect, kind).find((one) => one.field === field)
        return row === undefined ? 'is not in the table' : rowFault(verdict, row)
      },
    }
  })
}

function rowFault(
  { classes, changed, named }: Verdict,
  { field, class: of, to = [] }: FieldRow,
): string | null {
  // A member of the field may be dropped where the field itself is mapped.
  const isMapped = of === 'mapped' && classes.includes('mapped') && named.every((name) => name.includes('.'))
  if (classes.join() !== of && !isMapped) return `is ${classes.join(' and ') || 'lost in silence'}, not ${of}`
  const tops = to.map(topOf)
  const others = changed.filter((name) => !tops.includes(name))
  if (others.length > 0) return `changes ${others.join()}, not ${to.join()}`
  return of === 'dropped' && named.join() !== field ? `is named ${named.join()}` : null
}

function nestedCase({ dialect, field, class: of, withField, without }: NestedSample): Case {
  return {
    dialect,
    field,
    requests: () => [withField, without],
    fault({ classes, isWithin = false }, kind) {
      if (isWithin && classes.length === 1) return null
      const found = classes.join(' and ')
      if (of === 'label') return classes.length === 0 ? null : `is ${found}, not a label`
      const rows = fieldRows(dialect, kind)
      // A member without a row goes the way of its object.
      const [object = field] = /^.*\]/.exec(field) ?? []
      const row = rows.find((one) => one.field === field) ?? rows.find((one) => one.field === object)
      if (row?.limit !== undefined && classes.length === 1) return null
      return found === row?.class ? null : `is ${found || 'lost in silence'}, not ${row?.class}`
    },
  }
}

function inProcess(proof: Proof, { protocol, isStrict }: ProviderKind, cases: readonly Case[]): void {
  const faults = new Faults()
  const translated = cases.filter(({ dialect }) => dialect !== protocol)
  for (const one of translated) {
    const see = (body: Body): Seen => seenInProcess({ from: one.dialect, to: protocol, isStrict }, body)
    const [withField, without] = one.requests({ protocol, isStrict })
    add(faults, one, one.fault(verdictOf(see(withField), see(without)), { protocol, isStrict }))
  }
  proof.check(
    `${nameOf({ protocol, isStrict })}: each field has one class`,
    faults.isNone,
    faults.reported(translated.length),
  )
}

async function overSockets(proof: Proof, kind: ProviderKind, cases: readonly Case[]): Promise<void> {
  const stand = await openFieldStand(proof, kind)
  const faults = new Faults()
  const translated = cases.filter(({ dialect }) => dialect !== kind.protocol)
  for (const one of translated) add(faults, one, await sentFault(stand, one, kind))
  proof.check(`${nameOf(kind)}: so it is over sockets`, faults.isNone, faults.reported(translated.length))
}

async function sentFault(stand: FieldStand, one: Case, kind: ProviderKind): Promise<string | null> {
  const [withField, without] = one.requests(kind)
  try {
    const seen = await stand.pass(one.dialect, withField)
    return one.fault(verdictOf(seen, await stand.pass(one.dialect, without)), kind)
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem)
  }
}

function add(faults: Faults, { dialect, field }: Case, fault: string | null): void {
  if (fault !== null) faults.add(`${dialect} ${field} ${fault}`)
}

function nameOf({ protocol, isStrict }: ProviderKind): string {
  return isStrict ? `at ${protocol}, strict` : `at ${protocol}`
}

async function types(proof: Proof): Promise<void> {
  const requests = await clientTypes()
  const unknown = requests.flatMap(unknownFields)
  const count = requests.reduce((sum, { members }) => sum + members.length, 0)
  proof.check(
    'each member that clients have in their types is in a class',
    unknown.length === 0,
    unknown.length === 0 ? `${requests.length} types with ${count} members` : unknown.join(', '),
  )
}
