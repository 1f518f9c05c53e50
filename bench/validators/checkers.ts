/** The same shapes in four validators, each in its fastest form: compiled once, with a boolean result. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { BODIES } from '../../src/schemas/bodies.ts'
import { olderTypebox } from './older-typebox.ts'
import { VALIDATED, type ValidatedBody, type ValidatorSettings } from './settings.ts'

export type Check = (value: unknown) => boolean

/** The used part of ajv, which is no dependency of Sluice. */
type Ajv = new (options: object) => { compile(schema: object): Check }

interface Zod {
  fromJSONSchema(schema: object): { safeParse(value: unknown): { readonly success: boolean } }
}

export function checkersOf({ name, packages }: ValidatorSettings): ReadonlyMap<ValidatedBody, Check> {
  return new Map(VALIDATED.map((body) => [body, checkerOf(BODIES[body].schema, name, packages)]))
}

function checkerOf(schema: TSchema, name: ValidatorSettings['name'], packages: string): Check {
  const load = createRequire(join(packages, 'package.json'))
  switch (name) {
    case 'sluice': {
      const compiled = Compile<TSchema>(schema)
      return (value) => compiled.Check(value)
    }
    case 'typebox-0.34': {
      const compiled = TypeCompiler.Compile(olderTypebox(schema))
      return (value) => compiled.Check(value)
    }
    case 'ajv': {
      const { default: Ajv } = load('ajv') as { default: Ajv }
      return new Ajv({ strict: false }).compile(plain(schema))
    }
    case 'zod': {
      const compiled = (load('zod') as Zod).fromJSONSchema(plain(schema))
      return (value) => compiled.safeParse(value).success
    }
    default:
      return name satisfies never
  }
}

/** Plain JSON Schema without TypeBox's own marks. */
function plain(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema)) as object
}
