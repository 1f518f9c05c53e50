import { readFileSync } from 'node:fs'
import http from 'node:http'
import { spawn } from 'node:child_process'
const port = 18700 + Math.floor(Math.random() * 200)
if (process.argv[2] === 'server') {
  const cpu = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  process.argv[2] = 'governed'; const p = process.argv[3]
  await import('./htbench.mjs')
  let last = cpu(), worst = []
  setInterval(() => { const now = cpu(); worst.push(now - last); last = now }, 1)
  process.on('message', () => { worst.sort((a, b) => b - a); process.send(worst.slice(0, 8).map((x) => x.toFixed(1))); worst = [] })
} else {
  const { fork } = await import('node:child_process')
  const child = fork('./loopcpu.mjs', ['server', String(port), '957'], { silent: false })
  await new Promise((r) => setTimeout(r, 1500))
  const ask = () => new Promise((r) => { child.once('message', r); child.send('x') })
  const KEY = `sk-sluice-v1-${'i'.repeat(43)}`
  const send = (body) => new Promise((resolve, reject) => { const req = http.request({ port, host: '127.0.0.1', method: 'POST', path: '/api/v1/embeddings', headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'content-length': body.length } }, (res) => { res.resume(); res.on('end', () => resolve(res.statusCode)) }); req.on('error', reject); req.end(body) })
  await send(Buffer.from('{"model":"m","input":"x"}'))
  const text = Buffer.from(JSON.stringify({ model: 'm', input: 'lorem ipsum '.repeat(31 * 1024 * 1024 / 12 | 0) }))
  const tokens = Buffer.from(JSON.stringify({ model: 'm', input: Array.from({ length: 31 * 1024 * 1024 / 6 | 0 }, (_, i) => 10000 + i % 80000) }))
  const objects = Buffer.from(JSON.stringify({ model: 'm', input: [{ content: [{ type: 'image_url', image_url: { url: 'data:' + 'A'.repeat(31e6) } }] }] }))
  await ask()
  for (const [n, b] of [['text', text], ['tokens', tokens], ['objects', objects], ['text', text], ['tokens', tokens]]) { const s = await send(b); console.log(n, b.length, s, await ask()) }
  console.log('40MiB', await send(Buffer.alloc(40 * 1024 * 1024, 'x')), await ask())
  child.kill(); process.exit(0)
}
