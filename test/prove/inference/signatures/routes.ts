import type { SigningModel } from './models.ts'

/** The model of each step. */
export type ModelAt = (turn: number, step: number) => SigningModel

export interface Route {
  readonly name: string
  readonly at: ModelAt
}

/** From each model to each other one and back: between turns, and between a call and its result. */
export function routesAmong(models: readonly SigningModel[]): readonly Route[] {
  return models.flatMap((one) =>
    models
      .filter((other) => other !== one)
      .flatMap((other) => [
        {
          name: `${one.slug} and ${other.slug} by turns`,
          at: (turn: number) => (turn % 2 === 0 ? one : other),
        },
        {
          name: `${one.slug} and ${other.slug} by steps`,
          at: (turn: number, step: number) => ((turn + step) % 2 === 0 ? one : other),
        },
      ]),
  )
}
