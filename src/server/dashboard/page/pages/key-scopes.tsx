import { h, type ComponentChild } from 'preact'
import type { KeyScope } from '../../../../schemas/keys/permissions.ts'
import { CheckField } from '../parts/fields.tsx'

const SCOPES: readonly (readonly [KeyScope, string])[] = [
  ['inference', 'call models'],
  ['files:read', 'read files'],
  ['files:write', 'upload and delete files'],
  ['vault:use', 'egress and private endpoints'],
  ['vault:write', 'write secrets'],
  ['videos', 'make videos'],
  ['presets:write', 'no effect: only management keys write presets'],
]

export interface ScopeFieldsProps {
  /** Null: all. */
  readonly scopes: readonly KeyScope[] | null
  onChange(scopes: readonly KeyScope[] | null): void
}

/** What an inference key may do: everything, or what is checked. */
export function ScopeFields({ scopes, onChange }: ScopeFieldsProps): ComponentChild {
  const turn =
    (scope: KeyScope) =>
    (isOn: boolean): void =>
      onChange(
        SCOPES.flatMap(([one]) => ((one === scope ? isOn : scopes?.includes(one) === true) ? [one] : [])),
      )
  return (
    <fieldset>
      <legend>Scopes</legend>
      <CheckField label="All" isOn={scopes === null} onChange={(isOn) => onChange(isOn ? null : [])} />
      {scopes !== null &&
        SCOPES.map(([scope, meaning]) => (
          <CheckField
            key={scope}
            label={`${scope}: ${meaning}`}
            isOn={scopes.includes(scope)}
            onChange={turn(scope)}
          />
        ))}
    </fieldset>
  )
}
