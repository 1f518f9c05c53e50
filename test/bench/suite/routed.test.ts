import t from 'tap'
import { routed } from '../../../bench/suite/routed.ts'

t.test('with --target the names are loads of a deployment', async (t) => {
  const target = ['--target', 'https://a.example']
  t.same(routed(['embeddings', 'latency', ...target]), [
    'deployment',
    '--only',
    'embeddings,latency',
    ...target,
  ])
  t.same(routed(['--target=https://a.example']), ['deployment', '--target=https://a.example'])
  t.same(routed(['deployment', ...target]), ['deployment', ...target])
  t.same(routed(['uploads', '--repeats', '2']), ['uploads', '--repeats', '2'])
})

t.test('--sweep accepts its mix before and after its options', async (t) => {
  t.same(routed(['--sweep', '--fronts', '1,2', 'embeddings']), [
    'sweep',
    '--only',
    'embeddings',
    '--fronts',
    '1,2',
  ])
  t.same(routed(['mixed', '--sweep']), ['sweep', '--only', 'mixed'])
  t.same(routed(['--sweep', 'mixed']), ['sweep', '--only', 'mixed'])
})

t.test('names can be anywhere: between options, after a flag, and after a value joined by =', async (t) => {
  const [target, key] = ['--target=https://a.example', '--key=@k']
  t.same(routed([target, 'embeddings', key]), ['deployment', '--only', 'embeddings', target, key])
  const words = ['--target', 'https://a.example', 'latency', '--key', '@k']
  t.same(routed(words), ['deployment', '--only', 'latency', '--target', 'https://a.example', '--key', '@k'])
  t.same(routed([target, '--allow-writes', 'uploads', key]), [
    'deployment',
    '--only',
    'uploads',
    target,
    '--allow-writes',
    key,
  ])
  t.same(routed(['--fronts=1', 'embeddings', '--sweep', '--workers', '1']), [
    'sweep',
    '--only',
    'embeddings',
    '--fronts=1',
    '--workers',
    '1',
  ])
})

t.test('leaves a wrong option unchanged for the command that reads it next', async (t) => {
  t.same(routed(['--sweep', '--bogus', '-x', '--duration']), ['sweep', '--bogus', '-x', '--duration'])
})
