import { program } from './http-client.ts'
import { short } from '../short.ts'

await short('http-client', program)
