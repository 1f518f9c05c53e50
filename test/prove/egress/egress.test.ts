import { program } from './egress.ts'
import { short } from '../short.ts'

await short('egress', program)
