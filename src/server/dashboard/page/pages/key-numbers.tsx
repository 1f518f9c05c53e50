import { h, type ComponentChild } from 'preact'
import type { UpdateKeyBody } from '../../../../schemas/keys/keys.ts'
import type { CallLimits } from '../../../../schemas/limits/model-calls.ts'
import type { DEFAULT_OUTPUT_TOKENS_MIN } from '../../../../schemas/limits/rate-limits.ts'
import { errorAbout, TextField, type TextFieldProps } from '../parts/fields.tsx'
import { count } from '../parts/figures.tsx'

const OPTIONAL = { min: 1, step: 1, hint: 'Optional. No limit if empty.' }

/** Numeric members of a key; an empty field means null. */
const NUMBERS = {
  limit: { ...OPTIONAL, label: 'Limit (USD)', min: 0, step: 'any' },
  rate_limit_rpm: { ...OPTIONAL, label: 'Requests per minute' },
  rate_limit_burst: { ...OPTIONAL, label: 'Burst', hint: 'Optional. Maximum number of requests at once.' },
  max_parallel: { ...OPTIONAL, label: 'Concurrent calls' },
  rate_limit_tpm: { ...OPTIONAL, label: 'Tokens per minute' },
  default_max_output_tokens: {
    ...OPTIONAL,
    label: 'Default max. output tokens',
    min: 16 satisfies typeof DEFAULT_OUTPUT_TOKENS_MIN,
    hint: "Optional. If empty, the endpoint's own limit applies.",
  },
} satisfies Partial<Record<keyof UpdateKeyBody, Partial<TextFieldProps>>>
type NumberName = keyof typeof NUMBERS

const NAMES = Object.keys(NUMBERS) as readonly NumberName[]

/** Names of the limits for calls to models, in the order of the form. */
const CALL_TEXTS: Readonly<Record<keyof CallLimits, string>> = {
  max_parallel: 'concurrent calls',
  rate_limit_tpm: 'tokens/min',
  default_max_output_tokens: 'output tokens by default',
}
export const CALL_NAMES = Object.keys(CALL_TEXTS) as readonly (keyof CallLimits)[]

/** The values of the fields, as text. */
export type Numbers = Readonly<Record<NumberName, string>>

export function numbersOf(key: Partial<Record<NumberName, number | null>> | null): Numbers {
  return mapped((name) => String(key?.[name] ?? ''))
}

export function numbersBody(input: Numbers): Record<NumberName, number | null> {
  return mapped((name) => (input[name] === '' ? null : Number(input[name])))
}

function mapped<T>(valueOf: (name: NumberName) => T): Record<NumberName, T> {
  return Object.fromEntries(NAMES.map((name) => [name, valueOf(name)])) as Record<NumberName, T>
}

export interface NumberFieldProps {
  readonly input: Numbers
  set(name: NumberName): (value: string) => void
  readonly problem: unknown
}

export function NumberField({
  name,
  input,
  set,
  problem,
  isDisabled = false,
}: NumberFieldProps & { readonly name: NumberName; readonly isDisabled?: boolean }): ComponentChild {
  return (
    <TextField
      {...NUMBERS[name]}
      type="number"
      value={input[name]}
      onInput={set(name)}
      error={errorAbout(problem, name)}
      isDisabled={isDisabled}
    />
  )
}

/** A line for each limit that is set. */
export function callLimitLines(limits: CallLimits): readonly string[] {
  return CALL_NAMES.flatMap((name) => {
    const value = limits[name]
    return value === null ? [] : [`${count(value)} ${CALL_TEXTS[name]}`]
  })
}
