import type {
  EndpointCheck,
  EndpointForm,
  FormFinding,
} from '../../../schemas/endpoints/private-endpoints.ts'
import type { ProbeResult } from '../../ports/endpoints/private-endpoints.ts'
import type { FormVerdict } from './probe-verdict.ts'

/** What a probe found of one form. */
export interface ProbedForm extends FormVerdict {
  readonly form: EndpointForm
  /** Null when there was no response. */
  readonly status: number | null
}

/** A form for whose probe there was no room. */
export interface UnprobedForm {
  readonly form: EndpointForm
  readonly checks: null
}

/**
 * What the forms say of their endpoint. @param forms at least one that was probed
 * @param areAllWanted every form has to be served, otherwise any of them
 */
export function conclude(forms: readonly (ProbedForm | UnprobedForm)[], areAllWanted: boolean): ProbeResult {
  const found = forms.filter(isProbed)
  const served = found.find(isServed)
  const failed = found.find((one) => !isServed(one))
  const telling = areAllWanted ? (failed ?? served) : (served ?? furthest(found))
  if (telling === undefined) throw new Error('a probe that tested no API')
  const { checks, isSlow, form } = telling
  const named = (check: EndpointCheck): EndpointCheck => (check.passed ? check : { ...check, form })
  return {
    checks: found.length > 1 ? checks.map(named) : checks,
    isSlow,
    forms: forms.map(findingOf),
  }
}

function isProbed(one: ProbedForm | UnprobedForm): one is ProbedForm {
  return one.checks !== null
}

function isServed({ checks }: FormVerdict): boolean {
  return checks.every(({ passed }) => passed)
}

function findingOf(one: ProbedForm | UnprobedForm): FormFinding {
  if (!isProbed(one)) return { form: one.form, passed: false, checks: [], is_unprobed: true }
  return { form: one.form, passed: isServed(one), checks: [...one.checks] }
}

/** Of those that got as far, the first. */
function furthest(found: readonly ProbedForm[]): ProbedForm | undefined {
  return [...found].sort((one, other) => distanceOf(other) - distanceOf(one))[0]
}

/** Statuses of a server that has no such path. */
const PATHLESS: readonly (number | null)[] = [404, 405, 501]

/** Checks that passed; a path that is not there says less than any other failure. */
function distanceOf({ checks, status }: ProbedForm): number {
  const passed = checks.filter((check) => check.passed).length
  return passed + (PATHLESS.includes(status) ? 0 : 0.5)
}
