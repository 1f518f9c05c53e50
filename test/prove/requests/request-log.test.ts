import { program } from './request-log.ts'
import { short } from '../short.ts'

await short('request-log', program)
