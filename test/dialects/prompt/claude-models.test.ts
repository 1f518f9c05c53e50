import t from 'tap'
import { claudeModel } from '../../../src/schemas/models/openai-maker.ts'

t.test('the abilities of a model follow from its version, wherever its name contains the version', (t) => {
  const reported = (name: string): string => {
    const { hasAdaptive, hasBudget, hasSampling } = claudeModel(name)
    return [hasAdaptive && 'adaptive', hasBudget && 'budget', hasSampling && 'sampling']
      .filter(Boolean)
      .join(' ')
  }
  const old = [
    'claude-3-5-sonnet-20241022',
    'claude-opus-4-20250514',
    'claude-haiku-4-5-20251001',
    'claude-2.1',
  ]
  for (const name of [...old, 'kimi-k2', 'glm-5', '']) t.equal(reported(name), 'budget sampling', name)
  for (const name of ['claude-opus-4-6', 'anthropic/claude-sonnet-4.6', 'claude-mythos-preview'])
    t.equal(reported(name), 'adaptive budget sampling', name)
  for (const name of [
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-sonnet-5',
    'claude-haiku-5-5',
    'claude-fable-5',
  ])
    t.equal(reported(name), 'adaptive', name)
  t.end()
})
