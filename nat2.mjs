import uWS from 'uWebSockets.js'
const [mode, port, size] = process.argv.slice(2)
const ANSWER = Buffer.alloc(Number(size), 'x'), A = Buffer.alloc(60, 'a'), Z = Buffer.alloc(150, 'z')
const S = Buffer.alloc(262144)
const total = ANSWER.length + A.length + Z.length
uWS._cfg('silent')
const app = uWS.App()
app.any('/*', (res, req) => {
  let gone = false
  res.onAborted(() => { gone = true })
  res.onData((chunk, last) => {
    setImmediate(() => { if (!gone) res.cork(() => { res.writeStatus('200 OK'); res.writeHeader('content-type', 'application/json');
      if (mode === 'try3') { res.tryEnd(A, total); res.tryEnd(ANSWER, total); res.tryEnd(Z, total) }
      else if (mode === 'concat') res.end(Buffer.concat([A, ANSWER, Z], total))
      else if (mode === 'scratch') { A.copy(S, 0); ANSWER.copy(S, A.length); Z.copy(S, A.length + ANSWER.length); res.end(S.subarray(0, total)) }
      else if (mode === 'set') { S.set(A, 0); S.set(ANSWER, A.length); S.set(Z, A.length + ANSWER.length); res.end(S.subarray(0, total)) }
      else if (mode === 'latin') res.end(A.latin1Slice() + ANSWER.latin1Slice() + Z.latin1Slice())
      else res.end(ANSWER) }) })
  })
})
app.listen('127.0.0.1', Number(port), () => console.log('up'))
process.on('SIGTERM', () => process.exit(0))
