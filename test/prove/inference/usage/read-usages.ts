/** Usages in answers of every protocol, as the readers, the judge and the writers of usage make of them. */
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { judgeTextUsage, TextRates } from '../../../../src/server/inference/charge.ts'
import { bodyOf } from '../../../support/inference/fake-stream.ts'
import type { Proof } from '../../proof.ts'
import { costOf, pricesBy, tokensBy, type Tokens } from '../cost-oracle.ts'
import { Faults } from '../streams/faults.ts'
import { spoiled } from './spoiled.ts'
import { TELLINGS, type Members, type Telling } from './tellings.ts'
import { reportedForms, type Ended, type ReportedForm } from './reported-forms.ts'
import { orNull } from '../../../support/must.ts'
import { failuresOfEvents } from '../../../../src/server/upstream/provider-failure.ts'
import { textCostNano, usdOfNano } from '../../../../src/schemas/money/costs.ts'
import { PART_PROTOCOLS } from '../../../../src/dialects/translate.ts'

const FAILURE_OF = failuresOfEvents({ credential: '', host: '' })
/** Bytes of the prompt, and of the answer. */
const SEEN = {
  text: { bytes: 40, mediaTokens: 0 },
  ...{ contextTokens: null, outputTokensMax: Infinity, reasons: false, seconds: 1, isTeaching: true },
  ...{ outputBytes: 8, isWhole: true },
}

type Forms = Readonly<Record<Dialect, ReportedForm>>
type Random = (below: number) => number

/** @param count usages of each protocol, and as many with invalid figures */
export async function checkReadUsages(proof: Proof, count: number): Promise<void> {
  const forms = await reportedForms()
  const random = (below: number): number => proof.random(Math.min(below, 2 ** 31))
  for (const telling of TELLINGS) {
    const [honest, hostile] = [new Faults(), new Faults()]
    for (let nth = 0; nth < count; nth++) {
      const wrong = honestWrong(telling, forms, random)
      if (wrong !== null) honest.add(wrong)
      const odd = hostileWrong(telling, forms, random)
      if (odd !== null) hostile.add(odd)
    }
    proof.check(
      `${telling.protocol}: charged and told, in each dialect, are what the oracle has`,
      honest.isNone,
      honest.reported(count),
    )
    proof.check(
      `${telling.protocol}: figures that are none are estimated, and nothing is counted twice`,
      hostile.isNone,
      hostile.reported(count),
    )
  }
}

function honestWrong(telling: Telling, forms: Forms, random: Random): string | null {
  const truth = tokensBy(random, telling)
  const price = pricesBy(random)
  const answer = answerOf(telling, telling.usage(truth), random)
  const end = readOf(telling, answer)
  if (end === null) return `${textOf(answer)} is not read`
  const nano = textCostNano(end.usage, price)
  const expected = costOf(truth, price)
  if (BigInt(nano) !== expected || end.isEstimated)
    return `${textOf(answer)} costs ${nano}, not ${expected}; estimated: ${end.isEstimated}`
  return reportedWrong(forms, end, { nano, expected: truth })
}

/** One figure is not a count; nothing else is known of the call. */
function hostileWrong(telling: Telling, forms: Forms, random: Random): string | null {
  const truth = tokensBy(random, telling)
  const { usage, name } = spoiled(telling.usage(truth), random)
  const answer = answerOf(telling, usage, random)
  const end = readOf(telling, answer)
  if (end === null) return `${textOf(answer)} is not read`
  const isSum = telling.sums.includes(name)
  if (isSum && !end.isEstimated) return `${textOf(answer)} is not estimated`
  const { input, cacheRead, cacheWrite } = end.usage
  const [most, found] = [truth.input + truth.cacheRead + truth.cacheWrite, input + cacheRead + cacheWrite]
  if (!end.isEstimated && found > most) return `${textOf(answer)}: a prompt of ${found}, not of ${most}`
  return reportedWrong(forms, end, { nano: textCostNano(end.usage, pricesBy(random)) })
}

interface Answer {
  readonly body: Buffer
  readonly isStream: boolean
}

function answerOf(telling: Telling, usage: object | null, random: Random): Answer {
  const stream = telling.streams[random(telling.streams.length + 1)]
  return stream === undefined
    ? { body: Buffer.from(JSON.stringify(telling.whole(usage))), isStream: false }
    : { body: bodyOf(stream(usage)), isStream: true }
}

function readOf({ protocol }: Telling, { body, isStream }: Answer): Ended | null {
  const figures = isStream ? streamOf(protocol, body) : orNull(PART_PROTOCOLS[protocol].whole(body))
  if (figures === null) return null
  return { ...judgeTextUsage(figures.usage, SEEN, new TextRates()), isByok: false }
}

function streamOf(
  protocol: Telling['protocol'],
  body: Buffer,
): { readonly usage: Ended['usage'] | null } | null {
  const stream = PART_PROTOCOLS[protocol].stream(FAILURE_OF)
  const { failure } = stream.read(body)
  return failure === null && stream.end() === null ? stream : null
}

interface Paid {
  readonly nano: number
  /** Absent: unknown. */
  readonly expected?: Tokens
}

function reportedWrong(forms: Forms, end: Ended, { nano, expected }: Paid): string | null {
  for (const dialect of DIALECTS) {
    const { shown, read, check } = forms[dialect]
    const reported = JSON.parse(shown(end, nano).whole) as Members
    try {
      check(reported)
    } catch (problem) {
      return `${dialect}: its clients refuse ${JSON.stringify(reported)}: ${String(problem)}`
    }
    const { prompt, cacheRead, cacheWrite, answer, reasoning, total } = read(reported)
    const of: Pick<Tokens, 'input' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning'> =
      expected ?? end.usage
    const sums = [of.input + of.cacheRead + of.cacheWrite, of.output + of.reasoning] as const
    const isRight =
      prompt === sums[0] &&
      answer === sums[1] &&
      (total === undefined || total === sums[0] + sums[1]) &&
      [cacheRead, cacheWrite, reasoning].join() === [of.cacheRead, of.cacheWrite, of.reasoning].join() &&
      reported['cost'] === usdOfNano(nano) &&
      (reported['is_estimated'] ?? false) === end.isEstimated
    if (!isRight) return `${dialect} is told ${JSON.stringify(reported)} of ${JSON.stringify(of)}`
  }
  return null
}

function textOf({ body }: Answer): string {
  return body.toString().replaceAll('\n', ' ')
}
