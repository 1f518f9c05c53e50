import uWS from 'uWebSockets.js'
const [mode, port] = process.argv.slice(2)
const ANSWER = Buffer.from(JSON.stringify({ data: 'x'.repeat(957) }))
uWS._cfg('silent')
const app = uWS.App()
let id = 0
app.any('/*', (res, req) => {
  let gone = false
  const m = req.getMethod(), u = req.getUrl()
  if (mode.includes('q')) req.getQuery()
  if (mode.includes('f')) { let n = 0; req.forEach((k, v) => { n += k.length + v.length }) }
  else if (mode.includes('g')) { req.getHeader('authorization'); req.getHeader('content-length'); req.getHeader('transfer-encoding'); req.getHeader('content-type'); req.getHeader('x-request-id') ; req.getHeader('origin') }
  res.onAborted(() => { gone = true })
  res.onData((chunk, last) => {
    setImmediate(() => { if (!gone) res.cork(() => { res.writeStatus('200 OK');
      const rid = 'abcdefghijkl' + (id++).toString(36).padStart(8, '0')
      if (mode.includes('3')) { res.writeHeader('content-type', 'application/json'); res.writeHeader('x-request-id', rid); res.writeHeader('server-timing', `auth;dur=0.123, limits;dur=0.001, total;dur=${id % 1000}`) }
      else if (mode.includes('1')) { res.writeHeader('content-type', `application/json\r\nx-request-id: ${rid}\r\nserver-timing: auth;dur=0.123, limits;dur=0.001, total;dur=${id % 1000}`) }
      else res.writeHeader('content-type', 'application/json')
      if (mode.includes('t')) res.tryEnd(ANSWER, ANSWER.length)
      else res.end(ANSWER) }) })
  })
})
app.listen('127.0.0.1', Number(port), () => console.log('up'))
process.on('SIGTERM', () => process.exit(0))
